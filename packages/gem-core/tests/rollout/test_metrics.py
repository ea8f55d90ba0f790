"""Episodes in numbers."""

from __future__ import annotations

import pytest

from gem.rollout import Episode, Response
from gem.rollout.metrics import summarise


def episode(*turns, finish="terminated"):
    """An episode of ``(reward, info)`` turns of two sampled tokens each."""
    played = Episode()
    played.begin("go")
    for n, (reward, info) in enumerate(turns, 1):
        played.respond(Response("ab", [1, 2, 3], [4, 5]))
        last = n == len(turns)
        played.advance("o", reward, last and finish == "terminated", last and finish == "truncated", info)
    return played


def test_averages_over_what_was_played():
    broken = Episode()
    broken.fail("lost")
    metrics = summarise(
        [
            episode((0.0, {"metrics": {"a": 1.0}}), (1.0, {"success": True, "metrics": {"a": 3.0}})),
            episode((-0.1, {"success": False, "invalid_action": "no box", "format_error": True})),
            episode((0.5, {"metrics": {"b": 2}}), (0.0, {}), finish="truncated"),
        ],
        [broken],
        seconds=2.0,
    )
    assert metrics["episodes"] == 3
    assert metrics["errors"] == 1
    assert metrics["mean_return"] == pytest.approx((1.0 - 0.1 + 0.5) / 3)
    assert metrics["success_rate"] == pytest.approx(1 / 3)  # cut off is not won
    assert metrics["mean_turns"] == pytest.approx(5 / 3)
    assert (metrics["invalid_actions"], metrics["format_errors"], metrics["truncated_episodes"]) == (1, 1, 1)
    assert metrics["invalid_action_rate"] == pytest.approx(0.2)
    assert metrics["metrics/a"] == 3.0  # the last an episode said
    assert metrics["metrics/b"] == 2.0
    assert (metrics["prompt_tokens"], metrics["response_tokens"]) == (15, 10)
    assert metrics["turns_per_second"] == 2.5
    assert metrics["response_tokens_per_second"] == 5.0


def test_spread():
    returns = summarise([episode((1.0, {})), episode((3.0, {}))], [])
    assert (returns["mean_return"], returns["std_return"]) == (2.0, 1.0)


def test_length():
    over = Episode(max_episode_tokens=2)
    over.begin("go")
    over.respond(Response("ab", [1], [4, 5], finish_reason="length"))
    over.advance("o", 0.0, False, False, {})
    metrics = summarise([over, episode((0.0, {}))], [])
    assert (metrics["length_episodes"], metrics["length_responses"], metrics["truncated_episodes"]) == (1, 1, 1)


def test_environments_that_do_not_speak_of_success():
    assert "success_rate" not in summarise([episode((1.0, {}), finish="truncated"), episode((1.0, {}))], [])


def test_nothing_was_played():
    broken = Episode()
    broken.fail("lost")
    metrics = summarise([], [broken], seconds=0.0)
    assert (metrics["episodes"], metrics["errors"]) == (0, 1)
    assert "mean_return" not in metrics  # no figure rather than a zero
    assert "success_rate" not in metrics
