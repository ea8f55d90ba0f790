"""The tool: what the model writes and reads, and what goes wrong."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading

import pytest
from hypothesis import given, settings, strategies as st

import gem
from gem.tools import ToolEnv, load_tool
from gem_tools.python import PythonTool
from gem_tools.search import Hit, SearchError, SearchTool, index as index_module


class Question(gem.Env):
    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return "What is the capital of France?", {}

    def step(self, action):
        return "", float("Paris" in action), True, False, {}


class Fixed:
    """A retriever that says what it is told and notes what it was asked."""

    def __init__(self, hits=(), error=None):
        self.hits, self.error, self.asked = list(hits), error, []

    def search(self, queries, topk, *, timeout=None):
        self.asked.append((queries, topk, timeout))
        if self.error is not None:
            raise self.error
        return [self.hits[:topk] for _ in queries]


def episode(tool, **options):
    env = ToolEnv(Question(), [tool], **options)
    return env, env.reset(seed=0)[0]


def test_an_episode(index):
    env, observation = episode(SearchTool(index), tool_reward=0.3)
    assert "between <search> and </search>" in observation
    observation, reward, terminated, _, info = env.step("<think>hm</think><search> capital of France </search>")
    assert observation.startswith(
        "<information>\nDoc 1(Title: Paris) Paris is the capital of France.\nDoc 2(Title: Rome)"
    )
    assert observation.endswith("\n</information>")
    assert (reward, terminated, info["tool_type"], info["tool_success_counter"]) == (0.3, False, "search", 1)
    assert info["metrics"]["tool/search/uses"] == 1
    assert env.step("<answer>Paris</answer>")[1:3] == (1.0, True)


def test_other_syntax_and_several_searches(index):
    env, _ = episode(SearchTool(index, topk=1))
    call = '<tool_call>{"name": "search", "arguments": {"query": "zebras"}}</tool_call>'
    observation, *_, info = env.step(f"<search>日本</search> and {call}")
    assert observation.index("東京") < observation.index("Zebra")
    assert (observation.count("Doc 1"), observation.count("Doc 2"), info["tool_use_counter"]) == (2, 0, 2)


def test_what_is_asked():
    retriever = Fixed()
    env, _ = episode(SearchTool(retriever, topk=7, timeout=4.0), call_timeout=2.0)
    assert env.step('<search>"a" AND <b></search>')[0] == "<information>\nNo document was found.\n</information>"
    assert retriever.asked == [(['"a" AND <b>'], 7, 2.0)]  # the shorter of both limits


def test_long_documents_are_cut_off():
    retriever = Fixed([Hit("1", "t" * 10_000, "x" * 1_000_000, 1.0), Hit("2", "small", "y", 0.5)])
    env, _ = episode(SearchTool(retriever))
    observation = env.step("<search>x</search>")[0]
    assert "x" * 5000 + " ... [995000 characters left out]" in observation
    assert "Doc 2(Title: small) y" in observation
    assert len(observation) < 6000


def test_errors_are_told_to_the_model_and_the_episode_goes_on():
    retriever = Fixed(error=SearchError("the search server did not answer within 5 s"))
    env, _ = episode(SearchTool(retriever), tool_execute_error_reward=-0.1)
    observation, reward, terminated, _, info = env.step("<search>x</search>")
    assert observation == "<information>\nError: the search server did not answer within 5 s\n</information>"
    assert (reward, terminated, info["tool_success_counter"], info["tool_use_counter"]) == (-0.1, False, 0, 1)
    assert info["tool_calls"][0]["is_error"]
    retriever.error = RuntimeError("anything")
    assert "anything" in env.step("<search>x</search>")[0]
    for broken in ("<search></search>", "<search>never closed", "<search>x</serach>"):
        assert "Error" in env.step(broken)[0]


def test_beside_the_python_tool(index):
    """Each answers its own calls, in order; neither hides the error of the other."""
    env = ToolEnv(Question(), [PythonTool(backend="subprocess", timeout=20), SearchTool(index, topk=1)])
    observation, _ = env.reset(seed=0)
    assert "<python>" in observation
    assert "<search>" in observation
    observation, _, terminated, _, info = env.step("<python>1 / 0</python>")
    assert "ZeroDivisionError" in observation
    assert (terminated, info["tool_use_counter"]) == (False, 1)
    observation, *_, info = env.step("<search>France</search> <python>print(6 * 7)</python>")
    assert observation.index("Paris") < observation.index("42")
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (3, 2)


def test_a_dead_and_a_slow_server(raw_server):
    env, _ = episode(SearchTool("http://127.0.0.1:9"))
    assert "the search server at http://127.0.0.1:9/retrieve cannot be reached" in env.step("<search>x</search>")[0]
    hold = threading.Event()
    url, _ = raw_server(lambda c, _: hold.wait(10))
    env, _ = episode(SearchTool(url, timeout=0.1))
    assert "did not answer within 0.1 s" in env.step("<search>x</search>")[0]
    hold.set()
    url, requests = raw_server(lambda c, _: c.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n\x81"))
    env, _ = episode(SearchTool(url))
    assert "broke off" in env.step("<search>x</search>")[0]
    assert len(requests) == 1


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(), max_size=100))
def test_any_query_is_answered(index, query):
    observation, _, _, _, _ = search_env(index).step(f"<search>{query}</search>")
    assert isinstance(observation, str)


_envs = {}


def search_env(index):
    """Made once: hypothesis asks many times."""
    env = _envs.setdefault(index, ToolEnv(Question(), [SearchTool(index)], max_tool_uses=None))
    env.reset(seed=0)
    return env


def test_a_million_characters(index):
    env, _ = episode(SearchTool(index))
    assert "Paris" in env.step(f"<search>France {'word ' * 200_000}</search>")[0]


def test_what_cannot_be(index, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="set GEM_SEARCH to an index folder"):
        SearchTool()
    with pytest.raises(gem.DataError, match="gem search build"):
        SearchTool(tmp_path)
    with pytest.raises(ValueError, match="topk must be at least 1, got 0"):
        SearchTool(index, topk=0)
    with pytest.raises(ValueError, match="a retriever has its own"):
        SearchTool(Fixed(), method="bm25")
    monkeypatch.setenv("GEM_SEARCH", str(index))
    assert isinstance(load_tool("search_tool"), SearchTool)
    assert load_tool("search_tool", topk=5).topk == 5
    assert SearchTool(search_url="http://host:1/retrieve").retriever.url == "http://host:1/retrieve"


def test_environments_share_one_index(index, tmp_path, monkeypatch):
    import shutil

    shutil.copytree(index, tmp_path / "own")
    opened = []
    real = index_module.Texts
    monkeypatch.setattr(index_module, "Texts", lambda *args: opened.append(args) or real(*args))
    envs = [ToolEnv(Question(), [SearchTool(tmp_path / "own")]) for _ in range(64)]
    envs.append(ToolEnv(Question(), envs[0].tools))  # spawned
    assert "Paris" in [(env.reset(seed=0), env.step("<search>France</search>"))[1][0] for env in envs][-1]
    assert len(opened) == 1


def test_copies_search_what_the_original_did(index, monkeypatch):
    monkeypatch.setenv("GEM_SEARCH", str(index))
    env, _ = episode(SearchTool())
    monkeypatch.delenv("GEM_SEARCH")
    expected = env.step("<search>France</search>")[0]
    for again in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env), env.spawn()):
        again.reset(seed=0)
        assert again.step("<search>France</search>")[0] == expected


def in_child(tool, queue):
    queue.put(tool.call({"query": "France"}, gem.tools.ToolContext()).content)


def test_in_other_processes(index):
    tool = SearchTool(index)
    expected = tool.call({"query": "France"}, gem.tools.ToolContext()).content
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=in_child, args=(tool, queue), daemon=True)
    process.start()
    assert queue.get(timeout=60) == expected
    process.join()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(tool.call, ({"query": "France"}, gem.tools.ToolContext())).content == expected
