"""Advantages against numbers worked out by hand."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, strategies as st
from torch import tensor

from gem_rl import advantages

REWARDS_NT = tensor([[0.0, 0.0, 1.0], [0.5, 2.0, 0.0]])
MASK_NT = tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])


def close(found: torch.Tensor, wanted: object) -> None:
    torch.testing.assert_close(found, torch.as_tensor(wanted), atol=1e-6, rtol=1e-5)


def test_returns_discount_what_comes_after() -> None:
    close(advantages.returns(REWARDS_NT, MASK_NT, 0.5), [[0.25, 0.5, 1.0], [0.5 + 0.5 * 2.0, 2.0, 0.0]])


def test_returns_with_gamma_one_are_rewards_to_go() -> None:
    close(advantages.returns(REWARDS_NT, MASK_NT, 1.0), [[1.0, 1.0, 1.0], [2.5, 2.0, 0.0]])


def test_returns_of_a_one_turn_episode_are_its_reward() -> None:
    close(advantages.returns(tensor([[0.7]]), tensor([[1.0]]), 0.9), [[0.7]])


def test_returns_ignore_what_stands_at_padding() -> None:
    rewards_NT = REWARDS_NT.clone()
    rewards_NT[1, 2] = 99.0
    close(advantages.returns(rewards_NT, MASK_NT, 0.5), [[0.25, 0.5, 1.0], [1.5, 2.0, 0.0]])


def test_episode_rewards_are_undiscounted() -> None:
    close(advantages.episode_rewards(REWARDS_NT, MASK_NT), [1.0, 2.5])


def test_rebn_normalises_over_every_turn_of_every_episode() -> None:
    # returns 1, 2, 3, 6: mean 3, population variance (4 + 1 + 0 + 9) / 4 = 3.5
    values_NT, mask_NT = tensor([[1.0, 2.0, 3.0], [6.0, 0.0, 0.0]]), tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    std = 3.5**0.5
    close(advantages.normalise_batch(values_NT, mask_NT), [[-2 / std, -1 / std, 0.0], [3 / std, 0.0, 0.0]])


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1e6])
def test_normalising_equal_values_gives_zeros_not_amplified_rounding(value: float) -> None:
    values_NT = torch.full((3, 7), value)
    assert not advantages.normalise_batch(values_NT, torch.ones(3, 7)).any()


def test_grpo_compares_within_the_group() -> None:
    # group 0: 1, 3 -> mean 2, std 1; group 1: 0, 0, 3 -> mean 1, std sqrt(2)
    rewards_N, groups_N = tensor([1.0, 0.0, 3.0, 0.0, 3.0]), tensor([0, 1, 0, 1, 1])
    root = 2**0.5
    close(advantages.relative_to_group(rewards_N, groups_N, True), [-1.0, -1 / root, 1.0, -1 / root, 2 / root])


def test_dr_grpo_does_not_divide() -> None:
    rewards_N, groups_N = tensor([1.0, 0.0, 3.0, 0.0, 3.0]), tensor([0, 1, 0, 1, 1])
    close(advantages.relative_to_group(rewards_N, groups_N, False), [-1.0, -1.0, 1.0, -1.0, 2.0])


@pytest.mark.parametrize("divide_by_std", [True, False])
def test_groups_without_spread_give_zeros(divide_by_std: bool) -> None:
    rewards_N, groups_N = tensor([0.1, 0.1, 0.1, 5.0]), tensor([0, 0, 0, 1])
    assert not advantages.relative_to_group(rewards_N, groups_N, divide_by_std).any()


def test_gae_by_hand() -> None:
    # gamma 0.5, lambda 0.5; episode 0 terminates, episode 1 is truncated where the critic says 4
    values_NT = tensor([[1.0, 2.0, 3.0], [2.0, 1.0, 7.0]])
    bootstrap_N = tensor([0.0, 4.0])
    # episode 0: deltas 0 + 1 - 1 = 0, 0 + 1.5 - 2 = -0.5, 1 - 3 = -2; A2 = -2, A1 = -0.5 - 0.5 = -1, A0 = -0.25
    # episode 1: deltas 0.5 + 0.5 - 2 = -1, 2 + 2 - 1 = 3;             A1 = 3, A0 = -1 + 0.75 = -0.25
    found, targets = advantages.gae(REWARDS_NT, values_NT, bootstrap_N, MASK_NT, 0.5, 0.5)
    close(found, [[-0.25, -1.0, -2.0], [-0.25, 3.0, 0.0]])
    close(targets, [[0.75, 1.0, 1.0], [1.75, 4.0, 0.0]])


def test_gae_with_lambda_one_is_return_minus_value() -> None:
    values_NT = tensor([[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]])
    found, targets = advantages.gae(REWARDS_NT, values_NT, torch.zeros(2), MASK_NT, 0.9, 1.0)
    close(targets, advantages.returns(REWARDS_NT, MASK_NT, 0.9))
    close(found, (advantages.returns(REWARDS_NT, MASK_NT, 0.9) - values_NT) * MASK_NT)


rows = st.lists(st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=5), min_size=1, max_size=6)


@given(rows)
def test_normalised_values_have_mean_zero_and_std_one_or_are_all_zero(lists: list[list[float]]) -> None:
    longest = max(map(len, lists))
    values_NT = tensor([row + [0.0] * (longest - len(row)) for row in lists])
    mask_NT = tensor([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in lists])
    found = advantages.normalise_batch(values_NT, mask_NT)
    assert torch.isfinite(found).all()
    assert not found[mask_NT == 0].any()
    flat = found[mask_NT.bool()]
    if flat.any():
        assert abs(float(flat.mean())) < 1e-2
        assert float(flat.std(correction=0)) == pytest.approx(1.0, abs=1e-2)


@given(rows, st.floats(0.05, 1.0))
def test_returns_agree_with_the_definition(lists: list[list[float]], gamma: float) -> None:
    longest = max(map(len, lists))
    rewards_NT = tensor([row + [0.0] * (longest - len(row)) for row in lists])
    mask_NT = tensor([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in lists])
    found = advantages.returns(rewards_NT, mask_NT, gamma)
    for n, row in enumerate(lists):
        for t in range(len(row)):
            assert float(found[n, t]) == pytest.approx(
                sum(gamma ** (k - t) * row[k] for k in range(t, len(row))), abs=1e-3
            )
