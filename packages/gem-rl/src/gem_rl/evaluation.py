"""Playing held-out episodes and summing them up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gem.registry import spec
from gem.rollout import Collector, Episode, Rollouts, TaskSpec
from gem_rl.config import TrainConfig
from gem_rl.policies.base import Policy
from gem_rl.seeds import derive, held_out_seeds


def make_collector(config: TrainConfig, wrappers: Any, episodes: int, group_size: int = 1) -> Collector:
    """A collector of the run's environment; unknown ids and options raise their one-line errors here.

    Args:
        wrappers: for a configuration that names none.
        episodes: how many there will be to play at once.
    """
    return Collector(
        TaskSpec(config.env, config.env_options),
        num_envs=config.num_envs or episodes,
        wrappers=config.wrappers or wrappers,
        group_size=group_size,
        max_turns=config.max_turns,
    )


def turn_limit(config: TrainConfig) -> int | None:
    """Turns after which an episode of the run is cut off, where that is known."""
    limits = [config.max_turns, config.env_options.get("max_turns", spec(config.env).max_turns)]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def evaluate(policy: Policy, config: TrainConfig) -> Rollouts:
    """Play the held-out seeds, with randomness that is the same at every call; the policy's own stream is untouched."""
    state, greedy = policy.generator.get_state(), policy.greedy
    policy.seed(derive(config.seed, "evaluation"))
    policy.greedy = config.eval_greedy
    try:
        with make_collector(config, policy.wrappers, min(config.eval_episodes, 256)) as collector:
            return collector.collect(policy, held_out_seeds(config.eval_episodes))
    finally:
        policy.greedy = greedy
        policy.generator.set_state(state)


def summary(episodes: Sequence[Episode], limit: int | None) -> dict[str, Any]:
    """``reward`` (undiscounted, an episode), ``success`` and ``turns``: means over the episodes.

    An episode without success counts ``limit`` turns, however early it ended, so that giving up is never short.
    ``turns_won`` is over the successful ones alone. Where no episode reports success there is neither, and turns are
    counted as played.
    """
    if not episodes:
        return {}
    count = len(episodes)
    reward = sum(e.total_reward for e in episodes) / count
    if all(e.success is None for e in episodes):
        return {"reward": reward, "turns": sum(len(e.turns) for e in episodes) / count}
    won = [len(e.turns) for e in episodes if e.success]
    lost = [len(e.turns) for e in episodes if not e.success]
    out = {
        "reward": reward,
        "success": len(won) / count,
        "turns": (sum(won) + sum(lost if limit is None else [limit] * len(lost))) / count,
    }
    if won:
        out["turns_won"] = sum(won) / len(won)
    return out
