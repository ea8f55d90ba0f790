"""How models write calls: one module a syntax, each a function from a response to :class:`gem.tools.ToolCall` s.

All take any ``str``, never raise, and work in linear time.
"""

from __future__ import annotations

from gem.tools.parsers.fenced import fenced
from gem.tools.parsers.tagged import tagged
from gem.tools.parsers.tool_call import tool_calls

__all__ = ["fenced", "tagged", "tool_calls"]
