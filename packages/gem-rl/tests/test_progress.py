"""What a person sees while it runs."""

from __future__ import annotations

import io

import pytest

from gem_rl import progress
from gem_rl.progress import Meter, Progress, clock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_plain_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    shown = Progress(stream)
    for second in range(12):
        now[0] = float(second)
        shown.show(f"second {second}")
    shown.show("done", last=True)
    shown.show("next stage")
    assert stream.getvalue() == "second 0\nsecond 5\nsecond 10\ndone\nnext stage\n"


def test_a_terminal_gets_one_line_that_renews_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LIVE_INTERVAL", 0.0)
    stream = Terminal()
    shown = Progress(stream)
    shown.show("one")
    shown.show("two")
    shown.say("kept")
    shown.show("three")
    shown.show("end", last=True)
    text = stream.getvalue()
    assert text.count("\n") == 2
    erased = [line.rpartition("\x1b[2K")[2] for line in text.split("\n")]
    assert erased == ["kept", "end", ""]


def test_long_lines_do_not_wrap_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    Progress(stream).show("x" * 200)
    assert stream.getvalue().count("x") == 19


def test_the_line_has_rate_reward_success_turns_and_time_left() -> None:
    metrics = {"step": 50, "reward": 0.5, "success": 0.75, "turns": 3.25, "episodes": 64}
    line = Meter(100).line(metrics, 0.5)
    for part in ("step  50/100", "reward  0.500", "success  75%", "turns  3.25", "128 episodes/s", "0:25 left"):
        assert part in line


def test_success_is_left_out_where_none_is_reported() -> None:
    line = Meter(2).line({"step": 1, "reward": 0.5, "turns": 2.0, "episodes": 4}, 1.0)
    assert "success" not in line
    assert "turns  2.00" in line


def test_numbers_are_smoothed() -> None:
    meter = Meter(100)
    meter.line({"step": 1, "reward": 0.0, "success": 0.0, "turns": 8.0, "episodes": 64}, 1.0)
    line = meter.line({"step": 2, "reward": 1.0, "success": 1.0, "turns": 2.0, "episodes": 64}, 1.0)
    assert "reward  0.150" in line


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (95, "1:35"), (3725, "1:02:05")])
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text
