"""The tool as an agent meets it."""

from __future__ import annotations

import copy
import threading
import time

import pytest
from hypothesis import given, settings, strategies as st

import gem
from gem.errors import StateNotSupported
from gem.tools import ToolContext, ToolEnv, load_tool
from gem_tools.python import Executor, PythonCodeTool, PythonTool


class Question(gem.Env):
    """Ends with the first response that reaches it."""

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return "What is 6 * 7?", {}

    def step(self, action):
        return "", float("42" in action), True, False, {}


def answer(tool: PythonTool, code: str) -> str:
    return tool.call({"code": code}, ToolContext()).content


def episode(**options) -> ToolEnv:
    env = ToolEnv(Question(), **{"tools": [PythonTool()], **options})
    env.reset(seed=0)
    return env


def test_output_comes_back():
    env = episode()
    observation, reward, terminated, truncated, info = env.step("Let me see. <python>print(6 * 7)</python>")
    assert observation == "<output>\n42\n</output>"
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["tool_type"] == "python_code"
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (1, 1)
    assert env.step("It is 42.")[1:3] == (1.0, True)


@pytest.mark.parametrize(
    "response",
    [
        "```python\nprint(1)\n```",
        "```py\nprint(1)\n```",
        "<python>\nprint(1)\n</python>",
        '<tool_call>{"name": "python", "arguments": {"code": "print(1)"}}</tool_call>',
    ],
)
def test_ways_to_write_a_program(response):
    assert episode().step(response)[0] == "<output>\n1\n</output>"


def test_several_programs_in_one_response():
    observation = episode().step("<python>print(1)</python> and <python>print(2)</python>")[0]
    assert observation.count("<output>") == 2
    assert observation.index("1") < observation.index("2")


def test_errors_are_answers():
    env = episode()
    observation, _, terminated, _, info = env.step("<python>print('so far')\n1 / 0</python>")
    assert observation.startswith('<output>\nso far\nTraceback (most recent call last):\n  File "main.py", line 2')
    assert "ZeroDivisionError" in observation
    assert not terminated
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (1, 0)


@pytest.mark.parametrize("code", ["print('\x00')", "print('\ud800')", "\ud800", "\x00"])
def test_text_that_cannot_be_a_program(code):
    observation, _, terminated, _, info = episode().step(f"<python>{code}</python>")
    assert "Error" in observation
    assert not terminated
    assert info["tool_success_counter"] == 0


@settings(max_examples=30)
@given(st.text(max_size=60))
def test_any_text_between_the_tags(code):
    env = episode()
    outcome = env.step(f"<python>{code}</python>")
    assert isinstance(outcome[0], str)


def test_time_limit_is_the_one_configured():
    began = time.monotonic()
    assert answer(PythonTool(timeout=1), "print('a')\nwhile True: pass") == "a\nExecution timed out after 1 seconds."
    assert time.monotonic() - began < 15


def test_time_limit_of_the_environment_counts_too():
    result = PythonTool(timeout=30).call({"code": "while True: pass"}, ToolContext(timeout=0.5))
    assert result.content == "Execution timed out after 0.5 seconds."


def test_output_is_capped():
    text = answer(PythonTool(timeout=20), "print('H' + 'x' * 10**7 + 'T')")
    assert len(text) < 17_000
    assert text.startswith("Hx")
    assert text.endswith("xT")
    assert "left out" in text


def test_nothing_printed():
    assert answer(PythonTool(), "x = 1") == "(no output)"
    assert answer(PythonTool(), "import sys; sys.exit(3)") == "(no output, exit status 3)"


def test_last_line_of_an_error():
    tool = PythonTool(keep_error_last_line=True)
    assert answer(tool, "print(1)\nfoo") == "1\nNameError: name 'foo' is not defined"


def test_last_expression():
    assert answer(PythonTool(print_last_expression=True), "6 * 7") == "42"
    assert answer(PythonTool(), "6 * 7") == "(no output)"


@pytest.mark.parametrize("stateful", [False, True])
def test_a_machine_that_cannot_run_programs_is_told_to_people(monkeypatch, stateful):
    """Else an agent would learn from a thousand episodes that its tool never works."""
    monkeypatch.setenv("PATH", "/nowhere")
    with Executor(slots=1) as pool:
        env = ToolEnv(Question(), [PythonTool(executor=pool, stateful=stateful)])
        with pytest.raises(gem.MissingDependency, match="apt-get install bubblewrap"):
            env.reset(seed=0)


def test_stateful_within_an_episode():
    env = ToolEnv(Question(), tools=[PythonTool(stateful=True)], max_tool_uses=None)
    env.reset(seed=0)
    env.step("<python>x = 5</python>")
    assert "5" in env.step("<python>print(x)</python>")[0]
    with pytest.raises(StateNotSupported):
        env.get_state()
    env.reset(seed=0)
    assert "NameError" in env.step("<python>print(x)</python>")[0]
    assert "begins afresh" in env.step("<python>import os; os._exit(1)</python>")[0]
    env.close()


def test_a_thousand_tools_share_one_pool():
    tools = [PythonTool() for _ in range(1000)]
    assert len({id(tool.executor) for tool in tools}) == 1
    tool = PythonTool(timeout=3)
    assert copy.deepcopy(tool).executor is tool.executor
    assert tool.spawn().timeout == 3


def test_an_executor_of_ones_own():
    with Executor(slots=1, memory_mb=100) as pool:
        tool = PythonTool(executor=pool)
        assert tool.executor is pool
        assert "MemoryError" in answer(tool, "bytearray(10**9)")


def test_many_environments_in_threads():
    outputs: dict[int, str] = {}

    def work(i: int) -> None:
        outputs[i] = episode().step(f"<python>print({i} * 2)</python>")[0]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == {i: f"<output>\n{2 * i}\n</output>" for i in range(16)}


def test_published_names_and_options():
    assert isinstance(load_tool("python_tool"), PythonTool)
    assert PythonCodeTool(timeout=1).executor.backend == "isolated"
    assert PythonCodeTool(sandbox_type="none").executor.backend == "subprocess"
    tool = PythonCodeTool(timeout=5, sandbox_type="bwrap", keep_error_last_line=True)
    assert answer(tool, "foo") == "NameError: name 'foo' is not defined"
    with pytest.raises(ValueError, match="'bwrap' or 'none'"):
        PythonCodeTool(sandbox_type="docker")
    with pytest.raises(ValueError, match="'isolated' or 'subprocess'"):
        PythonTool(backend="bwrap")
    with pytest.raises(ValueError, match="timeout must be positive, got -1"):
        PythonTool(timeout=-1)


def test_instructions_name_the_tags_and_the_limit():
    text = PythonTool(timeout=7).instructions()
    assert "<python>" in text
    assert "7 s" in text
    assert "Variables stay" in PythonTool(stateful=True).instructions()
    assert PythonTool().functions()[0]["parameters"]["required"] == ["code"]
