"""The Python tool: the code in a response is run, and the model reads what it printed."""

from __future__ import annotations

from typing import Any

from gem.errors import StateNotSupported
from gem.tools import Tool, ToolCall, ToolContext, ToolResult
from gem.tools.parsers import fenced
from gem_tools.python.executor import Executor, Session
from gem_tools.python.result import ExecutionResult
from gem_tools.python.shared import shared_executor


class PythonTool(Tool):
    """Runs the Python that a model writes in ``<python>...</python>`` or a fenced block, in isolation.

    All tools of a process share one pool of interpreters. An error of the program (its traceback, a limit it
    reached) is what the model reads; none of it raises.

    Args:
        timeout: wall seconds of one program.
        backend: ``"isolated"``, or ``"subprocess"`` for programs you trust (see :class:`Executor`).
        keep_error_last_line: of what is written to standard error, show the last line only.
        stateful: variables stay from one call to the next within an episode, as in a notebook.
        print_last_expression: show the value of a program's last expression; by default only what is printed.
        executor: one of your own, with the limits you like; the other settings but ``timeout`` are then its.
    """

    name = "python"
    tool_type = "python_code"
    description = "Run a Python program and read what it prints."
    parameters = {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "A complete program; print what you want to see."}},
        "required": ["code"],
        "additionalProperties": False,
    }

    def __init__(
        self,
        timeout: float = 5.0,
        backend: str = "isolated",
        *,
        keep_error_last_line: bool = False,
        stateful: bool = False,
        print_last_expression: bool = False,
        executor: Executor | None = None,
    ) -> None:
        if not timeout > 0:
            raise ValueError(f"timeout must be positive, got {timeout}")
        self.timeout = timeout
        self.keep_error_last_line = keep_error_last_line
        self.stateful = stateful
        self._settings = {"backend": backend, "show_last": print_last_expression}
        self._executor = executor
        self._session: Session | None = None
        if executor is None and backend not in ("isolated", "subprocess"):
            raise ValueError(f"backend must be 'isolated' or 'subprocess', got {backend!r}")

    @property
    def executor(self) -> Executor:
        """What runs the programs."""
        return self._executor if self._executor is not None else shared_executor(**self._settings)

    def instructions(self) -> str:
        keeps = " Variables stay from one program to the next." if self.stateful else ""
        return (
            "You can run Python: write a complete program, imports included, between <python> and </python> or in a "
            f"```python block, and print what you want to know; its output comes back within {self.timeout:g} s of "
            f"running time.{keeps}"
        )

    def render(self, result: ToolResult) -> str:
        return f"<output>\n{result.content}\n</output>"

    def parse(self, response: str) -> list[ToolCall]:
        return fenced(response, ("python",), self.name)

    def call(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        timeout = self.timeout if context.timeout is None else min(self.timeout, context.timeout)
        if self.stateful:
            if self._session is None:
                self._session = self.executor.session()
            result = self._session.run(arguments["code"], timeout=timeout)
        else:
            result = self.executor.run(arguments["code"], timeout=timeout)
        metadata = {"reason": result.reason, "exit_code": result.exit_code, "wall_s": result.wall_s}
        return ToolResult(self.describe(result), is_error=not result.ok, metadata=metadata)

    def describe(self, result: ExecutionResult) -> str:
        """What the model reads of an outcome: output, then errors, then how it ended if not by itself."""
        errors = result.stderr.strip()
        if errors and self.keep_error_last_line:
            errors = errors.splitlines()[-1]
        notes = [result.message]
        if result.state_lost:
            notes.append("The variables are lost; the next program begins afresh.")
        parts = [result.stdout.rstrip("\n"), errors, *notes]
        text = "\n".join(part for part in parts if part)
        if not text:
            text = "(no output)" if result.ok else f"(no output, exit status {result.exit_code})"
        return text

    def begin_episode(self) -> None:
        # A machine that cannot run programs is a matter for whoever set it up, not for the agent.
        self.executor.prepare()

    def end_episode(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def close(self) -> None:
        self.end_episode()

    def get_state(self) -> None:
        if self._session is not None:
            raise StateNotSupported("a stateful Python session cannot be saved; use stateful=False")


class PythonCodeTool(PythonTool):
    """:class:`PythonTool` by its published name and options.

    Args:
        sandbox_type: ``"bwrap"`` (isolated, the default here), or ``"none"`` for programs you trust.
    """

    def __init__(self, timeout: float = 5, sandbox_type: str = "bwrap", keep_error_last_line: bool = False) -> None:
        backends = {"bwrap": "isolated", "none": "subprocess"}
        if sandbox_type not in backends:
            raise ValueError(f"sandbox_type must be 'bwrap' or 'none', got {sandbox_type!r}")
        super().__init__(timeout, backends[sandbox_type], keep_error_last_line=keep_error_last_line)
