"""Every algorithm on one batch, against its row in the literature."""

from __future__ import annotations

import pytest
import torch
from builders import episode

from gem_rl.algorithms import ALGORITHMS, Signal, algorithm
from gem_rl.batch import turns
from gem_rl.errors import ConfigError

# two groups of two: rewards 1 and 0; 0.5 twice
EPISODES = [
    episode([0.0, 1.0], group="a"),
    episode([0.0], group="a"),
    episode([0.5], group="b"),
    episode([0.5, 0.0], group="b", truncated=True),
]


def judged(name: str, gamma: float = 1.0, **given: object) -> list[float]:
    batch = turns(EPISODES)
    return batch.flat(algorithm(name).judge(Signal(batch, gamma, **given)).advantages_NT).tolist()


def test_reinforce_is_the_return() -> None:
    assert judged("reinforce", 0.5) == [0.5, 1.0, 0.0, 0.5, 0.5, 0.0]


def test_rebn_is_the_return_normalised_over_all_turns() -> None:
    returns = torch.tensor([0.5, 1.0, 0.0, 0.5, 0.5, 0.0])
    wanted = (returns - returns.mean()) / returns.std(correction=0)
    assert judged("rebn", 0.5) == pytest.approx(wanted.tolist(), abs=1e-6)


def test_grpo_gives_every_turn_the_episodes_advantage() -> None:
    assert judged("grpo") == pytest.approx([1.0, 1.0, -1.0, 0.0, 0.0, 0.0])


def test_dr_grpo_does_not_divide_by_the_std() -> None:
    assert judged("dr-grpo") == pytest.approx([0.5, 0.5, -0.5, 0.0, 0.0, 0.0])


def test_ppo_bootstraps_through_truncation_and_never_through_termination() -> None:
    values_NT, bootstrap_N = torch.zeros(4, 2), torch.full((4,), 2.0)
    found = judged("ppo", 0.5, lam=1.0, values_NT=values_NT, bootstrap_N=bootstrap_N)
    # the last episode alone was cut off: its value of 2 comes in, discounted
    assert found == pytest.approx([0.5, 1.0, 0.0, 0.5, 0.5 + 0.25 * 2.0, 0.5 * 2.0])


def test_the_critics_targets_are_returns_for_lambda_one() -> None:
    batch = turns(EPISODES)
    signal = Signal(batch, 0.5, 1.0, torch.rand(4, 2), torch.zeros(4))
    targets = algorithm("ppo").judge(signal).targets_NT
    assert batch.flat(targets).tolist() == pytest.approx([0.5, 1.0, 0.0, 0.5, 0.5, 0.0], abs=1e-6)


@pytest.mark.parametrize("name", ["grpo", "dr-grpo"])
def test_group_algorithms_refuse_another_gamma(name: str) -> None:
    algorithm(name).check(1.0, 4)
    with pytest.raises(ConfigError, match=r"gamma is 1 by construction, got 0\.9"):
        algorithm(name).check(0.9, 4)


@pytest.mark.parametrize("name", ["grpo", "dr-grpo"])
def test_group_algorithms_need_groups(name: str) -> None:
    with pytest.raises(ConfigError, match="groups of at least 2"):
        algorithm(name).check(1.0, 1)


@pytest.mark.parametrize("gamma", [0.0, -0.1, 1.01, float("nan")])
def test_gamma_lies_above_zero_and_up_to_one(gamma: float) -> None:
    with pytest.raises(ConfigError, match="gamma must be in"):
        algorithm("rebn").check(gamma, 1)


@pytest.mark.parametrize("name", ["reinforce", "rebn", "ppo"])
@pytest.mark.parametrize("gamma", [1e-3, 0.5, 1.0])
def test_the_others_take_any_gamma(name: str, gamma: float) -> None:
    algorithm(name).check(gamma, 1)


def test_an_unknown_algorithm_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match="unknown algorithm 'a2c': choose one of reinforce, rebn, grpo, dr-grpo, ppo"):
        algorithm("a2c")


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_equal_returns_give_no_group_or_batch_advantage(name: str) -> None:
    batch = turns([episode([0.1], group=str(n // 2)) for n in range(6)])
    zeros = torch.zeros(6)
    found = algorithm(name).judge(Signal(batch, 1.0, 1.0, torch.zeros(6, 1), zeros)).advantages_NT
    assert torch.isfinite(found).all()
    if name not in ("reinforce", "ppo"):
        assert not found.any()
