"""MathEnv: options, rewards, reasons, and what 64 of them cost."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import gem
from gem.testing import EnvSuite
from gem_math.env import MathEnv
from gem_math.grading import judge as judge_module


def env_of(*answers: Any, **options: Any) -> MathEnv:
    return MathEnv(dataset=[{"problem": "?", "answer": a} for a in answers], **options)


def step(env: MathEnv, action: str, idx: int = 0) -> tuple[float, bool, bool, str]:
    env.reset(idx=idx)
    _, reward, terminated, truncated, info = env.step(action)
    return reward, terminated, truncated, info["reason"]


def test_rewards_and_flags() -> None:
    env = env_of("5")
    assert step(env, r"\boxed{5}") == (1.0, True, False, "correct")
    assert step(env, r"\boxed{6}") == (0.0, True, False, "wrong")
    assert step(env, "5") == (0.0, True, False, "no_answer")
    assert step(env_of("5", use_format_error_reward=True), "5") == (-0.1, True, False, "no_answer")


def test_gold_types_and_a_row_without_an_answer() -> None:
    env = env_of([6, 7], 7.0, None)
    assert step(env, r"\boxed{7}", 0)[0] == step(env, r"\boxed{7}", 1)[0] == 1.0
    with pytest.raises(
        gem.DataError, match="row 2 of the data set in memory: 'answer' is None, expected a text or a number"
    ):
        env.reset(idx=2)


def test_one_bad_answer_does_not_poison_the_next_ones() -> None:
    env = env_of("x+1/3")
    assert step(env, r"\boxed{9**9**9**9}")[0] == 0.0
    assert [step(env, r"\boxed{x+1/3}")[0] for _ in range(5)] == [1.0] * 5


def test_in_a_thread_with_and_without_a_second_process() -> None:
    found: list[float] = []
    for use_mp in (False, True):
        thread = threading.Thread(
            target=lambda use_mp=use_mp: found.append(step(env_of("5", use_mp=use_mp), r"\boxed{5}")[0])
        )
        thread.start()
        thread.join()
    assert found == [1.0, 1.0]


def test_many_environments_need_no_process_of_their_own() -> None:
    before = judge_module._judge.pids()
    envs = [gem.make("math:sample") for _ in range(64)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
        env.step(r"\boxed{1}")
        env.close()
    assert judge_module._judge.pids() == before


def test_options_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="timeout must be positive"):
        env_of("5", timeout=0)
    with pytest.raises(TypeError, match=r"there is no rule 'percents' \(rules: percent_both_ways, "):
        gem.make("math:sample", rules={"percents": True})
    with pytest.raises(TypeError, match="max_trun"):
        gem.make("math:sample", max_trun=3)
    with pytest.raises(gem.DataError, match="has no column 'question'; its columns are problem, answer"):
        env_of("5", question_key="question")


def test_the_reward_of_the_gold_answer_is_one_for_every_sample_row() -> None:
    env = gem.make("math:sample")
    for idx, answer in enumerate(env.table.column("answer")):
        assert step(env, rf"\boxed{{{answer}}}", idx)[0] == 1.0


class TestConforms(EnvSuite):
    env_ids = ["math:sample"]
