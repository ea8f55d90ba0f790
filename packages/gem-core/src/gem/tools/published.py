"""Tools written for the published package, as they are."""

from __future__ import annotations

from typing import Any, Protocol

from gem.tools.call import Content, ToolCall, ToolContext, ToolResult
from gem.tools.tool import Tool


class PublishedStyle(Protocol):
    """What a tool of the published package looks like."""

    def instruction_string(self) -> str:
        """How to call it."""

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        """Read a response and carry out the call in it: (was there one, did it fail, observation, text read)."""


def is_published_style(candidate: Any) -> bool:
    """Whether an object can be adapted by :class:`PublishedTool`."""
    return callable(getattr(candidate, "execute_action", None)) and not isinstance(candidate, Tool)


class PublishedTool(Tool):
    """Adapts an object with ``execute_action(action)`` and ``instruction_string()``.

    Such a tool reads and runs the response in one go, so it is asked once a response, after the calls that other
    tools could read, and has no schema.
    """

    def __init__(self, tool: PublishedStyle) -> None:
        self.tool = tool
        self.tool_type = str(getattr(tool, "tool_type", "") or type(tool).__name__)
        self.name = str(getattr(tool, "name", "") or self.tool_type)

    def functions(self) -> list[dict[str, Any]]:
        return []

    def instructions(self) -> str | None:
        return self.tool.instruction_string()

    def render(self, result: ToolResult) -> Content:
        return result.content  # such tools dress their observations themselves

    def parse(self, response: str) -> list[ToolCall]:
        return [ToolCall(self.name, {}, (len(response), len(response)), response)]

    def call(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult | None:
        is_call, failed, observation, read = self.tool.execute_action(context.raw)
        if not is_call and not observation:
            return None
        return ToolResult(observation, is_error=bool(failed or not is_call), metadata={"parsed_action": read})

    def close(self) -> None:
        close = getattr(self.tool, "close", None)
        if callable(close):
            close()

    def spawn(self) -> Tool:
        # Such tools were made to be shared, and cannot tell how to make another.
        return PublishedTool(self.tool)
