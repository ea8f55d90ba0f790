"""Counts of an episode."""

from __future__ import annotations

from gem.wrappers import EpisodeStatistics


def test_counts_of_this_episode_and_the_one_before(scripted):
    env = EpisodeStatistics(scripted())
    assert env.reset()[1] == {
        "step_counter": 0,
        "cumulative_rewards": 0.0,
        "prev_ep_step_counter": 0,
        "prev_ep_cumulative_rewards": 0.0,
    }
    env.step("a")
    assert env.step("b")[4] == {"step_counter": 2, "cumulative_rewards": 1.0}
    assert env.reset()[1] == {
        "step_counter": 0,
        "cumulative_rewards": 0.0,
        "prev_ep_step_counter": 2,
        "prev_ep_cumulative_rewards": 1.0,
    }
