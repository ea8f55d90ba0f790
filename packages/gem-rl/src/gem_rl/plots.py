"""The picture of a run: how turns and success went, with the optimum where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem_rl.config import TrainConfig

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _FAINT, _LINE, _BEST = "#1f2430", "#9aa1ad", "#2f6fdb", "#c2410c"


def learning_curve(path: Path, metrics: Sequence[dict[str, Any]], config: TrainConfig, results: dict[str, Any]) -> None:
    """Write the learning curve as a PNG: turns, and success (or reward, where the environment reports no success).

    Args:
        metrics: one record a step, with ``step``, ``reward``, ``turns`` and perhaps ``success``.
        results: what :func:`gem_rl.run.run` returns; the evaluations are drawn as points at both ends.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # no window system, no global pyplot state
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.4), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=[1.6, 1])
    counted = "success" in metrics[0]
    limit = results.get("turn_limit")
    note = f" (a failure counts {limit})" if counted and limit else ""
    _panel(left, "turns", f"turns an episode{note}", metrics, config.steps, results)
    outcome = "success" if counted else "reward"
    _panel(right, outcome, outcome, metrics, config.steps, results)
    best = results.get("best_turns")
    if best is not None:
        left.axhline(best, color=_BEST, linewidth=1.4, linestyle=(0, (5, 3)), label=f"optimum {best:g}")
    left.set_ylim(bottom=0)
    if counted:
        right.set_ylim(0, 1.04)
    left.legend(frameon=False, fontsize=8, loc="lower left")
    heading = f"{config.env}   {config.algorithm}, gamma {config.gamma:g}, seed {config.seed}"
    figure.suptitle(heading, fontsize=10, color=_FAINT, x=0.01, ha="left")
    figure.savefig(path)


def _panel(
    axes: Axes, name: str, title: str, metrics: Sequence[dict[str, Any]], last: int, results: dict[str, Any]
) -> None:
    """One number over the steps of training, with its held-out values before the first and after the last one."""
    steps, values = [record["step"] for record in metrics], [record[name] for record in metrics]
    axes.plot(steps, values, color=_LINE, alpha=0.22, linewidth=0.8)
    axes.plot(steps, smooth(values), color=_LINE, linewidth=2, label="training")
    ends = [(0, "before", 8, "left"), (last, "after", -8, "right")]
    ends = [end for end in ends if name in results.get(end[1], {})]
    if ends:
        places = [x for x, *_ in ends], [results[when][name] for _, when, *_ in ends]
        axes.plot(*places, "o", color=_INK, markersize=5, label="held-out seeds", clip_on=False, zorder=5)
    for x, when, shift, side in ends:
        y = results[when][name]
        axes.annotate(f"{y:.2f}", (x, y), (shift, 9), textcoords="offset points", ha=side, fontsize=9, color=_INK)
    axes.set_title(title, loc="left", fontsize=10, color=_INK)
    axes.set_xlabel("step", fontsize=9, color=_INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_FAINT)
    axes.tick_params(colors=_INK, labelsize=8)
    axes.margins(x=0.02)


def smooth(values: Sequence[float], share: float = 0.05) -> list[float]:
    """A centred running mean over ``share`` of the values, with a shorter window at both ends."""
    half = max(1, int(len(values) * share / 2))
    windows = [values[max(0, i - half) : i + half + 1] for i in range(len(values))]
    return [sum(window) / len(window) for window in windows]
