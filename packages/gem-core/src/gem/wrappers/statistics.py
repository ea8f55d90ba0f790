"""Counts of the episode under way, and of the one before."""

from __future__ import annotations

from typing import Any

from gem.env import Env, Wrapper, observes


class EpisodeStatistics(Wrapper):
    """Adds to ``info``: ``step_counter`` and ``cumulative_rewards``; at ``reset`` also their ``prev_ep_`` twins.

    Put it outermost, so that it counts what the agent sees.
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.step_counter = 0
        self.cumulative_rewards = 0.0

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options, **kwargs)
        info["prev_ep_step_counter"] = self.step_counter
        info["prev_ep_cumulative_rewards"] = self.cumulative_rewards
        self.step_counter = 0
        self.cumulative_rewards = 0.0
        info["step_counter"] = 0
        info["cumulative_rewards"] = 0.0
        return observation, info

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.step_counter += 1
        self.cumulative_rewards += reward
        info["step_counter"] = self.step_counter
        info["cumulative_rewards"] = self.cumulative_rewards
        return observation, reward, terminated, truncated, info
