"""Held-out evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from builders import episode

from gem_rl.evaluation import evaluate, make_collector, summary, turn_limit
from gem_rl.policies.build import build_policy

Make = Callable[..., Any]


def ended(rewards: list[float], success: bool) -> Any:
    made = episode(rewards)
    made.info = {"success": success}
    return made


def test_a_failure_counts_the_turn_limit_however_short_it_was() -> None:
    episodes = [ended([0.0, 1.0], True), ended([-0.1], False)]
    found = summary(episodes, limit=8)
    assert found == pytest.approx({"reward": 0.45, "success": 0.5, "turns": (2 + 8) / 2, "turns_won": 2.0})


def test_without_a_known_limit_turns_are_counted_as_played() -> None:
    assert summary([ended([0.0, 1.0], True), ended([-0.1], False)], None)["turns"] == 1.5


def test_nothing_won_and_nothing_played() -> None:
    assert "turns_won" not in summary([ended([-0.1], False)], 4)
    assert summary([], 4) == {}


def test_an_environment_that_reports_no_success_gets_none() -> None:
    assert summary([episode([0.5, 0.5]), episode([0.0])], limit=8) == {"reward": 0.5, "turns": 1.5}


def test_turn_limits_from_id_option_and_setting(small: Make) -> None:
    assert turn_limit(small()) == 4
    assert turn_limit(small(env_options={"max_turns": 3})) == 3
    assert turn_limit(small(max_turns=2)) == 2


def test_evaluations_are_alike_and_leave_the_policys_stream_alone(small: Make) -> None:
    config = small()
    policy = build_policy(config)
    policy.seed(5)
    state = policy.generator.get_state()
    first, second = (evaluate(policy, config).episodes for _ in range(2))
    assert [[t.response for t in e.turns] for e in first] == [[t.response for t in e.turns] for e in second]
    assert [e.task.seed for e in first] == list(range(12))
    assert torch.equal(policy.generator.get_state(), state)
    assert policy.greedy is False


def test_greedy_evaluation_does_not_depend_on_the_seed(small: Make) -> None:
    policy = build_policy(small())
    texts = [
        [[t.response for t in e.turns] for e in evaluate(policy, small(eval_greedy=True, seed=seed)).episodes]
        for seed in (0, 1)
    ]
    assert texts[0] == texts[1]


def test_unknown_ids_and_options_are_named_at_once(small: Make) -> None:
    with pytest.raises(ValueError, match="did you mean 'toy:Guess-v0'"):
        make_collector(small(env="toy:Gess-v0"), "latest", 1)
    with pytest.raises(TypeError, match="no option 'colour'"):
        make_collector(small(env_options={"colour": 1}), "latest", 1)
