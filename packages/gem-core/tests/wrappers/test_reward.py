"""Rewards on another scale, or within bounds."""

from __future__ import annotations

import pytest

from gem.wrappers import RewardClip, RewardScale


def rewards(env, n):
    env.reset()
    return [env.step("a")[1] for _ in range(n)]


def test_scale_and_shift(scripted):
    assert rewards(RewardScale(scripted(), scale=4.0, shift=-1.0), 2) == [1.0, 1.0]


def test_clip(scripted):
    steps = [("", reward, False, False, {}) for reward in (-3.0, 0.25, 7.0)]
    assert rewards(RewardClip(scripted(steps), -0.5, 0.5), 3) == [-0.5, 0.25, 0.5]
    assert rewards(RewardClip(scripted(steps)), 3) == [-1.0, 0.25, 1.0]


def test_bounds_the_wrong_way_round(scripted):
    with pytest.raises(ValueError, match="low must not be above high"):
        RewardClip(scripted(), 1.0, -1.0)
