"""The record of an episode, which learners, evaluators and foreign trainers all read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gem.env import Env
from gem.wording import short


@dataclass(slots=True)
class Response:
    """What a policy answers to one observation.

    A policy that returns a plain ``str`` is understood as ``Response(text)``. Token ids are those that were
    sampled; nothing downstream tokenises ``text`` again.
    """

    text: str
    #: The token ids the model was given, ``[P]``.
    prompt_ids: list[int] | None = None
    #: The token ids it sampled, ``[R]``.
    response_ids: list[int] | None = None
    #: The log-probability the sampler gave each of them, ``[R]``.
    logprobs: list[float] | None = None
    #: ``"stop"``, or ``"length"`` when the token limit cut the response.
    finish_reason: str = "stop"
    #: Anything else the policy wants kept, such as a value estimate.
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Turn:
    """One observation, the response to it, and what the environment made of the response."""

    observation: Any
    response: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    prompt_ids: list[int] | None = None
    response_ids: list[int] | None = None
    logprobs: list[float] | None = None
    finish_reason: str = "stop"
    extra: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data; ``Turn(**data)`` is the inverse."""
        data = {name: getattr(self, name) for name in self.__slots__}
        data["observation"] = plain(self.observation)
        return data


def plain(observation: Any) -> Any:
    """An observation as JSON-able data: a conversation becomes a list of its messages."""
    if isinstance(observation, str):
        return observation
    return list(observation) if isinstance(observation, Sequence) else observation


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task: an environment, its options and where an episode starts.

    Travels as one line of JSON and rebuilds anywhere: ``kwargs`` are those of :func:`gem.make`, ``wrappers``
    among them.
    """

    env_id: str
    kwargs: dict[str, Any] = field(default_factory=dict)
    #: What the episode is reset with.
    seed: int | None = None
    options: dict[str, Any] | None = None

    def make(self) -> Env:
        """The environment, not yet reset."""
        from gem.registry import make

        return make(self.env_id, **self.kwargs)

    def reset(self, env: Env) -> tuple[Any, dict[str, Any]]:
        """Begin this task's episode in an environment from :meth:`make`: ``(observation, info)``."""
        return env.reset(seed=self.seed, options=self.options)

    def to_dict(self) -> dict[str, Any]:
        return {"env_id": self.env_id, "kwargs": self.kwargs, "seed": self.seed, "options": self.options}

    def to_json(self) -> str:
        """One line of JSON.

        Raises:
            TypeError: an option is not JSON-able, such as a wrapper given as a function rather than by name.
        """
        try:
            return json.dumps(self.to_dict())
        except TypeError as error:
            raise TypeError(f"this task of {self.env_id!r} cannot travel as JSON: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> TaskSpec:
        """What :meth:`to_json` made.

        Raises:
            ValueError: the text is no task.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ValueError(f"a task is one JSON object; {short(text)} is not: {error}") from None
        if not isinstance(data, dict) or not isinstance(data.get("env_id"), str) or not data.keys() <= _TASK_KEYS:
            raise ValueError(
                f"a task has env_id and perhaps {', '.join(sorted(_TASK_KEYS - {'env_id'}))}; got {short(data)}"
            )
        return cls(**data)


_TASK_KEYS = frozenset(TaskSpec.__dataclass_fields__)
