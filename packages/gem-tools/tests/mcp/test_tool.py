from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_support import HttpServer, Question, alive, ask, servers_of, wait_for, write

from gem.errors import GemError, MissingDependency, StateNotSupported
from gem.tools import ToolContext, ToolEnv, load_tool
from gem_tools.mcp import ConfigError, MCPTool

Make = Callable[..., MCPTool]
Plain = Callable[..., dict[str, Any]]


# -- what an agent sees -----------------------------------------------------------------------------------


def test_functions_are_those_of_the_server_all_pages(make: Make, plain: Plain) -> None:
    tool = make(plain())
    functions = {function["name"]: function for function in tool.functions()}
    assert len(functions) == 21
    assert functions["add"] == {
        "name": "add",
        "description": "Add two integers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
    assert tool.get_available_tools() == tool.functions()


def test_several_servers_have_prefixes_and_changes(make: Make, plain: Plain, http: Callable[..., HttpServer]) -> None:
    changes = {"add": {"name": "plus", "description": "Sum."}, "die": {"enabled": False}}
    tool = make({"mcpServers": {"one": plain(tools=changes), "two": {"url": http().url}}})
    functions = {function["name"]: function for function in tool.functions()}
    assert {"plus", "one_pid", "two_add", "two_die"} <= functions.keys()
    assert functions["plus"]["description"] == "Sum."
    assert not {"one_add", "one_die"} & functions.keys()
    assert ask(tool, "plus", a=1, b=2).content == "3"
    assert ask(tool, "two_add", a=3, b=4).content == "7"
    unknown = ask(tool, "one_add", a=1, b=2)
    assert unknown.is_error
    assert "plus" in unknown.content


def test_two_tools_of_one_name(make: Make, plain: Plain) -> None:
    tool = make({"mcpServers": {"a": plain(tools={"add": {"name": "b_pid"}}), "b": plain()}})
    with pytest.raises(GemError, match="two MCP tools are called 'b_pid'"):
        tool.functions()


def test_a_change_to_a_tool_that_is_not_there(make: Make, plain: Plain) -> None:
    with pytest.raises(ConfigError, match="has no tool 'ad'; there are add"):
        make(plain(tools={"ad": {"enabled": False}})).functions()


def test_a_server_without_tools(make: Make, plain: Plain) -> None:
    with pytest.raises(GemError, match="'default' offer none"):
        make(plain("no-tools")).functions()


# -- in an environment ------------------------------------------------------------------------------------


def test_by_name_in_an_environment(plain: Plain) -> None:
    env = ToolEnv(Question(), [load_tool("mcp", config=plain())])
    try:
        observation, _ = env.reset(seed=0)
        assert '"name": "append"' in observation
        observation, _, terminated, _, info = env.step(write("add", '{"a": 1, "b": 2}'))
        assert observation == "<tool_response>\n3\n</tool_response>"
        assert not terminated
        assert (info["tool_type"], info["metrics"]["tool/mcp/uses"]) == ("mcp", 1.0)
    finally:
        env.close()


def test_the_wrapper_and_the_variable(monkeypatch: pytest.MonkeyPatch, http: Callable[..., HttpServer]) -> None:
    monkeypatch.setenv("GEM_MCP", http().url)
    from gem_tools.mcp.wrappers import mcp_tool

    env = mcp_tool(Question(), max_tool_uses=1)
    try:
        assert '"name": "count"' in env.reset(seed=0)[0]
        assert "used all your tool calls" in env.step(write("count"))[0]
    finally:
        env.close()
    monkeypatch.delenv("GEM_MCP")
    with pytest.raises(ConfigError, match="GEM_MCP"):
        MCPTool()


def test_one_session_an_episode(plain: Plain) -> None:
    env = ToolEnv(Question(), [MCPTool(plain())])
    try:
        episodes = []
        for _ in range(2):
            env.reset(seed=0)
            episodes.append([env.step(write("pid"))[0] for _ in range(2)] + [env.step(write("count"))[0]])
            env.step("done")
        for first, second, counted in episodes:
            assert first == second
            assert "\n1\n" in counted  # and its state began with the episode
        assert episodes[0][0] != episodes[1][0]
        assert wait_for(lambda: not servers_of(os.getpid())), "the ended episode keeps its server"
        env.reset(seed=0)
        assert not servers_of(os.getpid()), "a server was opened before it was called"
    finally:
        env.close()


def test_an_abandoned_episode_ends_its_server(plain: Plain) -> None:
    env = ToolEnv(Question(), [MCPTool(plain())])
    try:
        env.reset(seed=0)
        before = env.step(write("pid"))[0]
        env.reset(seed=0)
        assert env.step(write("pid"))[0] != before
    finally:
        env.close()


def test_calls_inside_thinking_are_not_carried_out(plain: Plain, tmp_path: Path) -> None:
    env = ToolEnv(Question(), [MCPTool(plain())])
    try:
        env.reset(seed=0)
        call = write("append", f'{{"path": "{tmp_path / "x"}", "seconds": 0}}')
        observation, reward, terminated, _, info = env.step(f"<think>maybe {call} no</think> \\boxed{{5}}")
        assert observation.startswith("end: <think>")
        assert (reward, terminated, info["use_tool"]) == (1.0, True, False)
        assert not (tmp_path / "x").exists()
    finally:
        env.close()


# -- threads and loops ------------------------------------------------------------------------------------


def test_three_threads_share_a_tool(make: Make, plain: Plain) -> None:
    tool = make(plain())
    answers: dict[int, str] = {}
    for _ in range(2):  # the server is opened for the list of its tools first, and then for a call
        tool.begin_episode()
        answers.clear()
        threads = [
            threading.Thread(target=lambda i=i: answers.update({i: ask(tool, "add", a=i, b=1).content}))
            for i in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert answers == {0: "1", 1: "2", 2: "3"}
        assert len(servers_of(os.getpid())) == 1


def test_a_slow_call_holds_no_other_up(make: Make, plain: Plain, tmp_path: Path) -> None:
    tool = make(plain())
    tool.functions()
    slow = threading.Thread(target=ask, args=(tool, "append"), kwargs={"path": str(tmp_path / "x"), "seconds": 60})
    slow.start()
    assert wait_for((tmp_path / "x").exists)
    assert ask(tool, "add", a=1, b=1).content == "2"
    assert slow.is_alive()
    tool.close()
    slow.join(20)
    assert not slow.is_alive()


def test_inside_a_running_event_loop(make: Make, plain: Plain) -> None:
    tool = make(plain())

    async def agent() -> list[str]:
        return [ask(tool, "add", a=i, b=1).content for i in range(2)]

    assert asyncio.run(agent()) == ["1", "2"]
    assert asyncio.run(agent()) == ["1", "2"]  # the loop of the first call is gone; the session is not


# -- limits -----------------------------------------------------------------------------------------------


def test_a_call_that_overruns_is_not_repeated(make: Make, plain: Plain, tmp_path: Path) -> None:
    tool = make(plain(), execution_timeout=2.0)
    tool.functions()
    path = tmp_path / "x"
    began = time.monotonic()
    result = ask(tool, "append", path=str(path), seconds=30)
    assert time.monotonic() - began < 10
    assert result.is_error
    assert "did not answer within 2 s; its outcome is unknown" in result.content
    time.sleep(0.5)
    assert path.read_text() == "x"
    assert ask(tool, "add", a=1, b=2).content == "3"  # the server still answers: same session, no note


def test_the_limit_of_the_environment_counts_too(make: Make, plain: Plain, tmp_path: Path) -> None:
    tool = make(plain())
    tool.functions()
    result = ask(tool, "append", timeout=0.3, path=str(tmp_path / "x"), seconds=30)
    assert "within 0.3 s; its outcome is unknown" in result.content


def test_a_server_that_freezes_is_replaced(make: Make, plain: Plain) -> None:
    tool = make(plain("stubborn"))
    first = ask(tool, "pid").content
    assert "outcome is unknown" in ask(tool, "freeze", timeout=0.5).content
    again = ask(tool, "pid", timeout=20)
    assert again.content.startswith(
        "[MCP server 'default' was started afresh; what it held from earlier calls is lost]\n"
    )
    assert again.content.splitlines()[1] != first
    assert not alive(int(first))
    assert ask(tool, "pid").content == again.content.splitlines()[1]  # said once
    os.kill(int(again.content.splitlines()[1]), signal.SIGKILL)  # it would take its time


def test_a_server_that_never_greets(make: Make, plain: Plain) -> None:
    began = time.monotonic()
    with pytest.raises(GemError, match=r"did not come up within 0\.5 s"):
        make(plain("mute"), connect_timeout=0.5).functions()
    assert time.monotonic() - began < 10


def test_a_server_that_refuses(make: Make, plain: Plain) -> None:
    with pytest.raises(GemError, match="no room left"):
        make(plain("refuse"), max_retries=2, delay_between_retries=0.01).functions()


def test_a_server_that_ends_at_once_is_tried_again_and_told(make: Make, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    code = f"open({str(runs)!r}, 'a').write('x'); import sys; sys.exit('cannot find my database')"
    tool = make({"command": sys.executable, "args": ["-I", "-S", "-c", code]}, delay_between_retries=0.01)
    with pytest.raises(GemError, match="exit code 1: cannot find my database"):
        tool.functions()
    assert runs.read_text() == "xxx"


def test_what_a_server_prints_beside_messages_is_passed_over(make: Make, plain: Plain) -> None:
    assert ask(make(plain("chatty")), "add", a=1, b=2).content == "3"


def test_bad_numbers(plain: Plain) -> None:
    with pytest.raises(ValueError, match="execution_timeout must be above 0, got 0"):
        MCPTool(plain(), execution_timeout=0)


# -- servers that die -------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["die", "close_output"])
def test_a_server_that_dies_during_a_call(make: Make, plain: Plain, how: str) -> None:
    tool = make(plain())
    before = ask(tool, "pid").content
    result = ask(tool, how, timeout=20)
    assert result.is_error
    assert "failed during the call" in result.content
    assert "outcome of the call is unknown" in result.content
    if how == "die":
        assert "exit code 3: last words" in result.content
    after = ask(tool, "pid").content
    assert "what it held from earlier calls is lost" in after
    assert after.splitlines()[1] != before


def test_a_server_whose_child_keeps_the_pipes_open(make: Make, plain: Plain, tmp_path: Path) -> None:
    tool = make(plain())
    result = ask(tool, "die_with_child", timeout=20, path=str(tmp_path / "pid"))
    assert "exit code 4" in result.content
    child = int((tmp_path / "pid").read_text())
    assert wait_for(lambda: not alive(child)), "the child of the server was left running"


def test_a_server_that_died_between_calls(make: Make, plain: Plain) -> None:
    tool = make(plain())
    first = int(ask(tool, "pid").content)
    os.kill(first, 9)
    assert wait_for(lambda: not alive(first))
    after = ask(tool, "add", a=1, b=2)
    assert not after.is_error
    assert after.content.endswith("is lost]\n3")


def test_only_what_says_it_may_is_repeated(make: Make, plain: Plain, tmp_path: Path) -> None:
    tool = make(plain())
    assert ask(tool, "die_once", path=str(tmp_path / "x")).content.endswith("survived")
    assert (tmp_path / "x").read_text() == "xx"
    careful = make(plain(), max_retries=1)
    assert ask(careful, "die_once", path=str(tmp_path / "y")).is_error
    assert (tmp_path / "y").read_text() == "x"


def test_an_episode_after_a_death_is_clean(plain: Plain) -> None:
    env = ToolEnv(Question(), [MCPTool(plain())])
    try:
        env.reset(seed=0)
        observation, _, terminated, _, info = env.step(write("die"))
        assert "failed during the call" in observation
        assert not terminated
        assert info["tool_calls"][0]["is_error"]
        env.reset(seed=0)
        assert env.step(write("count"))[0] == "<tool_response>\n1\n</tool_response>"  # no note of an old loss
    finally:
        env.close()


def test_an_error_of_the_server_ends_no_session(make: Make, plain: Plain) -> None:
    tool = make(plain())
    before = ask(tool, "pid").content
    result = ask(tool, "busy")
    assert (result.content, result.is_error) == ("Error: busy, try later", True)
    assert ask(tool, "pid").content == before


def test_an_answer_that_is_no_result(make: Make, plain: Plain) -> None:
    tool = make(plain())
    result = ask(tool, "invalid")
    assert result.is_error
    assert "what is no result" in result.content
    assert ask(tool, "add", a=1, b=2).content == "3"


# -- HTTP -------------------------------------------------------------------------------------------------


def test_http_sessions_are_those_of_episodes(http: Callable[..., HttpServer]) -> None:
    env = ToolEnv(Question(), [MCPTool(http().url)])
    try:
        for _ in range(2):
            env.reset(seed=0)
            assert [env.step(write("count"))[0].split("\n")[1] for _ in range(2)] == ["1", "2"]
            env.step("done")
    finally:
        env.close()


def test_http_token_and_headers(make: Make, http: Callable[..., HttpServer]) -> None:
    server = http(token="s3cret")
    tool = make(server.url, auth="s3cret", headers={"X-Who": "gem"})
    assert ask(tool, "header").content == "gem"
    began = time.monotonic()
    with pytest.raises(GemError, match="HTTP status 401"):
        make(
            server.url, auth="wrong", connect_timeout=600.0, delay_between_retries=300.0
        ).functions()  # not worth another attempt
    assert time.monotonic() - began < 15


def test_an_http_server_that_dies_during_a_call(make: Make, http: Callable[..., HttpServer]) -> None:
    server = http()
    tool = make(server.url, delay_between_retries=0.05)
    assert ask(tool, "count").content == "1"
    result = ask(tool, "die", timeout=20)
    assert result.is_error
    assert "outcome of the call is unknown" in result.content
    gone = ask(tool, "count", timeout=20)
    assert gone.is_error
    assert "not carried out" in gone.content
    http(port=server.port)
    back = ask(tool, "count", timeout=20)
    assert back.content == "[MCP server 'default' was started afresh; what it held from earlier calls is lost]\n1"


def test_an_http_server_restarted_between_calls(make: Make, http: Callable[..., HttpServer]) -> None:
    server = http()
    tool = make(server.url, delay_between_retries=0.05)
    ask(tool, "count")
    server.stop()
    http(port=server.port)
    assert ask(tool, "count").content.endswith("is lost]\n1")


def test_an_http_call_that_overruns(make: Make, http: Callable[..., HttpServer]) -> None:
    tool = make(http().url)
    tool.functions()
    assert "outcome is unknown" in ask(tool, "wait", timeout=0.5).content
    assert ask(tool, "add", timeout=20, a=1, b=1).content == "2"


def test_nobody_at_the_address(make: Make) -> None:
    tool = make("http://127.0.0.1:9/mcp", max_retries=2, delay_between_retries=0.01)
    with pytest.raises(GemError, match="could not be opened"):
        tool.functions()


# -- handlers ---------------------------------------------------------------------------------------------


def test_handlers_hear_and_answer(make: Make, plain: Plain) -> None:
    logs, progress = [], []
    heard = threading.Event()

    def on_progress(*what: Any) -> None:
        progress.append(what)
        heard.set()

    def answer(messages: list[Any], params: Any, context: Any) -> str:
        return f"because {messages[0].content.text}"

    tool = make(plain(), log_handler=logs.append, progress_handler=on_progress, sampling_handler=answer)
    assert ask(tool, "log").content == "done"
    assert heard.wait(10)
    assert wait_for(lambda: logs)
    assert (logs[0].data, progress) == ("working", [(1.0, 2.0, "half")])
    assert '"because why?"' in ask(tool, "ask").content


def test_the_trainers_environment_is_not_the_servers(make: Make, plain: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cret")
    tool = make(plain(env={"OWN": "mine"}))
    assert ask(tool, "environment", variable="API_TOKEN").content == "(unset)"
    assert ask(tool, "environment", variable="OWN").content == "mine"


# -- copies, snapshots, ends ------------------------------------------------------------------------------


def test_copies_have_sessions_of_their_own(make: Make, plain: Plain) -> None:
    tool = make(plain())
    pids = {ask(tool, "pid").content}
    for other in (pickle.loads(pickle.dumps(tool)), copy.deepcopy(tool), tool.spawn()):
        pids.add(ask(other, "pid").content)
        other.close()
    assert len(pids) == 4


def test_a_session_cannot_be_saved_once_it_is_used(make: Make, plain: Plain) -> None:
    tool = make(plain())
    tool.functions()
    state = tool.get_state()
    first = ask(tool, "pid").content
    with pytest.raises(StateNotSupported):
        tool.get_state()
    tool.set_state(state)
    assert ask(tool, "pid").content != first


def test_close_twice_and_use_again(make: Make, plain: Plain) -> None:
    tool = make(plain())
    pid = int(ask(tool, "pid").content)
    tool.close()
    assert not alive(pid)
    tool.close()
    assert ask(tool, "add", a=1, b=2).content == "3"


def test_close_during_a_call(make: Make, plain: Plain, tmp_path: Path) -> None:
    tool = make(plain())
    results = []
    path = tmp_path / "x"
    thread = threading.Thread(target=lambda: results.append(ask(tool, "append", path=str(path), seconds=60)))
    thread.start()
    assert wait_for(path.exists)
    tool.close()
    thread.join(20)
    assert results[0].is_error
    assert "outcome of the call is unknown" in results[0].content


def test_close_while_opening(make: Make, plain: Plain) -> None:
    tool = make(plain("mute"))
    errors = []

    def list_them() -> None:
        try:
            tool.functions()
        except GemError as error:
            errors.append(str(error))

    thread = threading.Thread(target=list_them)
    thread.start()
    assert wait_for(lambda: servers_of(os.getpid()))
    tool.close()
    thread.join(20)
    assert errors


def test_a_tool_nobody_closed_is_closed(plain: Plain) -> None:
    tool = MCPTool(plain())
    pid = int(ask(tool, "pid").content)
    del tool
    gc.collect()
    assert wait_for(lambda: not alive(pid))


def test_a_forked_child_opens_its_own(make: Make, plain: Plain, tmp_path: Path) -> None:
    tool = make(plain())
    mine = ask(tool, "pid").content
    child = os.fork()
    if child == 0:
        try:
            (tmp_path / "childs").write_text(ask(tool, "pid", timeout=30).content)
            tool.close()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    theirs = (tmp_path / "childs").read_text()
    assert theirs.isdigit()
    assert theirs != mine
    assert ask(tool, "pid").content == mine


def test_many_episodes_leave_nothing(plain: Plain) -> None:
    env = ToolEnv(Question(), [MCPTool(plain())])

    def episode() -> None:
        env.reset(seed=0)
        env.step(write("add", '{"a": 1, "b": 2}'))
        env.step("done")

    def state() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    try:
        episode()
        assert wait_for(lambda: not servers_of(os.getpid()))
        before = state()
        for _ in range(10):
            episode()
        # fewer, where something of the first one was still ending
        assert wait_for(lambda: all(a <= b for a, b in zip(state(), before, strict=True))), f"{before} -> {state()}"
    finally:
        env.close()


# -- the library ------------------------------------------------------------------------------------------


def test_import_is_light() -> None:
    code = (
        "import sys, gem_tools.mcp; gem_tools.mcp.MCPTool({'command': 'x'}); "
        "heavy = {'mcp', 'pydantic', 'httpx2', 'anyio'} & sys.modules.keys(); sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, plain: Plain) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'gem-tools\[mcp\]'"):
        MCPTool(plain())


def test_published_ways_to_make_one(plain: Plain, tmp_path: Path, http: Callable[..., HttpServer]) -> None:
    import json

    path = tmp_path / "c.json"
    path.write_text(json.dumps({"mcpServers": {"a": plain()}}))
    url = http().url
    for tool in (
        MCPTool.from_config_file(str(path), validate_on_init=True),
        MCPTool.from_local_command(plain()),
        MCPTool.from_url(url, execution_timeout=5.0),
    ):
        try:
            assert tool.call({"a": 1, "b": 2}, ToolContext("add")).content == "3"
        finally:
            tool.close()
    both = MCPTool.from_multi_server({"x": url, "y": url})
    try:
        assert ask(both, "y_add", a=1, b=2).content == "3"
    finally:
        both.close()


def test_a_call_outside_an_episode_leaves_nothing_in_the_next(make: Make, plain: Plain) -> None:
    tool = make(plain())
    before = ask(tool, "pid").content
    tool.begin_episode()
    assert ask(tool, "pid").content != before


def test_the_server_of_one_episode_is_gone_when_the_next_begins(make: Make, plain: Plain) -> None:
    tool = make(plain("stubborn"))
    before = int(ask(tool, "pid").content)
    tool.end_episode()
    tool.begin_episode()
    after = int(ask(tool, "pid").content)
    assert not alive(before)
    os.kill(after, signal.SIGKILL)  # it would take its time


def test_a_server_sees_its_input_close_though_a_fork_lives_on(make: Make, plain: Plain, tmp_path: Path) -> None:
    farewell = tmp_path / "farewell"
    tool = make(plain(env={"FAREWELL": str(farewell)}))
    ask(tool, "pid")
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    try:
        tool.close()
        assert farewell.exists()
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_a_waiting_call_keeps_its_own_limit(make: Make, plain: Plain) -> None:
    """While another opens the server, and takes its time."""
    tool = make(plain())
    sibling = make(plain("mute"), connect_timeout=20.0, max_retries=1)
    sibling._functions, sibling._routes = tool.functions(), tool._routes
    opener = threading.Thread(target=ask, args=(sibling, "pid"))
    opener.start()
    assert wait_for(lambda: len(servers_of(os.getpid())) == 2)
    result = ask(sibling, "pid", timeout=0.3)
    assert "not carried out" in result.content
    assert opener.is_alive()
    sibling.close()
    opener.join(20)


def test_an_http_server_that_freezes(make: Make, http: Callable[..., HttpServer]) -> None:
    server = http()
    tool = make(server.url)
    ask(tool, "count")
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        assert "outcome is unknown" in ask(tool, "count", timeout=0.5).content
        assert "not carried out" in ask(tool, "count", timeout=1.5).content
        tool.close()
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    assert ask(tool, "add", timeout=20, a=1, b=2).content == "3"


def test_what_was_sent_is_not_repeated_because_another_call_was_not(
    make: Make, http: Callable[..., HttpServer], tmp_path: Path
) -> None:
    """The server takes one call and dies in it, while others can no longer reach it."""
    server = http()
    tool = make(server.url, delay_between_retries=0.05)
    tool.functions()
    path = tmp_path / "x"
    results = []
    first = threading.Thread(target=lambda: results.append(ask(tool, "append", path=str(path), timeout=20)))
    first.start()
    assert wait_for(path.exists)
    server.stop()
    others = [threading.Thread(target=ask, args=(tool, "count", 5.0)) for _ in range(3)]
    for thread in others:
        thread.start()
    http(port=server.port)
    for thread in [first, *others]:
        thread.join(30)
    assert "outcome of the call is unknown" in results[0].content
    assert path.read_text() == "x"
