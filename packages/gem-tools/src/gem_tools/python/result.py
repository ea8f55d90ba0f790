"""What came of running a program."""

from __future__ import annotations

import signal as signals
from dataclasses import dataclass
from typing import Any, Literal

Reason = Literal["exit", "signal", "timeout", "memory", "cpu", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionResult:
    """The outcome of one run. ``stdout`` and ``stderr`` are capped: head and tail, with a marker between."""

    stdout: str = ""
    stderr: str = ""
    #: The program's exit status; ``None`` when it did not end by itself.
    exit_code: int | None = None
    #: The signal that ended it, if one did.
    signal: int | None = None
    #: Why it ended: by itself, by a signal, at the wall, memory or CPU limit, or its interpreter was lost.
    reason: Reason = "exit"
    #: The wall limit it ran under, seconds; ``None``: no limit.
    timeout: float | None = None
    #: Seconds the program ran: neither queueing nor start-up nor clearing up.
    wall_s: float = 0.0
    #: CPU seconds of the program and everything it started.
    cpu_s: float = 0.0
    #: Largest resident size of one of its processes, MiB.
    peak_mb: float = 0.0
    #: Bytes written in all, kept or not.
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    #: Whether the middle of either stream was left out.
    truncated: bool = False
    #: What a called function returned, as JSON has it.
    value: Any = None
    has_value: bool = False
    #: In a session: its variables are gone, the next run begins afresh.
    state_lost: bool = False

    @property
    def timed_out(self) -> bool:
        return self.reason == "timeout"

    @property
    def ok(self) -> bool:
        """The program came to its end with status 0."""
        return self.reason == "exit" and self.exit_code == 0

    @property
    def message(self) -> str:
        """One line on how it ended; empty when it ended by itself (its own output says more)."""
        if self.reason == "timeout":
            return f"Execution timed out after {self.timeout:g} seconds."
        if self.reason == "memory":
            return "Execution stopped: the program used more memory than it may."
        if self.reason == "cpu":
            return "Execution stopped: the program used more CPU time than it may."
        if self.reason == "lost":
            return "Execution failed: the interpreter was lost while the program ran."
        if self.reason == "signal":
            return f"Execution stopped by signal {_signal_name(self.signal)}."
        return ""


def _signal_name(number: int | None) -> str:
    try:
        return signals.Signals(number or 0).name
    except ValueError:
        return str(number)


def decode(head: bytes, tail: bytes, total: int) -> tuple[str, bool]:
    """Captured bytes as text, with a marker where the middle is missing: ``(text, truncated)``.

    Bytes that are not UTF-8 become replacement characters; a character cut in two by the cap disappears.
    """
    missing = total - len(head) - len(tail)
    if missing <= 0:
        return (head + tail).decode("utf-8", "replace"), False
    for back in range(1, min(4, len(head) + 1)):
        byte = head[-back]
        if byte >= 0xC0:
            if (byte >= 0xF0) + (byte >= 0xE0) + 2 > back:
                head = head[:-back]
            break
        if byte < 0x80:
            break
    start = 0
    while start < min(3, len(tail)) and 0x80 <= tail[start] < 0xC0:
        start += 1
    text = f"{head.decode('utf-8', 'replace')}\n... [{missing} bytes left out] ...\n"
    return text + tail[start:].decode("utf-8", "replace"), True
