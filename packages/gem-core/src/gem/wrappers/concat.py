"""The whole history as one text."""

from __future__ import annotations

from typing import Any

from gem.env import Env, Wrapper, observes
from gem.wrappers.content import Content, join, line, place


class Concat(Wrapper):
    """Shows every observation of the episode, one after the other, each ending its line.

    The prefix goes before the whole and the suffix behind it; they are the newest ones and do not become history.
    A step costs building the returned string, whatever the number of turns.

    Args:
        env: the environment to wrap.
        include_action: put the agent's responses (``info["parsed_action"]`` where the environment gives one) between
            the observations.
    """

    def __init__(self, env: Env, include_action: bool = False) -> None:
        super().__init__(env)
        self.include_action = include_action
        self._history: Content = ""

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options, **kwargs)
        self._history = line(observation)
        return place(self._history, info), info

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        history = self._history
        response = line(info.get("parsed_action", action)) if self.include_action else ""
        observed = line(observation)
        if isinstance(history, str) and isinstance(observed, str):
            history = f"{history}{response}{observed}"
        else:
            history = join((history, response, observed))
        self._history = history
        return place(history, info), reward, terminated, truncated, info
