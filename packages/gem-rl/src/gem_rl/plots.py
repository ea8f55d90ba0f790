"""The picture of a run: how reward, success and turns went, with the optimum where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gem_rl.config import TrainConfig

_INK, _FAINT, _LINE, _BEST = "#1f2430", "#9aa1ad", "#2f6fdb", "#c2410c"


def learning_curve(path: Path, metrics: Sequence[dict[str, Any]], config: TrainConfig, results: dict[str, Any]) -> None:
    """Write the learning curve as a PNG.

    Args:
        metrics: one record a step, with ``step``, ``reward``, ``success``, ``turns``.
        results: what :func:`gem_rl.run.run` returns; the evaluations are drawn as points at both ends.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # no window system, no global pyplot state
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.4), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    turns, success = figure.subplots(1, 2, width_ratios=[1.6, 1])
    steps = [record["step"] for record in metrics]
    panels = [
        (
            turns,
            "turns",
            "turns an episode" + (f" (a failure counts {results['turn_limit']})" if results.get("turn_limit") else ""),
        ),
        (success, "success", "success"),
    ]
    for axes, name, title in panels:
        values = [record[name] for record in metrics]
        axes.plot(steps, values, color=_LINE, alpha=0.22, linewidth=0.8)
        axes.plot(steps, smooth(values), color=_LINE, linewidth=2, label="training")
        ends = [(x, results[when][name]) for x, when in ((0, "before"), (config.steps, "after")) if results.get(when)]
        if ends:
            axes.plot(
                *zip(*ends, strict=True), "o", color=_INK, markersize=5, label="held-out seeds", clip_on=False, zorder=5
            )
            for (x, y), side in zip(ends, ("left", "right"), strict=False):
                text = f"{y:.2f}"
                axes.annotate(
                    text,
                    (x, y),
                    (8 if side == "left" else -8, 9),
                    textcoords="offset points",
                    ha=side,
                    fontsize=9,
                    color=_INK,
                )
        axes.set_title(title, loc="left", fontsize=10, color=_INK)
        axes.set_xlabel("step", fontsize=9, color=_INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(_FAINT)
        axes.tick_params(colors=_INK, labelsize=8)
        axes.margins(x=0.02)
    best = results.get("best_turns")
    if best is not None:
        turns.axhline(best, color=_BEST, linewidth=1.4, linestyle=(0, (5, 3)), label=f"optimum {best:g}")
        turns.set_ylim(bottom=0)
    success.set_ylim(0, 1.04)
    turns.legend(frameon=False, fontsize=8, loc="lower left")
    figure.suptitle(
        f"{config.env}   {config.algorithm}, gamma {config.gamma:g}, seed {config.seed}",
        fontsize=10,
        color=_FAINT,
        x=0.01,
        ha="left",
    )
    figure.savefig(path)


def smooth(values: Sequence[float], share: float = 0.05) -> list[float]:
    """A centred running mean over ``share`` of the values, with a shorter window at both ends."""
    half = max(1, int(len(values) * share / 2))
    windows = [values[max(0, i - half) : i + half + 1] for i in range(len(values))]
    return [sum(window) / len(window) for window in windows]
