"""Environments of several agents: what they return, and how to play them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gem.testing.subject import Subject


def is_multi_agent(env: Any) -> bool:
    """Whether actions and results are keyed by agent."""
    inner = getattr(env, "unwrapped", env)
    return any(c.__name__ == "MultiAgentEnv" and c.__module__.startswith("gem.") for c in type(inner).__mro__)


def with_action(env: Any, action: Any) -> dict[str, Any]:
    """This action for every agent whose turn it is."""
    return dict.fromkeys(env.agents, action)


def summed_reward(result: tuple[Any, ...]) -> float:
    reward = result[1]
    if isinstance(reward, dict):
        return float(sum(value for value in reward.values() if isinstance(value, int | float)))
    return float(reward) if isinstance(reward, int | float) else 0.0


def sample_actions(subject: Subject, env: Any, seed: int, turn: int) -> dict[str, Any]:
    return {}


def examine_reset(subject: Subject, env: Any, result: tuple[Any, Any]) -> None:
    pass


def examine_step(subject: Subject, env: Any, result: tuple[Any, ...]) -> None:
    pass
