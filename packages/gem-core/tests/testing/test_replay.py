"""Playing an episode again in another process."""

from __future__ import annotations

import os

import pytest
from well_behaved import Digits

import gem
from gem.testing.replay import replay_elsewhere
from gem.testing.subject import Subject


def subject(target, **kwargs):
    made = Subject(target, kwargs, seed=3, episodes=1, max_steps=50, timeout=30.0, backends=())
    made.scout(3)
    return made


@pytest.mark.parametrize(
    "target",
    [
        Digits,
        gem.EnvSpec(id="toy:Digits-v0", entry_point="well_behaved:Digits"),
        gem.EnvSpec(id="toy:Digits-v0", entry_point=Digits),
        Digits(),
    ],
)
def test_the_episode_comes_back(target):
    made = subject(target)
    assert replay_elsewhere(made) == made.reference


def test_options_travel():
    made = subject(Digits, max_turns=1)
    assert len(made.reference) == 2
    assert replay_elsewhere(made) == made.reference


def test_what_has_no_name_elsewhere_is_not_judged():
    class Local(Digits):
        pass

    assert replay_elsewhere(subject(Local)) is None
    assert replay_elsewhere(subject(lambda: Digits())) is None


def test_a_process_that_dies_is_reported(monkeypatch):
    made = subject(Digits)
    monkeypatch.setattr("gem.testing.replay._recipe", lambda s: ("factory", os._exit, {"status": 7}))
    assert replay_elsewhere(made) == [{"raised": "nothing (exit code 7)"}]
