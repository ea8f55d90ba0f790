"""Running Python that a model wrote: isolated, limited, and as quick as a fork."""

from __future__ import annotations

from gem_tools.python.executor import Case, Executor, Session
from gem_tools.python.result import ExecutionResult

__all__ = ["Case", "ExecutionResult", "Executor", "Session"]
