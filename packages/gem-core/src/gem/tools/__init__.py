"""Tools: what an agent may call between two steps of an environment, and the wrapper that lets it."""

from __future__ import annotations

from gem.tools.call import Content, ToolCall, ToolContext, ToolResult
from gem.tools.env import ToolEnv
from gem.tools.function import FunctionTool, tool
from gem.tools.loading import load_tool
from gem.tools.published import PublishedTool
from gem.tools.tool import Tool

__all__ = [
    "Content",
    "FunctionTool",
    "PublishedTool",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolEnv",
    "ToolResult",
    "load_tool",
    "tool",
]
