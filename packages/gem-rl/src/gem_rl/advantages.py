"""How much better than expected each turn was: pure functions of rewards, values and groups.

Axis suffixes: ``N`` episodes, ``T`` turns (padded to the longest episode). ``mask_NT`` is true where an episode
has that turn; values at padded places are ignored on the way in and zero on the way out.
"""

from __future__ import annotations

import torch
from torch import Tensor


def returns(rewards_NT: Tensor, mask_NT: Tensor, gamma: float) -> Tensor:
    """Discounted reward-to-go, ``G_t = r_t + gamma * G_{t+1}``, ``[N, T]``.

    Source: Sutton & Barto, *Reinforcement Learning*, 2nd ed., eq. 3.9.
    """
    rewards_NT = rewards_NT * mask_NT
    out_NT = torch.zeros_like(rewards_NT)
    running_N = torch.zeros_like(rewards_NT[:, 0])
    for t in range(rewards_NT.shape[1] - 1, -1, -1):
        running_N = rewards_NT[:, t] + gamma * running_N
        out_NT[:, t] = running_N
    return out_NT * mask_NT


def episode_rewards(rewards_NT: Tensor, mask_NT: Tensor) -> Tensor:
    """Undiscounted reward of each episode, ``R_n = sum_t r_t``, ``[N]``."""
    return (rewards_NT * mask_NT).sum(1)


def all_equal(values: Tensor) -> bool:
    """Whether there is nothing to compare: no spread beyond float rounding, where a std is noise, not signal."""
    spread = values.max() - values.min()
    return bool(spread <= 1e-6 * values.abs().max().clamp(min=1.0))


def normalise_batch(values_NT: Tensor, mask_NT: Tensor) -> Tensor:
    """``(x - mean) / std`` over every turn of every episode in the batch, ``[N, T]``; zeros where all are equal.

    With returns as input this is return batch normalisation (ReBN): Liu et al., *GEM: A Gym for Agentic LLMs*
    (arXiv:2510.01051). With advantages it is PPO's advantage whitening. The std is the population's
    (divided by the count), so that a batch of one turn has an answer, too.
    """
    values = values_NT[mask_NT.bool()]
    if all_equal(values):
        return torch.zeros_like(values_NT)
    return (values_NT - values.mean()) / values.std(correction=0) * mask_NT


def relative_to_group(rewards_N: Tensor, groups_N: Tensor, divide_by_std: bool) -> Tensor:
    """An episode's reward against those of its group (episodes from one initial state), ``[N]``.

    ``R_n - mean(group)``, with ``divide_by_std`` over the group's population std as well. A group whose rewards
    are all equal, or of one episode, gives zeros.

    Source: GRPO, Shao et al., *DeepSeekMath* (arXiv:2402.03300), with the division; Dr. GRPO, Liu et al.,
    *Understanding R1-Zero-Like Training* (arXiv:2503.20783), without.

    Args:
        rewards_N: undiscounted episode rewards.
        groups_N: integer group of each episode.
    """
    out_N = torch.zeros_like(rewards_N)
    for group in groups_N.unique():
        member_N = groups_N == group
        rewards = rewards_N[member_N]
        if all_equal(rewards):
            continue
        centred = rewards - rewards.mean()
        out_N[member_N] = centred / rewards.std(correction=0) if divide_by_std else centred
    return out_N


def gae(
    rewards_NT: Tensor, values_NT: Tensor, bootstrap_N: Tensor, mask_NT: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    """Generalised advantage estimation over turns.

    ``delta_t = r_t + gamma * V_{t+1} - V_t`` and ``A_t = delta_t + gamma * lam * A_{t+1}``. After an episode's last
    turn ``V_{t+1}`` is ``bootstrap_N``: the value of the observation at which it was truncated, zero if it terminated.

    Source: Schulman et al., *High-Dimensional Continuous Control Using GAE* (arXiv:1506.02438), eq. 16.

    Args:
        values_NT: the critic's value of each turn's prompt.
        bootstrap_N: value beyond each episode's end; zero for terminated episodes.

    Returns:
        ``(advantages_NT, targets_NT)``; the targets ``A + V`` are what the critic regresses on.
    """
    mask_NT = mask_NT.to(rewards_NT.dtype)
    advantages_NT = torch.zeros_like(rewards_NT)
    next_value_N = bootstrap_N
    running_N = torch.zeros_like(bootstrap_N)
    for t in range(rewards_NT.shape[1] - 1, -1, -1):
        here_N = mask_NT[:, t]
        delta_N = rewards_NT[:, t] + gamma * next_value_N - values_NT[:, t]
        running_N = torch.where(here_N > 0, delta_N + gamma * lam * running_N, running_N)
        next_value_N = torch.where(here_N > 0, values_NT[:, t], next_value_N)
        advantages_NT[:, t] = running_N * here_N
    return advantages_NT, (advantages_NT + values_NT) * mask_NT
