"""The best that can be done, where it is known."""

from __future__ import annotations

from gem.registry import spec
from gem_rl.config import TrainConfig


def binary_search_turns(count: int) -> float:
    """Mean number of guesses of the best search among ``count`` equally likely numbers, the right guess included.

    Each guess answers lower, higher or right, so the guesses form a binary tree of ``count`` nodes; the most balanced
    one has ``2**d`` nodes at depth ``d``, which cost ``d + 1`` guesses. For 8 numbers that is
    ``(1*1 + 2*2 + 4*3 + 1*4) / 8 = 2.625``.
    """
    total, left, depth = 0, count, 0
    while left > 0:
        level = min(left, 2**depth)
        total += level * (depth + 1)
        left -= level
        depth += 1
    return total / count


def best_turns(config: TrainConfig) -> float | None:
    """The fewest mean turns any policy can need in the run's environment; ``None`` where it is not known."""
    if not config.env.startswith("game:GuessTheNumber-") or config.max_turns is not None:
        return None
    options = {**spec(config.env).kwargs, **config.env_options}
    low, high, limit = (options.get(name) for name in ("min_number", "max_number", "max_turns"))
    if low is None or high is None or limit is None:
        return None
    count = high - low + 1
    return binary_search_turns(count) if count < 2**limit else None  # else even the best search runs out of turns
