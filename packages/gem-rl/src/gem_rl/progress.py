"""How a run tells how it goes: one line that renews itself on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, TextIO

#: Seconds between lines where the output is no terminal.
PLAIN_INTERVAL = 5.0
#: Seconds between renewals of the line on a terminal.
LIVE_INTERVAL = 0.1


class Progress:
    """Writes to ``stream``; knows nothing of training but names and numbers."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream if stream is not None else sys.stdout
        self.live = self.stream.isatty()
        self._shown = False
        self._last = float("-inf")

    def say(self, text: str) -> None:
        """A line that stays."""
        self._print(text)
        self._last = float("-inf")  # whatever begins now is shown at once

    def show(self, text: str, *, last: bool = False) -> None:
        """The state of things: renewed in place on a terminal, otherwise printed when the last line is old enough.

        Args:
            last: this one stays.
        """
        now = time.monotonic()
        if not last and now - self._last < (LIVE_INTERVAL if self.live else PLAIN_INTERVAL):
            return
        self._last = float("-inf") if last else now
        if not self.live or last:
            self._print(text)
            return
        width = shutil.get_terminal_size().columns - 1
        self.stream.write("\r\x1b[2K" + text[:width])
        self.stream.flush()
        self._shown = True

    def _print(self, text: str) -> None:
        self._erase()
        print(text, file=self.stream, flush=True)

    def _erase(self) -> None:
        if self._shown:
            self.stream.write("\r\x1b[2K")
            self._shown = False


class Meter:
    """Turns the metrics of steps into a line: smoothed, with rate and time left."""

    #: Share of the newest step in the smoothed numbers.
    NEW = 0.15

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self._smooth: dict[str, float] = {}

    def line(self, metrics: dict[str, Any], seconds: float) -> str:
        """One line for a step that took ``seconds``."""
        numbers = {
            "seconds": seconds,
            **{n: metrics[n] for n in ("reward", "success", "turns", "episodes") if n in metrics},
        }
        for name, number in numbers.items():
            old = self._smooth.get(name, number)
            self._smooth[name] = old + self.NEW * (number - old)
        step, smooth = metrics["step"], self._smooth
        parts = [
            f"step {step:{len(str(self.steps))}}/{self.steps} {_bar(step / self.steps)}",
            f"reward {smooth['reward']:6.3f}",
            *([f"success {smooth['success']:4.0%}"] if "success" in smooth else []),
            f"turns {smooth['turns']:5.2f}",
            f"{smooth['episodes'] / max(smooth['seconds'], 1e-9):5.0f} episodes/s",
            f"{clock((self.steps - step) * smooth['seconds'])} left",
        ]
        return "  ".join(parts)


def _bar(share: float, width: int = 12) -> str:
    full = int(share * width + 1e-9)
    return "━" * full + "╌" * (width - full)


def clock(seconds: float) -> str:
    """``95`` -> ``1:35``."""
    whole = int(seconds + 0.5)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
