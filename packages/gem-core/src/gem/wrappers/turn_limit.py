"""Episodes of at most so many turns."""

from __future__ import annotations

from typing import Any

from gem.env import Env, Wrapper, observes
from gem.errors import ResetNeeded


class TurnLimit(Wrapper):
    """Truncates an episode after ``max_turns`` turns. A turn that ends the task by itself stays ``terminated`` only.

    Args:
        env: the environment to wrap.
        max_turns: at least 1.
    """

    def __init__(self, env: Env, max_turns: int) -> None:
        super().__init__(env)
        if max_turns < 1:
            raise ValueError(f"max_turns must be at least 1, got {max_turns}")
        self.max_turns = max_turns
        self._turns = max_turns  # as after an episode: reset first

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        self._turns = 0
        return super().reset(seed=seed, options=options, **kwargs)

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._check()
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._turns += 1
        if self._turns >= self.max_turns and not terminated:
            truncated = True
            info.setdefault("success", False)  # the episode has ended, and the environment does not know
        return observation, reward, terminated, truncated, info

    async def astep(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._check()  # before the environment inside is stepped
        return await super().astep(action)

    def _check(self) -> None:
        if self._turns >= self.max_turns:
            raise ResetNeeded
