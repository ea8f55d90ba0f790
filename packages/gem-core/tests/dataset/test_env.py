"""DatasetEnv: how rows are chosen, graded, saved and shared."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import gem
from gem.dataset import DatasetEnv, Grade

ROWS = [{"problem": f"what is {i}?", "answer": str(i)} for i in range(10)]


class Echo(DatasetEnv):
    """Correct is the answer itself."""

    def grade(self, action: str, idx: int) -> Grade:
        if not action:
            return Grade(0.0, "no_answer")
        return Grade(1.0, "correct") if action == self._answers[idx] else Grade(0.0, "wrong", {"heard": action})


def walk(env: DatasetEnv, steps: int) -> list[int]:
    return [env.reset()[1]["idx"] for _ in range(steps)]


def test_an_unseeded_walk_visits_every_row_once_an_epoch_in_changing_order() -> None:
    env = Echo(dataset=ROWS)
    first, second = walk(env, 10), walk(env, 10)
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
    assert env.epoch == 1


def test_the_walk_depends_on_the_seed_alone() -> None:
    assert walk(Echo(dataset=ROWS, seed=1), 25) == walk(Echo(dataset=ROWS, seed=1), 25)
    assert walk(Echo(dataset=ROWS, seed=1), 10) != walk(Echo(dataset=ROWS, seed=2), 10)


def test_without_shuffle_the_rows_come_as_they_stand() -> None:
    assert walk(Echo(dataset=ROWS, shuffle=False), 12) == [*range(10), 0, 1]


def test_a_seed_picks_the_row_and_reorders_the_walk() -> None:
    env = Echo(dataset=ROWS)
    assert env.reset(seed=np.int64(5)) == Echo(dataset=ROWS).reset(seed=5)
    rest = walk(env, 5)
    env.reset(seed=5)
    assert walk(env, 5) == rest
    env.reset(seed=6)
    assert walk(env, 5) != rest


def test_a_row_by_index_for_evaluation() -> None:
    env = Echo(dataset=ROWS)
    assert env.reset(idx=7) == env.reset(options={"idx": 7}) == ("what is 7?", {"idx": 7})
    with pytest.raises(IndexError, match="idx 10 is outside the 10 rows"):
        env.reset(idx=10)
    with pytest.raises(IndexError, match="idx -1"):
        env.reset(idx=-1)
    with pytest.raises(TypeError, match="idx must be a whole number, got '7'"):
        env.reset(idx="7")
    with pytest.raises(TypeError, match="reset options must be a dict, got 7"):
        env.reset(options=7)


@given(length=st.integers(1, 40), count=st.integers(1, 8))
def test_shards_share_the_rows_without_overlap(length: int, count: int) -> None:
    rows = [{"problem": str(i), "answer": str(i)} for i in range(length)]
    seen = []
    for index in range(min(count, length)):
        env = Echo(dataset=rows, shard=(index, count))
        seen += walk(env, len(range(index, length, count)))
        assert env.epoch == 0
        assert env.reset(seed=3)[1]["idx"] % count == index
    assert sorted(seen) == list(range(length))


@pytest.mark.parametrize("shard", [(1, 1), (-1, 2), (0, 0)])
def test_impossible_shards_are_refused(shard: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="shard"):
        Echo(dataset=ROWS, shard=shard)
    with pytest.raises(ValueError, match="is empty"):
        Echo(dataset=ROWS[:1], shard=(1, 2))


def test_an_answer_ends_the_episode_with_the_reason() -> None:
    env = Echo(dataset=ROWS)
    env.reset(idx=3)
    assert env.step("3") == ("", 1.0, True, False, {"idx": 3, "correct": True, "success": True, "reason": "correct"})
    env.reset(idx=3)
    *_, info = env.step("4")
    assert info == {"idx": 3, "correct": False, "success": False, "reason": "wrong", "heard": "4"}


def test_step_needs_a_reset_and_a_text() -> None:
    env = Echo(dataset=ROWS)
    with pytest.raises(gem.ResetNeeded):
        env.step("1")
    env.reset(idx=1)
    for bad in (None, b"1", 1):
        with pytest.raises(TypeError, match="an action is the response's text"):
            env.step(bad)  # type: ignore[arg-type]
    assert env.step("1")[1] == 1.0  # the bad actions did not end the episode
    with pytest.raises(gem.ResetNeeded):
        env.step("1")


def test_a_question_that_is_no_text_is_a_data_error_that_names_row_and_key() -> None:
    env = Echo(dataset=[{"problem": None, "answer": "1"}])
    with pytest.raises(gem.DataError, match="row 0 of the data set in memory: 'problem' is None, expected a text"):
        env.reset()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_where_the_original_stands(copied: Any) -> None:
    env = Echo(dataset=ROWS, seed=4)
    walk(env, 3)
    twin = copied(env)
    assert twin.step(str(twin.idx))[1] == 1.0
    assert walk(twin, 20) == walk(env, 20)


def test_state_goes_back_to_the_same_place() -> None:
    env = Echo(dataset=ROWS, seed=4)
    walk(env, 13)
    state = env.get_state()
    after = walk(env, 9)
    env.set_state(state)
    assert walk(env, 9) == after
    fresh = env.spawn(same_state=True)
    assert walk(fresh, 3) == walk(env, 3)


def test_the_state_does_not_carry_the_data() -> None:
    env = Echo(dataset=ROWS)
    env.reset()
    assert not any(isinstance(value, (list, dict)) for value in env.get_state().values())
