"""Running Python that a model wrote: isolated, limited, and as quick as a fork."""

from __future__ import annotations

from gem_tools.python.executor import Case, Executor, Session
from gem_tools.python.result import ExecutionResult
from gem_tools.python.shared import shared_executor
from gem_tools.python.tool import PythonCodeTool, PythonTool

__all__ = ["Case", "ExecutionResult", "Executor", "PythonCodeTool", "PythonTool", "Session", "shared_executor"]
