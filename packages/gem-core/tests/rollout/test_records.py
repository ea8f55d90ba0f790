"""What travels: tasks, turns and responses."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, strategies as st

from gem.rollout import TaskSpec, Turn
from gem.wrappers import Messages

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
options = st.dictionaries(st.text(), json_values, max_size=3)


@given(st.builds(TaskSpec, st.text(), options, st.integers(0) | st.none(), options | st.none()))
def test_a_task_travels_as_one_line(task):
    line = task.to_json()
    assert "\n" not in line
    assert TaskSpec.from_json(line) == task
    assert pickle.loads(pickle.dumps(task)) == task


def test_a_task_rebuilds_its_environment_and_its_episode(count):
    task = TaskSpec("test:Count", {"most": 9, "wrappers": "concat_with_action,episode_tracking"}, seed=4)
    first, second = task.make(), TaskSpec.from_json(task.to_json()).make()
    assert task.reset(first) == task.reset(second)
    assert first.step("1") == second.step("1")
    assert first.most == 9
    assert first.step_counter == 1
    assert TaskSpec("test:Count", options={"length": 7}).reset(first)[0] == "Count to 7.\nSay 1."


def test_a_task_that_cannot_travel(count):
    task = TaskSpec("test:Count", {"wrappers": [lambda env: env]})
    with pytest.raises(TypeError, match=r"this task of 'test:Count' cannot travel as JSON: .*function"):
        task.to_json()


def test_a_turn_becomes_data(count):
    talk = Messages.of([{"role": "user", "content": "hi"}])
    turn = Turn(talk, "yo", 1.0, True, False, {"a": 1}, [1], [2], [-0.5], "stop", {"value": 0.3})
    data = json.loads(json.dumps(turn.to_dict()))
    assert data["observation"] == [{"role": "user", "content": "hi"}]
    assert Turn(**data) == turn


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "a task is one JSON object; 'nonsense' is not"),
        ("[]", r"a task has env_id and perhaps kwargs, options, seed; got \[\]"),
        ("{}", "a task has env_id"),
        ('{"env_id": 3}', "a task has env_id"),
        ('{"env_id": "x", "bogus": 1}', "got {'bogus': 1, 'env_id': 'x'}"),
    ],
)
def test_text_that_is_no_task(text, message):
    with pytest.raises(ValueError, match=message):
        TaskSpec.from_json(text)
