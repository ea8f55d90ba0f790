"""Episodes of at most so many turns."""

from __future__ import annotations

import pytest

import gem
from gem.wrappers import TurnLimit


def flags(outcome):
    return outcome[2], outcome[3]


def test_truncates_at_the_limit(scripted):
    env = TurnLimit(scripted(), max_turns=2)
    env.reset()
    assert flags(env.step("a")) == (False, False)
    outcome = env.step("b")
    assert flags(outcome) == (False, True)
    assert outcome[4]["success"] is False
    with pytest.raises(gem.ResetNeeded):
        env.step("c")
    env.reset()
    assert flags(env.step("a")) == (False, False)


def test_a_win_at_the_limit_is_no_truncation(scripted):
    env = TurnLimit(scripted([("Won.", 1.0, True, False, {})]), max_turns=1)
    env.reset()
    outcome = env.step("a")
    assert flags(outcome) == (True, False)
    assert "success" not in outcome[4]


def test_the_environments_own_limit_stays(scripted):
    env = TurnLimit(scripted([("Late.", 0.0, False, True, {})]), max_turns=5)
    env.reset()
    assert flags(env.step("a")) == (False, True)


def test_before_the_first_reset_and_without_turns(scripted):
    with pytest.raises(gem.ResetNeeded):
        TurnLimit(scripted(), 3).step("a")
    with pytest.raises(ValueError, match="max_turns must be at least 1, got 0"):
        TurnLimit(scripted(), 0)
