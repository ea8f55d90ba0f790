"""The interface of a tool."""

from __future__ import annotations

from typing import Any

import pytest

from gem.tools import Tool, ToolContext, ToolResult


class Echo(Tool):
    name = "echo"
    description = "Says it again."
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}}

    def __init__(self, times: int = 1) -> None:
        self.times = times

    def call(self, arguments: dict[str, Any], context: ToolContext) -> str:
        return str(arguments["text"]) * self.times


def test_a_tool_reads_its_own_calls() -> None:
    response = '<tool_call>{"name": "echo", "arguments": {"text": "a"}}</tool_call><tool_call>{"name": "x"}</tool_call>'
    (call,) = Echo().parse(response)
    assert (call.name, call.arguments) == ("echo", {"text": "a"})
    assert response[slice(*call.span)] == call.raw


def test_defaults() -> None:
    echo = Echo()
    assert echo.functions() == [{"name": "echo", "description": "Says it again.", "parameters": dict(Echo.parameters)}]
    assert echo.instructions() is None
    assert echo.render(ToolResult("x")) == "<tool_response>\nx\n</tool_response>"
    assert echo.get_state() is None
    echo.set_state(None)
    echo.begin_episode()
    echo.end_episode()
    echo.close()
    with pytest.raises(NotImplementedError, match="must implement call"):
        Tool().call({}, ToolContext())


def test_spawn_keeps_the_arguments() -> None:
    echo = Echo(times=2)
    other = echo.spawn()
    assert other is not echo
    assert isinstance(other, Echo)
    assert other.times == 2
