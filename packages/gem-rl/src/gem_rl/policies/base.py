"""The interface between trainer and model: respond to observations, score what was responded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gem.rollout import Episode, Response


@dataclass(slots=True)
class Packed:
    """One token sequence to learn from: an episode, or a part of it whose prompts extend one another.

    Positions count from 0 in ``ids``; every list that follows ``responses`` has its length.
    """

    ids: list[int]
    #: Positions of the sampled tokens.
    responses: list[int]
    #: The turn each sampled token belongs to, numbered over the whole batch.
    turns: list[int]
    #: The sampler's log-probability of each sampled token.
    logprobs: list[float]
    #: Positions of the last token of each prompt, where the critic looks.
    prompt_ends: list[int]
    #: The turn each of ``prompt_ends`` belongs to.
    prompt_turns: list[int]


@dataclass(slots=True)
class Scores:
    """What the learner's model says about packed sequences, in their order."""

    #: ``[K]`` log-probability of every sampled token.
    logprobs_K: Tensor
    #: ``[K]`` entropy, in nats, of the distribution each was drawn from.
    entropy_K: Tensor
    #: ``[M]`` value at the end of every prompt; ``None`` without a critic.
    values_M: Tensor | None


class Policy(ABC):
    """A model that responds and can be trained.

    It is itself a policy for :class:`gem.rollout.Collector`: a batch of observations in, as many responses out, with
    the episodes, whose earlier turns are the conversation so far.
    """

    #: The module whose parameters are trained.
    model: nn.Module
    #: Wrappers that show the environment the way the policy reads it, unless the run names others.
    wrappers: Any = "latest"
    #: The most tokens of one response.
    max_tokens: int
    temperature: float = 1.0
    #: Take the likeliest token instead of sampling.
    greedy: bool = False
    #: Whether responses are sampled by the very model that learns. False for another engine, whose log-probabilities
    #: differ a little and are corrected for by importance sampling.
    same_engine: bool = True

    def __init__(self, device: torch.device) -> None:
        self.device = device
        #: Sampling draws from this generator only.
        self.generator = torch.Generator(device)

    def seed(self, seed: int) -> None:
        """Reseed the sampling generator."""
        self.generator.manual_seed(seed)

    @abstractmethod
    def __call__(
        self,
        observations: Sequence[Any],
        *,
        episodes: Sequence[Episode],
        max_tokens: Sequence[int | None] | None = None,
    ) -> list[Response]:
        """One response to each observation, with its prompt ids, response ids and log-probabilities.

        Args:
            observations: the latest observation of each episode.
            episodes: the episodes they belong to; their turns hold the token ids of the conversation so far.
            max_tokens: a limit for each response, besides :attr:`max_tokens`.
        """

    @abstractmethod
    def prompt_ids(self, episode: Episode) -> list[int]:
        """The prompt that :attr:`Episode.observation` makes after the episode's turns; begins with their token ids."""

    @abstractmethod
    def score(self, sequences: Sequence[Packed], with_values: bool = False) -> Scores:
        """Log-probabilities, entropies and values of packed sequences, with gradients where they are enabled."""

    @abstractmethod
    def save(self) -> dict[str, Any]:
        """Everything that :meth:`load` needs to be this policy again; tensors and JSON-able values."""

    @abstractmethod
    def load(self, state: dict[str, Any]) -> None:
        """Become the policy that was saved."""

    def eos(self) -> int:
        """The token that ends a response."""
        raise NotImplementedError


def text_of(observation: Any) -> str:
    """The text of an observation; of chat messages, that of the last one.

    Raises:
        TypeError: it holds something else than text.
    """
    if isinstance(observation, str):
        return observation
    if observation and "role" in observation[-1]:
        return text_of(observation[-1]["content"])
    others = [part.get("type") for part in observation if part.get("type") != "text"]
    if others:
        raise TypeError(f"this policy reads text only, the observation holds {others[0]!r}")
    return "\n".join(part["text"] for part in observation)


def draw(logits_BV: Tensor, temperature: float, greedy: bool, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A token for each row and its log-probability under the tempered distribution: ``(ids_B, logprobs_B)``."""
    logprobs_BV = (logits_BV.float() / temperature).log_softmax(-1)
    if greedy:
        ids_B = logprobs_BV.argmax(-1)
    else:
        ids_B = torch.multinomial(logprobs_BV.exp(), 1, generator=generator).squeeze(-1)
    return ids_B, logprobs_BV.gather(-1, ids_B.unsqueeze(-1)).squeeze(-1)
