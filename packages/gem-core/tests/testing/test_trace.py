"""Traces: what is compared between two playings of an episode."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from well_behaved import Counting, Digits

from gem.testing.trace import canonical, difference, event, is_over, play, shorten


def test_the_first_difference_is_told_in_words():
    one = [event(("a", {})), event(("b", 1.0, False, False, {}))]
    assert difference(one, one) is None
    other = [one[0], event(("b", 0.5, False, False, {}))]
    assert difference(one, other) == "reward of turn 1 is 0.5 instead of 1.0"
    assert difference(one, other, first_turn=3) == "reward of turn 4 is 0.5 instead of 1.0"
    assert difference(one, one[:1]) == "it has 1 events instead of 2"
    assert difference(one, [{"raised": "KeyError: 'x'"}]) == "the reset raised KeyError: 'x'"


def test_an_exception_ends_a_trace():
    env = Digits()
    trace = play(env, 0, [None, "x"])
    assert len(trace) == 2
    assert trace[1] == {"raised": "TypeError: an action is a str, got NoneType"}


def test_an_episode_of_several_agents_is_over_when_all_are():
    assert not is_over(({}, {}, {"a": True, "b": False}, {"a": False, "b": False}, {}))
    assert is_over(({}, {}, {"a": True, "b": False}, {"a": False, "b": True}, {}))
    assert len(play(Counting(rounds=1), 0, [{"a": "x"}, {"b": "y"}, {"a": "z"}])) == 3


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_does_not_count(info):
    assert canonical(info) == canonical(dict(reversed(info.items())))


def test_what_is_told_about_the_episode_before_does_not_count():
    assert event(("", {"a": 1, "prev_ep_return": 0.5})) == event(("", {"a": 1}))
    assert event(("", {"a": 1, "ep_return": 0.5})) != event(("", {"a": 1}))


def test_no_memory_address_gets_in():
    assert canonical({"x": object()}) == canonical({"x": object()})


def test_a_whole_number_is_the_same_reward_as_its_float():
    assert event(("", 1, True, False, {})) == event(("", 1.0, True, False, {}))
    assert event(("", True, True, False, {})) == event(("", 1.0, True, False, {}))


@pytest.mark.parametrize(("text", "short"), [("a\n b", "a b"), ("x" * 99, "x" * 77 + "...")])
def test_shorten(text, short):
    assert shorten(text) == short
