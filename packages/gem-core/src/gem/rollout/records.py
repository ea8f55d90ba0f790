"""The record of an episode, which learners, evaluators and foreign trainers all read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from gem.env import Env


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


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task: an environment, its options and a seed. Travels as one line of JSON, rebuilds anywhere."""

    env_id: str
    kwargs: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def make(self) -> Env:
        """The environment, not yet reset; reset it with ``seed=task.seed``."""
        from gem.registry import make

        return make(self.env_id, **self.kwargs)

    def to_json(self) -> str:
        return json.dumps({"env_id": self.env_id, "kwargs": self.kwargs, "seed": self.seed})

    @classmethod
    def from_json(cls, text: str) -> TaskSpec:
        return cls(**json.loads(text))
