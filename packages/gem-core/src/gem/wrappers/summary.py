"""The history with its older part summarised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gem.env import Env, observes
from gem.wrappers.content import join, line
from gem.wrappers.messages import Message
from gem.wrappers.window import Window


class Summary(Window):
    """Shows the first observation, a summary of the older turns, and the newer turns as they are.

    When more than ``turns`` turns are held, ``summarise(summary, messages)`` is given the summary so far (``""`` at
    first) and all but the newest ``keep`` of them, and returns the summary that takes their place.

    Args:
        env: the environment to wrap.
        summarise: the function, which may well ask a model.
        turns: how many turns are held before the older ones are summarised.
        keep: how many of the newest turns stay as they are.
        form: ``"text"`` or ``"messages"``.
        heading: what stands in front of the summary.
    """

    state_excludes = (*Window.state_excludes, "summarise")

    def __init__(
        self,
        env: Env,
        summarise: Callable[[str, list[Message]], str],
        turns: int = 8,
        keep: int = 2,
        form: str = "text",
        heading: str = "Summary of the turns before:\n",
    ) -> None:
        super().__init__(env, turns=turns, form=form)
        if not callable(summarise):
            raise TypeError(f"summarise must be a function (summary, messages) -> str, got {summarise!r}")
        if not 1 <= keep <= turns:
            raise ValueError(f"keep must be between 1 and turns={turns}, got {keep}")
        self.summarise = summarise
        self.keep = keep
        self.heading = heading
        self._summary = ""

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        self._summary = ""
        return super().reset(seed=seed, options=options, **kwargs)

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return super().step(action)  # without the mark: asking a model blocks

    def _shrink(self) -> None:
        if not self._overfull():
            return
        messages: list[Message] = []
        while len(self._held) > self.keep:
            response, role, observation, _ = self._held.popleft()
            messages.append({"role": "assistant", "content": response})
            messages.append({"role": role, "content": observation})
        summary = self.summarise(self._summary, messages)
        if not isinstance(summary, str):
            raise TypeError(f"summarise must return a str, got {type(summary).__name__}")
        self._summary = summary

    def _beginning(self) -> list[Message]:
        messages = super()._beginning()
        if self._summary:
            # in the first message: chat templates want user and assistant to take turns
            told = join((line(messages[0]["content"]), f"{self.heading}{self._summary}"))
            messages[0] = {**messages[0], "content": told}
        return messages
