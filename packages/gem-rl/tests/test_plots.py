"""The learning curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem_rl.plots import learning_curve, smooth

METRICS = [{"step": n, "reward": n / 9, "success": n / 9, "turns": 8 - n / 2} for n in range(1, 10)]
RESULTS = {
    "best_turns": 2.625,
    "turn_limit": 8,
    "before": {"turns": 5.4, "success": 0.6, "reward": 0.7},
    "after": {"turns": 3.1, "success": 1.0, "reward": 1.0},
}


@pytest.mark.parametrize("results", [RESULTS, {"best_turns": None, "turn_limit": None}])
def test_a_picture_is_written(tmp_path: Path, small: Callable[..., Any], results: dict[str, Any]) -> None:
    learning_curve(tmp_path / "curve.png", METRICS, small(steps=9), results)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_drawn(tmp_path: Path, small: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path: drawn.append(self))
    learning_curve(tmp_path / "curve.png", METRICS, small(steps=9), RESULTS)
    turns, success = drawn[0].axes
    heights = [float(line.get_ydata()[0]) for line in turns.lines if len(set(line.get_ydata())) == 1]
    assert heights == [2.625]
    assert "optimum 2.625" in [text.get_text() for text in turns.get_legend().get_texts()]
    assert list(success.lines[0].get_ydata()) == [n / 9 for n in range(1, 10)]
    assert {text.get_text() for text in turns.texts} == {"5.40", "3.10"}


def test_reward_takes_the_place_of_success_where_none_is_reported(
    tmp_path: Path, small: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.figure import Figure

    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path: drawn.append(self))
    metrics = [{"step": n, "reward": n / 2, "turns": 3.0} for n in range(1, 4)]
    learning_curve(tmp_path / "curve.png", metrics, small(steps=3), {"turn_limit": 4, "before": {}, "after": {}})
    turns, reward = drawn[0].axes
    assert list(reward.lines[0].get_ydata()) == [0.5, 1.0, 1.5]
    assert turns.get_title(loc="left") == "turns an episode"


def test_smoothing_keeps_length_and_constants() -> None:
    assert smooth([2.0] * 50) == [2.0] * 50
    assert smooth([1.0]) == [1.0]
    assert len(smooth(list(range(7)))) == 7
    assert smooth([0.0, 3.0, 0.0])[1] == 1.0
