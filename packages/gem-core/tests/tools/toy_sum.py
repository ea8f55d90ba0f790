"""A small task, and tools for it."""

from __future__ import annotations

from typing import Any

import gem
from gem.parsing import last_boxed
from gem.tools import Tool, ToolCall, ToolContext, ToolEnv, tool
from gem.tools.parsers import fenced


class Sum(gem.Env):
    """Ends with the first boxed answer; anything else costs a tenth."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.numbers = self.rng.randint(1, 9), self.rng.randint(1, 9)
        self.received: list[str] = []
        return f"{self.numbers[0]} + {self.numbers[1]} = ?", {"metrics": {"asked": 1.0}}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.received.append(action)
        answer = last_boxed(action)
        if answer is None:
            return "no answer", -0.1, False, False, {"metrics": {"bad": 1.0}}
        return "done", float(answer == str(sum(self.numbers))), True, False, {"success": True}


class Python(Tool):
    """Evaluates an expression."""

    name = "python"
    tool_type = "python_code"
    parameters = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}

    def instructions(self) -> str:
        return "Write ```python code```."

    def parse(self, response: str) -> list[ToolCall]:
        return fenced(response, {"python"}, self.name)

    def call(self, arguments: dict[str, Any], context: ToolContext) -> str:
        return str(eval(arguments["code"]))


@tool
def add(a: int, b: int) -> int:
    """The sum of two integers."""
    return a + b


def sums_with_tools() -> ToolEnv:
    """The task with both tools."""
    return ToolEnv(Sum(), [Python, add])
