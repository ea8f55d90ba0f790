"""ToolEnv: who gets a response, what it earns, what the agent reads, and that no tool ends an episode."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import gem
from gem.testing import check_env
from gem.tools import Tool, ToolCall, ToolContext, ToolEnv, ToolResult, tool
from gem.tools.parsers import tagged

from .toy_sum import Python, Sum, add


class Search(Tool):
    name = "search"
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}

    def instructions(self) -> str:
        return "Write <search>query</search>."

    def parse(self, response: str) -> list[ToolCall]:
        return tagged(response, "search", self.name, "query")

    def call(self, arguments: dict[str, Any], context: ToolContext) -> str:
        return f"documents on {arguments['query']}"

    def render(self, result: ToolResult) -> Any:
        return f"<information>{result.content}</information>"


@tool
def configure(o: dict, s: str = "") -> str:  # type: ignore[type-arg]
    """Says what it was given."""
    return f"{type(o).__name__} {o!r} {type(s).__name__} {s!r}"


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def started(*tools: Any, **options: Any) -> ToolEnv:
    env = ToolEnv(Sum(), list(tools), **options)
    env.reset(seed=1)
    return env


# -- who gets the response -----------------------------------------------------------------------------------


def test_a_call_goes_to_the_tool_and_an_answer_to_the_environment() -> None:
    env = started(add)
    observation, reward, terminated, truncated, info = env.step("I add. " + call("add", a=1, b=2) + " tail")
    assert observation == "<tool_response>\n3\n</tool_response>"
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert env.received == []
    assert info["use_tool"] is True
    assert info["tool_type"] == "add"
    assert info["parsed_action"] == "I add. " + call("add", a=1, b=2)
    assert info["tool_calls"] == [{"name": "add", "arguments": {"a": 1, "b": 2}, "status": "ok", "is_error": False}]
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (1, 1)
    answer = f"\\boxed{{{sum(env.numbers)}}}"
    observation, reward, terminated, truncated, info = env.step(answer)
    assert (observation, reward, terminated, truncated) == ("done", 1.0, True, False)
    assert env.received == [answer]
    assert info["success"] is True
    assert info["use_tool"] is False
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (1, 1)


def test_calls_come_before_an_answer_in_the_same_response() -> None:
    env = started(add)
    _, _, terminated, _, info = env.step("\\boxed{3} " + call("add", a=1, b=2))
    assert not terminated
    assert info["tool_use_counter"] == 1
    assert env.received == []


def test_several_calls_run_in_order() -> None:
    env = started(Python, Search, add)
    response = f"<search>b</search>\n```python\n1+1\n```\n{call('add', a=1, b=2)} <search>a</search>"
    observation, _, _, _, info = env.step(response)
    assert observation == (
        "<information>documents on b</information>\n<tool_response>\n2\n</tool_response>\n"
        "<tool_response>\n3\n</tool_response>\n<information>documents on a</information>"
    )
    assert [c["name"] for c in info["tool_calls"]] == ["search", "python", "add", "search"]
    assert info["tool_use_counter"] == 4
    assert info["parsed_action"] == response


def test_one_block_may_hold_several_calls() -> None:
    env = started(add)
    calls = [{"name": "add", "arguments": {"a": 1, "b": n}} for n in (1, 2)]
    observation, *_ = env.step(f"<tool_call>{json.dumps(calls)}</tool_call>")
    assert observation.count("<tool_response>") == 2


def test_a_call_inside_another_is_part_of_it() -> None:
    env = started(Python, Search)
    _, _, _, _, info = env.step("```python\nlen('<search>x</search>')\n```")
    assert [c["name"] for c in info["tool_calls"]] == ["python"]
    observation, _, _, _, info = env.step(call("python", code="len('</tool_call><search>x</search>')"))
    assert [c["name"] for c in info["tool_calls"]] == ["python"]
    assert "30" in observation


@pytest.mark.parametrize(
    "thought",
    [
        "<think>maybe ```python\nprint(1)\n``` no</think>",
        "<think>maybe " + call("add", a=1, b=2) + "</think>",
        "maybe <search>x</search> no</think>",
        "<think>I wonder <tool_call>\n</think>",
    ],
)
def test_nothing_is_carried_out_from_thinking(thought: str) -> None:
    env = started(Python, Search, add)
    response = thought + " \\boxed{5}"
    _, _, terminated, _, info = env.step(response)
    assert terminated
    assert env.received == [response]
    assert info["tool_use_counter"] == 0


def test_nothing_is_carried_out_from_unfinished_thinking_and_the_switch() -> None:
    response = "<think>let me see " + call("add", a=1, b=2)
    env = started(add)
    assert env.step(response)[0] == "no answer"
    env = started(add, parse_think=True)
    assert env.step(response)[4]["tool_use_counter"] == 1


def test_calls_after_thinking_stand_where_they_stand() -> None:
    env = started(add)
    response = "<think>" + call("add", a=5, b=5) + "</think>" + call("add", a=1, b=2) + "!"
    observation, _, _, _, info = env.step(response)
    assert "3" in observation
    assert info["parsed_action"] == response[:-1]


# -- errors --------------------------------------------------------------------------------------------------


def test_the_error_of_a_first_tool_is_kept_where_there_is_a_second() -> None:
    env = started(Python, Search)
    observation, _, terminated, truncated, info = env.step("```python\n1/0\n```")
    assert "ZeroDivisionError: division by zero" in observation
    assert not terminated
    assert not truncated
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (1, 0)
    assert info["tool_calls"][0]["is_error"] is True


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("<tool_call><tool_name>add</tool_name><arguments>{a:1}</arguments></tool_call>", "not valid JSON"),
        ('<tool_call>{"name": "add", "arguments": {"a": 1, "b": }}</tool_call>', "not valid JSON"),
        ('<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool>', "closed by </tool>; close it with"),
        ('<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}', "is not closed"),
        (call("add", a=1), "add: argument 'b' is missing"),
        (call("add", a=1, b="2"), "argument 'b' must be an integer, got a string"),
        (call("add", a=1, b=2, c=3), "argument 'c' is unknown"),
        (call("ad", a=1, b=2), "there is no tool 'ad'; did you mean add?"),
        (call("zzz"), "there is no tool 'zzz'; there are python, search, add"),
        ("<search>x</serach>", "closed by </serach>; close it with </search>"),
        ("<search></search>", "is empty"),
    ],
)
def test_what_cannot_be_carried_out_is_said_to_the_agent(response: str, said: str) -> None:
    env = started(Python, Search, add, tool_reward=1.0, tool_success_reward=1.0, tool_execute_error_reward=-0.5)
    observation, reward, terminated, truncated, info = env.step(response)
    assert said in observation
    assert "Error: " in observation
    assert "\n" not in said
    assert (reward, terminated, truncated) == (-0.5, False, False)
    assert env.received == []
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (1, 0)
    assert "\n3\n" not in observation


def test_text_that_says_json_is_parsed_where_the_schema_wants_an_object_only() -> None:
    env = started(configure)
    text = '{"x":1}'
    observation, *_ = env.step(
        "<tool_call><tool_name>configure</tool_name>"
        f"<arguments>{json.dumps({'o': text, 's': text})}</arguments></tool_call>"
    )
    assert "dict {'x': 1} str '{\"x\":1}'" in observation


@pytest.mark.parametrize(
    "error", [ValueError("no"), RuntimeError(), SystemExit(3), RecursionError("deep"), MemoryError()]
)
@pytest.mark.parametrize("timeout", [None, 30.0])
def test_no_tool_ends_the_episode(error: BaseException, timeout: float | None) -> None:
    @tool
    def fail() -> None:
        raise error

    env = started(fail, call_timeout=timeout)
    observation, _, terminated, truncated, info = env.step(call("fail"))
    assert type(error).__name__ in observation
    assert not terminated
    assert not truncated
    assert info["tool_success_counter"] == 0
    assert env.step("\\boxed{1}")[2]


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_an_interrupt_passes(timeout: float | None) -> None:
    @tool
    def fail() -> None:
        raise KeyboardInterrupt

    env = started(fail, call_timeout=timeout)
    with pytest.raises(KeyboardInterrupt):
        env.step(call("fail"))


# -- limits --------------------------------------------------------------------------------------------------


def test_after_the_last_use_everything_goes_to_the_environment() -> None:
    env = started(add, max_tool_uses=2)
    one = call("add", a=1, b=2)
    assert "final answer" not in env.step(one)[0]
    assert env.step(one)[0].endswith("You have used all your tool calls: give your final answer now.")
    assert env.step(one)[0] == "no answer"
    assert env.tool_use_counter == 2


def test_calls_of_one_response_beyond_the_limit_are_refused_and_not_counted() -> None:
    env = started(add, max_tool_uses=1, tool_success_reward=1.0)
    observation, reward, _, _, info = env.step(call("add", a=1, b=2) + call("add", a=3, b=4))
    assert "\n3\n" in observation
    assert "7" not in observation
    assert "not carried out: no tool calls are left" in observation
    assert reward == 1.0
    assert info["tool_use_counter"] == 1


def test_unreadable_calls_use_up_the_limit_too() -> None:
    env = started(add, max_tool_uses=3)
    for _ in range(3):
        env.step("<tool_call>{</tool_call>")
    assert env.step("<tool_call>{</tool_call>")[0] == "no answer"


def test_no_limit() -> None:
    env = started(add, max_tool_uses=None)
    for _ in range(50):
        assert env.step(call("add", a=1, b=2))[4]["use_tool"]


def test_a_call_that_hangs_is_given_up() -> None:
    release = threading.Event()

    @tool
    def hang() -> str:
        release.wait(60)
        return "late"

    env = started(hang, call_timeout=0.1)
    began = time.monotonic()
    observation, _, terminated, _, info = env.step(call("hang"))
    assert time.monotonic() - began < 30
    assert "did not answer within 0.1 s; its outcome is unknown" in observation
    assert not terminated
    assert info["tool_success_counter"] == 0
    release.set()


def test_a_tools_own_timeout_error_is_its_own() -> None:
    @tool
    def fail() -> None:
        raise TimeoutError("the server is slow")

    assert "TimeoutError: the server is slow" in started(fail, call_timeout=10).step(call("fail"))[0]


def test_an_error_without_words_is_told_by_its_name() -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    @tool
    def fail() -> None:
        raise Unspeakable

    observation, _, terminated, _, _ = started(fail).step(call("fail"))
    assert "Unspeakable: (its message cannot be shown)" in observation
    assert not terminated


def test_time_of_an_episode_is_limited() -> None:
    @tool
    def slow() -> str:
        time.sleep(0.03)
        return "ok"

    env = started(slow, max_tool_seconds=0.05, max_tool_uses=None)
    uses = 0
    while env.step(call("slow"))[4]["use_tool"]:
        uses += 1
        assert uses < 10
    env.reset()
    assert env.step(call("slow"))[4]["use_tool"]


def test_the_time_left_is_told_to_the_tool() -> None:
    seen: list[float | None] = []

    @tool
    def look(context: ToolContext) -> str:
        seen.append(context.timeout)
        assert context.env is not None
        return context.raw

    assert call("look") in started(look).step(call("look"))[0]
    started(look, call_timeout=5).step(call("look"))
    started(look, call_timeout=5, max_tool_seconds=2).step(call("look"))
    assert seen == [None, 5, 2]


def test_long_results_keep_head_and_tail() -> None:
    @tool
    def flood() -> str:
        return "<" + "x" * 20_000_000 + ">"

    observation, *_ = started(flood, max_result_chars=1000).step(call("flood"))
    assert len(observation) < 1100
    assert "\n<x" in observation
    assert "x>\n" in observation
    assert "characters left out" in observation


# -- rewards and numbers -------------------------------------------------------------------------------------


def test_rewards_of_uses_successes_and_errors() -> None:
    env = started(Python, tool_reward=0.05, tool_success_reward=0.25, tool_execute_error_reward=-0.1)
    assert env.step("```python\n1\n```")[1] == pytest.approx(0.3)
    assert env.step("```python\n1/0\n```")[1] == pytest.approx(-0.05)
    assert env.step("```python\n1\n```\n```python\n1/0\n```")[1] == pytest.approx(0.25)


def test_counters_start_anew_and_the_last_episode_is_told() -> None:
    env = ToolEnv(Sum(), [Python])
    _, info = env.reset(seed=1)
    expected = {"tool_use_counter": 0, "tool_success_counter": 0, "use_tool": False}
    assert expected.items() <= info.items()
    assert (info["prev_ep_tool_use_counter"], info["prev_ep_tool_success_counter"]) == (0, 0)
    env.step("```python\n1\n```")
    env.step("```python\n1/0\n```")
    _, info = env.reset(seed=1)
    assert expected.items() <= info.items()
    assert (info["prev_ep_tool_use_counter"], info["prev_ep_tool_success_counter"]) == (2, 1)


def test_metrics_of_each_tool() -> None:
    env = started(Python, Search)
    env.step("```python\n1\n```")
    env.step("```python\n1/0\n```")
    metrics = env.step("hm")[4]["metrics"]
    assert metrics == {
        "bad": 1.0,
        "tool/uses": 2.0,
        "tool/successes": 1.0,
        "tool/python_code/uses": 2.0,
        "tool/python_code/errors": 1.0,
        "tool/search/uses": 0.0,
        "tool/search/errors": 0.0,
    }
    metrics = env.step(call("none"))[4]["metrics"]
    assert metrics["tool/uses"] == 3.0


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                call("add", a=1, b=2),
                "<tool_call>",
                "</tool_call>",
                "<search>",
                "</search>",
                "```python\n",
                "```",
                "x",
                "<think>",
                "</think>",
                call("none"),
                '{"name": "add"}',
                "<tool_name>",
                "[",
                "{",
                "1/0\n",
            ]
        )
        | st.text(max_size=4),
        max_size=8,
    ).map("".join)
)
def test_any_text_is_a_legal_action(response: str) -> None:
    env = started(Python, Search, add, max_tool_uses=3)
    observation, reward, terminated, truncated, info = env.step(response)
    assert isinstance(observation, str)
    assert (reward, terminated, truncated) in [(0.0, False, False), (-0.1, False, False)]
    json.dumps(info)
    assert info["tool_use_counter"] <= 3
    assert info["use_tool"] == (env.received == [])


# -- what the agent is told ----------------------------------------------------------------------------------


def test_instructions_follow_the_first_observation() -> None:
    env = ToolEnv(Sum(), [Search])
    observation, info = env.reset(seed=1)
    assert observation.endswith(" = ?\nWrite <search>query</search>.")
    assert "tools" not in info
    observation, _ = ToolEnv(Sum(), [Search, Python, add]).reset(seed=1)
    assert "\nAvailable tools:\nWrite <search>query</search>.\nWrite ```python" in observation
    assert '"name": "add"' in observation
    assert "<tool_call>" in observation
    assert ToolEnv(Sum(), [add], instructions="Use add.").reset(seed=1)[0].endswith("?\nUse add.")


def test_schemas_for_chat_templates() -> None:
    env = ToolEnv(Sum(), [add], instructions=False)
    observation, info = env.reset(seed=1)
    assert observation.endswith("= ?")
    assert info["tools"] == env.tool_schemas()
    (schema,) = env.tool_schemas()
    assert schema["type"] == "function"
    assert schema["function"]["name"] == "add"
    assert schema["function"]["parameters"]["required"] == ["a", "b"]
    json.dumps(schema)
    assert env.step(call("add", a=1, b=2))[0] == "3"  # the template dresses it
    env = ToolEnv(Sum(), [Search], instructions=False)
    env.reset()
    assert env.step("<search>x</search>")[0] == "<information>documents on x</information>"


def test_observations_and_results_may_hold_images() -> None:
    image = {"type": "image", "image": "data:image/png;base64,AA"}

    class Seen(Sum):
        def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
            super().reset(seed=seed)
            return [{"type": "text", "text": "look"}, image], {}

    @tool
    def plot() -> list[dict[str, str]]:
        return [image]

    env = ToolEnv(Seen(), [plot], instructions="Plot.")
    assert env.reset()[0] == [{"type": "text", "text": "look"}, image, {"type": "text", "text": "\nPlot."}]
    assert env.step(call("plot"))[0] == [
        {"type": "text", "text": "<tool_response>\n"},
        image,
        {"type": "text", "text": "\n</tool_response>"},
    ]


# -- episodes ------------------------------------------------------------------------------------------------


def test_reset_is_needed_before_and_after_an_episode_even_for_calls() -> None:
    env = ToolEnv(Sum(), [add])
    with pytest.raises(gem.ResetNeeded):
        env.step(call("add", a=1, b=2))
    env.reset(seed=1)
    env.step("\\boxed{1}")
    with pytest.raises(gem.ResetNeeded):
        env.step(call("add", a=1, b=2))
    env.reset()
    env.close()
    env.close()
    with pytest.raises(gem.ResetNeeded):
        env.step("x")


@pytest.mark.parametrize("action", [None, b"x", 3])
def test_an_action_is_text(action: Any) -> None:
    with pytest.raises(TypeError, match="an action is a str"):
        started(add).step(action)


class Session(Tool):
    """Counts its calls of an episode, and its life."""

    name = "session"

    def __init__(self, log: list[str] | None = None) -> None:
        self.log = [] if log is None else log
        self.calls = -1

    def begin_episode(self) -> None:
        self.log.append("begin")
        self.calls = 0

    def end_episode(self) -> None:
        self.log.append("end")

    def close(self) -> None:
        self.log.append("close")

    def call(self, arguments: dict[str, Any], context: ToolContext) -> int:
        self.calls += 1
        return self.calls

    def get_state(self) -> int:
        return self.calls

    def set_state(self, state: int) -> None:
        self.calls = state


def test_a_session_lives_an_episode() -> None:
    session = Session()
    env = started(session)
    assert "1" in env.step(call("session"))[0]
    assert "2" in env.step(call("session"))[0]
    env.step("\\boxed{1}")
    assert session.log == ["begin", "end"]
    env.reset()
    assert "1" in env.step(call("session"))[0]
    env.reset()
    assert session.log == ["begin", "end", "begin", "end", "begin"]
    env.close()
    assert session.log[5:] == ["end", "close"]


def test_a_tool_that_fails_to_clean_up_does_not_keep_the_others_from_it() -> None:
    class Untidy(Session):
        name = "untidy"

        def end_episode(self) -> None:
            raise OSError("stuck")

    other = Session()
    env = started(Untidy(), other)
    with pytest.warns(RuntimeWarning, match="stuck"):
        assert env.step("\\boxed{1}")[2]
    assert other.log == ["begin", "end"]


def test_a_tool_that_fails_to_begin_is_an_error_of_reset_and_all_that_began_end() -> None:
    class Missing(Session):
        name = "missing"

        def begin_episode(self) -> None:
            raise gem.MissingDependency("start the server")

    other = Session()
    env = ToolEnv(Sum(), [other, Missing()])
    with pytest.raises(gem.MissingDependency):
        env.reset()
    with pytest.raises(gem.ResetNeeded):
        env.step("x")
    env.close()
    assert other.log == ["begin", "end", "close"]


# -- state ---------------------------------------------------------------------------------------------------


def test_state_holds_counters_and_sessions() -> None:
    env = started(Session())
    env.step(call("session"))
    state = env.get_state()
    first = env.step(call("session"))
    env.step("\\boxed{1}")
    env.set_state(state)
    assert env.step(call("session")) == first
    assert env.tool_use_counter == 2


def test_environments_do_not_share_a_tool() -> None:
    tool = Session()
    first, second = started(tool), started(tool)
    assert first.tools[0] is tool
    assert second.tools[0] is not tool
    assert first.spawn().tools[0] is not tool
    first.step(call("session"))
    assert "1" in second.step(call("session"))[0]


def test_state_moves_to_a_sibling_with_tools_of_its_own() -> None:
    env = started(Session)
    env.step(call("session"))
    sibling = env.spawn(same_state=True)
    assert sibling.tools[0] is not env.tools[0]
    assert sibling.step(call("session"))[:2] == env.step(call("session"))[:2]
    assert sibling.tools[0].log == ["begin"]
    assert sibling.numbers == env.numbers
    sibling.close()
    assert sibling.tools[0].log == ["begin", "end", "close"]
    with pytest.raises(TypeError, match="set_state takes"):
        env.set_state({"env": 1})


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
def test_copies_go_on_from_here(copied: Any) -> None:
    env = started(Session, add)
    env.step(call("session"))
    other = copied(env)
    assert other.step(call("session")) == env.step(call("session"))
    assert other.step(call("add", a=1, b=2)) == env.step(call("add", a=1, b=2))
    assert other.tools[0] is not env.tools[0]


# -- around it -----------------------------------------------------------------------------------------------


def test_attributes_are_the_inner_environments_but_not_its_asynchronous_steps() -> None:
    class Waits(Sum):
        async def astep(self, action: str) -> Any:
            raise AssertionError("passed by")

    env = ToolEnv(Waits(), [add])
    env.reset(seed=1)
    assert env.numbers == env.unwrapped.numbers  # type: ignore[attr-defined]
    assert asyncio.run(env.astep(call("add", a=1, b=2)))[4]["use_tool"]


def test_it_conforms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))  # by a name that other processes can import
    assert check_env(gem.EnvSpec(id="toys:Sum-v0", entry_point="toy_sum:sums_with_tools", description="A toy.")) == []


def test_two_tools_of_one_name_are_an_error() -> None:
    with pytest.raises(gem.GemError, match="two tools are called 'add'"):
        ToolEnv(Sum(), [add, add]).reset()


def test_a_tool_may_have_several_functions() -> None:
    class Calculator(Tool):
        name = "calculator"

        def functions(self) -> list[dict[str, Any]]:
            numbers = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
            return [{"name": n, "description": n, "parameters": numbers} for n in ("double", "halve")]

        def call(self, arguments: dict[str, Any], context: ToolContext) -> float:
            return arguments["x"] * 2 if context.name == "double" else arguments["x"] / 2

    env = started(Calculator)
    assert [s["function"]["name"] for s in env.tool_schemas()] == ["double", "halve"]
    assert "6" in env.step(call("double", x=3))[0]
    observation, _, _, _, info = env.step(call("halve", x=3))
    assert "1.5" in observation
    assert info["tool_type"] == "calculator"
    assert "did you mean halve" in env.step(call("half", x=1))[0]
