"""What may be returned: observations, metrics, and infos that JSON can hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from gem.testing.returned import json_problems, metrics_problem, observation_problem

_KEYS = st.text() | st.integers() | st.none() | st.booleans()
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.just({1, 2})


def _nested(keys):
    return st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=12)


@given(_nested(_KEYS))
def test_what_has_no_problem_comes_back_from_json_as_it_was(value):
    if not list(json_problems(value)):
        assert json.loads(json.dumps(value, allow_nan=False)) == value


@given(_nested(_KEYS))
def test_what_has_a_problem_does_not(value):
    if list(json_problems(value)):
        try:
            back = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError):
            return
        assert back != value  # keys that became texts


def test_problems_say_where():
    assert list(json_problems({"board": [{"cell": {1}}]})) == [("['board'][0]['cell']", "{1} (set)")]


@pytest.mark.parametrize(
    "observation",
    [
        "",
        "text\ud800",
        [],
        [{"type": "text", "text": "a"}, {"type": "image", "image": "data:image/png;base64,AA=="}],
        [{"type": "image", "image": "https://example.org/a.png"}],
    ],
)
def test_observations_that_are_fine(observation):
    assert observation_problem(observation) is None


@pytest.mark.parametrize("observation", [None, 1, b"", ("a",), {}, ["a"], [{}], [{"type": "audio", "audio": "x"}]])
def test_observations_that_are_not(observation):
    assert observation_problem(observation)


@pytest.mark.parametrize(
    ("metrics", "fine"), [({}, True), ({"a": 1, "b": 0.5}, True), ({"a": None}, False), (3, False)]
)
def test_metrics(metrics, fine):
    assert (metrics_problem(metrics) is None) is fine
