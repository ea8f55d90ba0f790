"""What agents write, and what they read of it: one environment for all."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from mcp_support import SERVERS, Question, write

from gem.tools import ToolEnv
from gem_tools.mcp import MCPTool


@pytest.fixture(scope="module")
def shared_env() -> Iterator[ToolEnv]:
    config = {"command": sys.executable, "args": ["-I", "-S", str(SERVERS / "plain.py")]}
    env = ToolEnv(Question(), [MCPTool(config)], max_tool_uses=None)
    env.reset(seed=0)
    yield env
    env.close()


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (write("add", '{"a": 1, "b": 2}'), "\n3\n"),
        ('<tool_call><tool_name>add</tool_name><arguments>{"a": 1, "b": 2}</arguments></tool_call>', "\n3\n"),
        ("<tool_call><tool_name>add</tool_name><arguments>{a:1}</arguments></tool_call>", "not valid JSON"),
        ('<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool>', "close it with </tool_call>"),
        (write("ad", '{"a": 1, "b": 2}'), "did you mean add"),
        (write("add", '{"a": 1}'), "argument 'b' is missing"),
        (write("add", '{"a": 1, "b": "two"}'), "argument 'b' must be an integer, got a string"),
        (write("add", "[1, 2]"), "the arguments must be a JSON object"),
        # nested arguments as JSON text: parsed for an object, left alone for a string
        (write("take", r'{"o": "{\"x\": 1}"}'), '\ndict {"x": 1}\n'),
        (
            r'<tool_call><tool_name>take</tool_name><arguments>{"o":"{\"x\":1}"}</arguments></tool_call>',
            '\ndict {"x": 1}\n',
        ),
        (write("text", r'{"s": "{\"x\": 1}"}'), '\nstr {"x": 1}\n'),
        (write("fail"), "no such row"),
    ],
)
def test_dialects_and_mistakes(shared_env: ToolEnv, response: str, expected: str) -> None:
    observation, _, terminated, _, info = shared_env.step(response)
    assert expected in observation
    assert not terminated
    assert info["use_tool"]


def test_images_reach_the_observation(shared_env: ToolEnv) -> None:
    observation = shared_env.step(write("picture"))[0]
    assert [part["type"] for part in observation] == ["text", "image", "text"]
    assert observation[1]["image"].startswith("data:image/png;base64,")


def test_twenty_megabytes(shared_env: ToolEnv) -> None:
    observation, *_, info = shared_env.step(write("big", '{"n": 20000000}'))
    assert len(observation) < 20_000
    assert "characters left out" in observation
    assert not info["tool_calls"][0]["is_error"]
    assert "\n3\n" in shared_env.step(write("add", '{"a": 1, "b": 2}'))[0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (r'{"s": "\ud800!"}', "str \ufffd!"),  # half a surrogate pair
        (r'{"s": "\ud83d\ude00"}', "str \U0001f600"),
        ('{"s": "line\\u2028break\\u0000"}', "str line\u2028break\0"),
        ('{"s": "</tool_call>"}', "str </tool_call>"),
    ],
)
def test_any_text_arrives(shared_env: ToolEnv, arguments: str, expected: str) -> None:
    assert shared_env.step(write("text", arguments))[0] == f"<tool_response>\n{expected}\n</tool_response>"


def test_arguments_nested_beyond_what_can_be_sent(shared_env: ToolEnv) -> None:
    deep = '{"o": {"x": ' + "[" * 400 + "]" * 400 + "}}"
    info = shared_env.step(write("take", deep))[-1]
    assert info["use_tool"]
    assert "\n3\n" in shared_env.step(write("add", '{"a": 1, "b": 2}'))[0]
