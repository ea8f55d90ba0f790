"""Losses over tokens: pure functions of log-probabilities, advantages and masks.

Axis suffixes: ``K`` tokens in any shape (``[B, T]`` with a mask, or the sampled tokens alone, ``[K]``), ``V``
vocabulary. A mask is one on sampled (response) tokens and zero on prompt, environment and padding tokens, which then
never contribute a gradient.
"""

from __future__ import annotations

import torch
from torch import Tensor

#: exp() of a log ratio beyond this adds nothing but infinities; the gradient there is zero.
MAX_LOG_RATIO = 20.0


def reduce_tokens(loss_K: Tensor, divisor: float, mask_K: Tensor | None = None) -> Tensor:
    """Sum over sampled tokens, over ``divisor``: the global token count, or Dr. GRPO's constant.

    The divisor is given, never taken from this (micro-)batch, so that gradient accumulation over micro-batches equals
    one large batch.
    """
    if mask_K is not None:
        # not a product: padding may hold infinities, and 0 * inf is nan
        loss_K = torch.where(mask_K.bool(), loss_K, torch.zeros_like(loss_K))
    return loss_K.sum() / divisor


def reinforce(logprobs_K: Tensor, advantages_K: Tensor) -> Tensor:
    """``-A * log pi(token)``, per token. Its gradient is the policy gradient when the batch is used once.

    Source: Williams, *Simple Statistical Gradient-Following Algorithms*, 1992.
    """
    return -advantages_K * logprobs_K


def ratio(logprobs_K: Tensor, old_logprobs_K: Tensor) -> Tensor:
    """``pi(token) / pi_old(token)``, finite for any log-probabilities."""
    return (logprobs_K - old_logprobs_K).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()


def clipped(
    logprobs_K: Tensor, old_logprobs_K: Tensor, advantages_K: Tensor, clip_low: float, clip_high: float
) -> Tensor:
    """``-min(rho * A, clip(rho, 1 - clip_low, 1 + clip_high) * A)``, per token.

    Source: Schulman et al., *Proximal Policy Optimization* (arXiv:1707.06347), eq. 7.
    """
    rho_K = ratio(logprobs_K, old_logprobs_K)
    clipped_K = rho_K.clamp(1 - clip_low, 1 + clip_high)
    return -torch.minimum(rho_K * advantages_K, clipped_K * advantages_K)


def clip_active(
    logprobs_K: Tensor, old_logprobs_K: Tensor, advantages_K: Tensor, clip_low: float, clip_high: float
) -> Tensor:
    """Where the clipped surrogate has no gradient because the policy moved far enough already, boolean."""
    rho_K = ratio(logprobs_K, old_logprobs_K)
    return ((advantages_K > 0) & (rho_K > 1 + clip_high)) | ((advantages_K < 0) & (rho_K < 1 - clip_low))


def importance_weights(learner_logprobs_K: Tensor, sampler_logprobs_K: Tensor, cap: float) -> Tensor:
    """``min(pi_learner / pi_sampler, cap)`` per token, without gradient: truncated importance sampling.

    Corrects for a sampler that is another engine (other kernels, other precision) than the learner.

    Source: Ionides, *Truncated Importance Sampling*, 2008; Yao et al., *Your Efficient RL Framework Secretly Brings
    You Off-Policy RL Training*, 2025.
    """
    return ratio(learner_logprobs_K, sampler_logprobs_K).clamp(max=cap).detach()


def kl_k3(logprobs_K: Tensor, reference_logprobs_K: Tensor) -> Tensor:
    """Per-token estimate of ``KL(pi || reference)`` from tokens sampled from ``pi``: never negative.

    ``exp(d) - d - 1`` with ``d = log reference - log pi``.

    Source: Schulman, *Approximating KL Divergence*, 2020.
    """
    d_K = (reference_logprobs_K - logprobs_K).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    return d_K.exp() - d_K - 1


def value(values_K: Tensor, old_values_K: Tensor, targets_K: Tensor, clip: float | None) -> Tensor:
    """Squared error of the critic, per turn: ``0.5 * max((V - G)^2, (clip(V, V_old +- clip) - G)^2)``.

    Source: the PPO reference implementation (Schulman et al.); ``clip=None`` is the plain squared error.
    """
    error_K = (values_K - targets_K).square()
    if clip is not None:
        near_K = old_values_K + (values_K - old_values_K).clamp(-clip, clip)
        error_K = torch.maximum(error_K, (near_K - targets_K).square())
    return 0.5 * error_K


def token_logprobs(logits_KV: Tensor, ids_K: Tensor) -> Tensor:
    """Log-probability of each id under its logits, ``[K]``."""
    return logits_KV.log_softmax(-1).gather(-1, ids_K.unsqueeze(-1)).squeeze(-1)


def entropy(logits_KV: Tensor) -> Tensor:
    """Entropy in nats of each distribution, ``[K]``."""
    logprobs_KV = logits_KV.log_softmax(-1)
    return -(logprobs_KV.exp() * logprobs_KV).sum(-1)
