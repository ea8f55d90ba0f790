"""Losses against numbers worked out by hand, and at the edge of what floats hold."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, tensor

from gem_rl import losses

close = torch.testing.assert_close


def test_reinforce_weighs_log_probabilities_by_advantage() -> None:
    close(losses.reinforce(tensor([-1.0, -2.0]), tensor([3.0, -0.5])), tensor([3.0, -1.0]))


def test_masked_tokens_have_neither_loss_nor_gradient() -> None:
    logprobs_BT = tensor([[-1.0, -2.0], [-3.0, -4.0]], requires_grad=True)
    mask_BT = tensor([[0.0, 1.0], [1.0, 0.0]])
    loss = losses.reduce_tokens(losses.reinforce(logprobs_BT, torch.ones(2, 2)), 2.0, mask_BT)
    assert float(loss.detach()) == pytest.approx((2.0 + 3.0) / 2)
    loss.backward()
    close(logprobs_BT.grad, tensor([[0.0, -0.5], [-0.5, 0.0]]))


def test_infinities_at_masked_places_do_not_become_nan() -> None:
    loss_K = tensor([1.0, math.inf])
    assert float(losses.reduce_tokens(loss_K, 1.0, tensor([1.0, 0.0]))) == 1.0


def test_micro_batches_add_up_to_the_batch() -> None:
    loss_K = tensor([1.0, 2.0, 4.0])
    whole = losses.reduce_tokens(loss_K, 3.0)
    close(losses.reduce_tokens(loss_K[:1], 3.0) + losses.reduce_tokens(loss_K[1:], 3.0), whole)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "moves"),
    [
        (1.0, 2.0, -2.0, True),
        (1.5, 2.0, -1.2 * 2.0, False),  # far enough towards a good token
        (0.5, 2.0, -0.5 * 2.0, True),  # away from a good token: always pulled back
        (0.5, -2.0, 0.8 * 2.0, False),
        (1.5, -2.0, 1.5 * 2.0, True),
    ],
)
def test_clipped_surrogate_by_hand(ratio: float, advantage: float, loss: float, moves: bool) -> None:
    logprobs_K = tensor([math.log(ratio) - 1.0], requires_grad=True)
    arguments = (logprobs_K, tensor([-1.0]), tensor([advantage]), 0.2, 0.2)
    found = losses.clipped(*arguments)
    assert float(found.detach()) == pytest.approx(loss, rel=1e-5)
    found.sum().backward()
    assert bool(logprobs_K.grad) is moves
    assert bool(losses.clip_active(*arguments)) is not moves


def test_the_first_clipped_update_has_the_policy_gradient() -> None:
    logprobs_K = tensor([-1.0, -2.0], requires_grad=True)
    losses.clipped(logprobs_K, logprobs_K.detach(), tensor([3.0, -0.5]), 0.2, 0.2).sum().backward()
    close(logprobs_K.grad, tensor([-3.0, 0.5]))


@pytest.mark.parametrize("log_ratio", [100.0, -100.0])
@pytest.mark.parametrize("advantage", [1.0, -1.0])
def test_everything_is_finite_at_log_ratio_100(log_ratio: float, advantage: float) -> None:
    logprobs_K = tensor([log_ratio - 200.0], requires_grad=True)
    old_K = tensor([-200.0])
    parts = [
        losses.clipped(logprobs_K, old_K, tensor([advantage]), 0.2, 0.2),
        losses.kl_k3(logprobs_K, old_K),
        losses.importance_weights(logprobs_K, old_K, 2.0),
    ]
    total = torch.stack(parts).sum()
    total.backward()
    assert torch.isfinite(total)
    assert torch.isfinite(logprobs_K.grad).all()


def test_importance_weights_are_capped_and_have_no_gradient() -> None:
    learner_K = tensor([-1.0, -1.0, -1.0], requires_grad=True)
    sampler_K = tensor([-1.0, -1.0 - math.log(4.0), -1.0 + math.log(4.0)])
    weights_K = losses.importance_weights(learner_K, sampler_K, cap=2.0)
    close(weights_K, tensor([1.0, 2.0, 0.25]))
    assert not weights_K.requires_grad


def test_k3_by_hand_and_never_negative() -> None:
    found = losses.kl_k3(tensor([-1.0, -1.0, -1.0]), tensor([-1.0, -1.0 + math.log(2.0), -1.0 - math.log(2.0)]))
    close(found, tensor([0.0, 2 - math.log(2) - 1, 0.5 + math.log(2) - 1]))
    assert bool((losses.kl_k3(torch.randn(100), torch.randn(100)) >= 0).all())


def test_k3_estimates_the_divergence() -> None:
    p, q = tensor([0.7, 0.2, 0.1]), tensor([0.5, 0.3, 0.2])
    exact = float((p * (p / q).log()).sum())
    assert float((p * losses.kl_k3(p.log(), q.log())).sum()) == pytest.approx(exact, rel=1e-5)


def test_value_loss_plain_and_clipped() -> None:
    values, old, targets = tensor([2.0]), tensor([1.0]), tensor([1.5])
    assert float(losses.value(values, old, targets, None)) == pytest.approx(0.5 * 0.25)
    # clipped to 1.2: (1.2 - 1.5)^2 = 0.09 < 0.25, the larger one counts
    assert float(losses.value(values, old, targets, 0.2)) == pytest.approx(0.5 * 0.25)
    # clipped to 1.2 while the target is 3: (1.8)^2 > (1.0)^2
    assert float(losses.value(values, old, tensor([3.0]), 0.2)) == pytest.approx(0.5 * 1.8**2, rel=1e-5)


def test_entropy_of_even_and_of_certain_distributions() -> None:
    close(losses.entropy(torch.zeros(1, 4)), tensor([math.log(4.0)]))
    certain = tensor([[0.0, -1e4, -1e4]])
    close(losses.entropy(certain), tensor([0.0]))


def test_token_logprobs_pick_the_token() -> None:
    logits: Tensor = tensor([[math.log(1.0), math.log(3.0)]])
    close(losses.token_logprobs(logits, tensor([1])), tensor([math.log(0.75)]))
