"""Environments of several agents: what they return, and how to play them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gem.testing import returned
from gem.testing.trace import shorten

if TYPE_CHECKING:
    from gem.testing.subject import Subject


def is_multi_agent(env: Any) -> bool:
    """Whether actions and results are keyed by agent."""
    return bool(getattr(env, "multi_agent", False))


def with_action(env: Any, action: Any) -> dict[str, Any]:
    """This action for every agent whose turn it is."""
    return dict.fromkeys(env.active_agents(), action)


def rewards_of(result: tuple[Any, ...]) -> dict[str, float]:
    """The rewards of a step by agent; of the nameless one where there is a single agent."""
    rewards = result[1] if isinstance(result[1], dict) else {"": result[1]}
    return {agent: float(reward) for agent, reward in rewards.items() if isinstance(reward, int | float)}


def examine_reset(subject: Subject, env: Any, result: tuple[Any, Any]) -> None:
    """Observations and infos of the same agents, each as for a single one."""
    if not _keyed(subject, env, result, ("observations", "infos"), "reset"):
        return
    observations, infos = result
    for agent in observations:
        where = f"reset for {agent!r}"
        returned.examine_observation(subject, observations[agent], where)
        returned.examine_info(subject, infos[agent], where, over=False)


def examine_step(subject: Subject, env: Any, result: tuple[Any, ...]) -> None:
    """Five dictionaries of the same agents, each as for a single one."""
    names = ("observations", "rewards", "terminations", "truncations", "infos")
    if not _keyed(subject, env, result, names, "step"):
        return
    for agent, (observation, reward, terminated, truncated, info) in {
        agent: tuple(part[agent] for part in result) for agent in result[0]
    }.items():
        where = f"step for {agent!r}"
        returned.examine_observation(subject, observation, where)
        returned.examine_reward(subject, reward, where)
        returned.examine_flags(subject, terminated, truncated, where)
        returned.examine_info(subject, info, where, over=bool(terminated) or bool(truncated))


def _keyed(subject: Subject, env: Any, result: tuple[Any, ...], names: tuple[str, ...], where: str) -> bool:
    for name, part in zip(names, result, strict=True):
        if not isinstance(part, dict):
            subject.report("GEM801", f"the {name} of {where} are {shorten(repr(part), 40)} ({type(part).__name__})")
            return False
        if part.keys() != result[0].keys():
            subject.report(
                "GEM801", f"{where} has observations of {sorted(result[0])} but {name} of {sorted(map(str, part))}"
            )
            return False
    return True
