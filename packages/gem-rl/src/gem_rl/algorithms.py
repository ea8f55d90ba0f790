"""REINFORCE, ReBN, GRPO, Dr. GRPO and PPO side by side, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gem_rl import advantages
from gem_rl.batch import Turns
from gem_rl.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Signal:
    """What an algorithm gets to judge turns by."""

    turns: Turns
    gamma: float
    lam: float = 1.0
    #: The critic's values, and those beyond the end of truncated episodes; only for algorithms with a critic.
    values_NT: Tensor | None = None
    bootstrap_N: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an algorithm makes of it."""

    advantages_NT: Tensor
    #: What the critic learns; ``None`` without a critic.
    targets_NT: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One row of the table below."""

    name: str
    #: One line for `gem train --help`.
    summary: str
    judge: Callable[[Signal], Judgement]
    #: Compares episodes from one initial state, so each task is played several times.
    needs_groups: bool = False
    needs_critic: bool = False
    #: The only gamma the algorithm is defined for; ``None``: any.
    only_gamma: float | None = None
    #: What token sums are divided by unless the configuration says otherwise: ``"tokens"`` or ``"constant"``.
    divide_by: str = "tokens"

    def check(self, gamma: float, group_size: int) -> None:
        """Raise :class:`ConfigError` where the settings contradict the algorithm."""
        if not 0 < gamma <= 1:
            raise ConfigError(f"gamma must be in (0, 1], got {gamma}")
        if self.only_gamma is not None and gamma != self.only_gamma:
            raise ConfigError(
                f"{self.name} compares whole episodes, so gamma is {self.only_gamma:g} by construction, got {gamma}: "
                f"use gamma {self.only_gamma:g}, or an algorithm with per-turn returns such as rebn"
            )
        if self.needs_groups and group_size < 2:
            raise ConfigError(f"{self.name} needs groups of at least 2 episodes, got group_size {group_size}")


def _returns(signal: Signal) -> Judgement:
    turns = signal.turns
    return Judgement(advantages.returns(turns.rewards_NT, turns.mask_NT, signal.gamma))


def _normalised_returns(signal: Signal) -> Judgement:
    return Judgement(advantages.normalise_batch(_returns(signal).advantages_NT, signal.turns.mask_NT))


def _group_relative(signal: Signal, divide_by_std: bool) -> Judgement:
    turns = signal.turns
    rewards_N = advantages.episode_rewards(turns.rewards_NT, turns.mask_NT)
    advantages_N = advantages.relative_to_group(rewards_N, turns.groups_N, divide_by_std)
    return Judgement(advantages_N[:, None] * turns.mask_NT)


def _gae(signal: Signal) -> Judgement:
    assert signal.values_NT is not None
    assert signal.bootstrap_N is not None
    turns = signal.turns
    bootstrap_N = torch.where(turns.truncated_N, signal.bootstrap_N, torch.zeros_like(signal.bootstrap_N))
    return Judgement(
        *advantages.gae(turns.rewards_NT, signal.values_NT, bootstrap_N, turns.mask_NT, signal.gamma, signal.lam)
    )


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("reinforce", "the turn's return", _returns),
        Algorithm("rebn", "returns normalised over the batch (ReBN)", _normalised_returns),
        Algorithm(
            "grpo",
            "episode reward against its group, over the group's std",
            lambda signal: _group_relative(signal, divide_by_std=True),
            needs_groups=True,
            only_gamma=1.0,
        ),
        Algorithm(
            "dr-grpo",
            "episode reward against its group, no std, no length normalisation",
            lambda signal: _group_relative(signal, divide_by_std=False),
            needs_groups=True,
            only_gamma=1.0,
            divide_by="constant",
        ),
        Algorithm("ppo", "generalised advantage estimation with a critic", _gae, needs_critic=True),
    )
}


def algorithm(name: str) -> Algorithm:
    """The algorithm of that name; raises :class:`ConfigError` that lists them."""
    try:
        return ALGORITHMS[name]
    except KeyError:
        raise ConfigError(f"unknown algorithm {name!r}: choose one of {', '.join(ALGORITHMS)}") from None
