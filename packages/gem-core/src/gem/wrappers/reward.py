"""Rewards on another scale, or within bounds."""

from __future__ import annotations

from typing import Any

from gem.env import Env, Wrapper, observes


class RewardScale(Wrapper):
    """Gives ``scale * reward + shift`` for each turn's reward."""

    def __init__(self, env: Env, scale: float = 1.0, shift: float = 0.0) -> None:
        super().__init__(env)
        self.scale = scale
        self.shift = shift

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, self.scale * reward + self.shift, terminated, truncated, info


class RewardClip(Wrapper):
    """Keeps each turn's reward within ``[low, high]``."""

    def __init__(self, env: Env, low: float = -1.0, high: float = 1.0) -> None:
        super().__init__(env)
        if not low <= high:
            raise ValueError(f"low must not be above high, got low={low}, high={high}")
        self.low = low
        self.high = high

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, min(max(reward, self.low), self.high), terminated, truncated, info
