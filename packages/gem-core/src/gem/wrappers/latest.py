"""The newest observation alone."""

from __future__ import annotations

from typing import Any

from gem.env import Wrapper, observes
from gem.wrappers.content import frame


class Latest(Wrapper):
    """Shows the newest observation with its prefix and suffix in place, and nothing of what came before."""

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options, **kwargs)
        return frame(observation, info), info

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return frame(observation, info), reward, terminated, truncated, info
