"""ReasoningGymEnv: the walk, options, levels, state."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import reasoning_gym

import gem
from gem.testing import EnvSuite
from gem_reasoning.env import ReasoningGymEnv


def questions(env: gem.Env, count: int) -> list[str]:
    return [env.reset()[0] for _ in range(count)]


def test_items_are_the_library_s_own() -> None:
    env = ReasoningGymEnv("chain_sum", size=5, seed=7, ask_for_box=False)
    dataset = reasoning_gym.create_dataset("chain_sum", size=5, seed=7)
    assert questions(env, 5) == [item["question"] for item in dataset]


def test_past_the_end_come_new_items() -> None:
    env = ReasoningGymEnv("chain_sum", size=5, seed=7)
    walked = questions(env, 15)
    assert len(set(walked)) > 10
    assert walked == questions(ReasoningGymEnv("chain_sum", size=5, seed=7), 15)


def test_the_seed_picks_and_idx_takes() -> None:
    env = ReasoningGymEnv("chain_sum")
    assert env.reset(seed=3) == ReasoningGymEnv("chain_sum").reset(seed=3)
    assert env.reset(seed=3)[0] != env.reset(seed=4)[0]
    assert env.reset(idx=7) == env.reset(options={"idx": 7})
    assert env.reset(idx=7)[1] == {"idx": 7}
    with pytest.raises(IndexError, match="idx 500 is outside the 500 items of 'chain_sum'"):
        env.reset(idx=500)


def test_the_right_answer_gets_the_full_score() -> None:
    env = ReasoningGymEnv("chain_sum", seed=1)
    env.reset(idx=3)
    answer = reasoning_gym.create_dataset("chain_sum", seed=1, size=500)[3]["answer"]
    _, reward, terminated, truncated, info = env.step(rf"It is \boxed{{{answer}}}.")
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info == {"idx": 3, "success": True, "correct": True, "reason": "correct", "answer": answer}


@pytest.mark.parametrize("action", ["12", "", r"<think>\boxed{1}</think>", r"\boxed{}"])
def test_nothing_boxed(action: str) -> None:
    env = ReasoningGymEnv("chain_sum")
    env.reset()
    _, reward, *_, info = env.step(action)
    assert (reward, info["reason"], info["success"]) == (0.0, "no_answer", False)


def test_reset_options_are_a_dictionary() -> None:
    env = ReasoningGymEnv("chain_sum")
    env.reset(options={})
    with pytest.raises(TypeError, match="reset options must be a dict, got 3"):
        env.reset(options=3)


def test_step_needs_a_reset_and_a_text() -> None:
    env = ReasoningGymEnv("chain_sum")
    with pytest.raises(gem.ResetNeeded):
        env.step("x")
    env.reset()
    with pytest.raises(TypeError, match="str"):
        env.step(None)  # type: ignore[arg-type]


def test_levels_of_the_curriculum() -> None:
    easy = ReasoningGymEnv("chain_sum", level=0)
    hard = ReasoningGymEnv("chain_sum", level=3)
    assert max(map(len, questions(easy, 20))) < max(map(len, questions(hard, 20)))
    with pytest.raises(ValueError, match="level must be from 0 to"):
        ReasoningGymEnv("chain_sum", level=99)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": "chain_sum", "max_digit": 2}, TypeError, "no option 'max_digit'; did you mean 'max_digits'"),
        ({"name": "chain_sun"}, ValueError, "did you mean chain_sum"),
        ({"name": "chain_sum", "min_digits": 9, "max_digits": 2}, ValueError, "'chain_sum' refuses its options"),
        ({"name": "chain_sum", "size": 0}, ValueError, "size must be at least 1"),
        ({"name": "chain_sum", "scoring": "inline"}, ValueError, "scoring must be"),
        ({"name": "composite"}, ValueError, "refuses its options"),
    ],
)  # fmt: skip
def test_bad_options(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ReasoningGymEnv(**arguments)


def test_slow_generators_run_ahead_in_their_own_process() -> None:
    env = ReasoningGymEnv("zebra_puzzles", size=4)
    here = questions(ReasoningGymEnv("zebra_puzzles", size=4, prefetch=False), 6)
    assert questions(env, 6) == here
    assert env._elsewhere


@pytest.mark.parametrize("name", ["chain_sum", "countdown", "word_ladder"])
def test_pickles_go_on(name: str) -> None:
    env = ReasoningGymEnv(name)
    env.reset(seed=5)
    twin = pickle.loads(pickle.dumps(env))
    assert twin.step(r"\boxed{1}") == env.step(r"\boxed{1}")
    assert questions(twin, 2) == questions(env, 2)


def test_no_file_is_left_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = ReasoningGymEnv("countdown")
    env.reset()
    env.step(r"\boxed{1}")
    assert not list(tmp_path.iterdir())


class TestConforms(EnvSuite):
    # made here and compared, scored in the executor, made in a process of its own
    env_ids = ["rg:basic_arithmetic", "rg:countdown", "rg:ransom_note"]


def test_a_reset_that_fails_leaves_no_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    env = gem.make("rg:chain_sum")
    for _ in range(8):
        env.reset()
    inner = env.unwrapped
    monkeypatch.setattr(inner, "_dataset", {})
    with pytest.raises(KeyError):
        env.reset()
    with pytest.raises(gem.ResetNeeded):
        env.step(r"\boxed{1}")
