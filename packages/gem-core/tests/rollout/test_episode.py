"""Driving one episode, and reading it."""

from __future__ import annotations

import json
from array import array

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gem.rollout import Episode, Response, TaskSpec


def play(episode, answers, env):
    observation = episode.begin(*env.reset(seed=0))
    for answer in answers:
        action = episode.respond(answer)
        if action is not None:
            observation = episode.advance(*env.step(action))
        if episode.done:
            break
    return observation


def counting(length=3):
    """An environment of so many turns without end of its own."""

    class Env:
        def reset(self, seed=None):
            return "go", {"suffix": "s"}

        def step(self, action):
            return f"did {action}", 1.0, False, False, {"n": action}

    return Env()


def test_the_loop_of_the_docstring(count):
    env = count(most=3)
    task = TaskSpec("test:Count", seed=1)
    episode = Episode(task, episode_id="e", group_id="g")
    observation = episode.begin(*task.reset(env))
    n = 0
    while not episode.done:
        n += 1
        action = episode.respond(str(n))
        assert action == str(n)
        observation = episode.advance(*env.step(action))
    assert observation is None
    assert episode.observation == f"Turn {n}."
    assert episode.finish_reason == "terminated"
    assert episode.total_reward == 1.0
    assert episode.success is True
    assert [turn.response for turn in episode.turns] == [str(i + 1) for i in range(n)]
    assert episode.turns[0].observation == f"Count to {n}."
    assert [turn.terminated for turn in episode.turns] == [False] * (n - 1) + [True]
    assert "e terminated" in repr(episode)


def test_what_the_policy_gave_is_kept_as_it_was():
    episode = Episode()
    response = Response("hi", [1, 2], [3], [-0.25], "stop", {"value": 0.5})
    play(episode, [response], counting())
    turn = episode.turns[0]
    assert turn.prompt_ids is response.prompt_ids
    assert turn.response_ids is response.response_ids
    assert turn.logprobs is response.logprobs
    assert (turn.response, turn.finish_reason, turn.extra) == ("hi", "stop", {"value": 0.5})
    assert episode.response_tokens == 1


def test_ids_from_arrays_and_tuples_become_lists():
    """A tuple never equals a list, so that prompts of tuples would never extend each other."""
    episode = Episode()
    first = Response("a", np.array([1, 2]), (3,), np.array([-0.5]))
    second = Response("b", (1, 2, 3, 4), array("l", [5]), [-1.0])
    play(episode, [first, second], counting())
    (row,) = episode.flat()
    assert row.input_ids == [1, 2, 3, 4, 5]
    json.dumps(episode.to_dict())
    assert first.response_ids == (3,)  # the policy's own response is left alone


def test_not_one_logprob_for_each_id():
    episode = Episode()
    episode.begin("go")
    with pytest.raises(ValueError, match="2 logprobs for 1 response_ids: give one for each"):
        episode.respond(Response("a", [1], [2], [-0.5, -0.5]))


@pytest.mark.parametrize("answer", [None, b"text", 3, ["text"], Response(None), Response(b"x")])
def test_answers_that_are_none(answer):
    episode = Episode()
    episode.begin("go")
    with pytest.raises(TypeError, match=r"a response must be a str or a gem.Response with text, got ") as caught:
        episode.respond(answer)
    assert "\n" not in str(caught.value)
    assert episode.respond("an answer still counts") == "an answer still counts"


def test_calls_out_of_order():
    episode = Episode()
    with pytest.raises(RuntimeError, match="call begin"):
        episode.respond("a")
    episode.begin("go")
    with pytest.raises(RuntimeError, match="has begun already"):
        episode.begin("go")
    with pytest.raises(RuntimeError, match="call respond"):
        episode.advance("o", 0.0, False, False, {})
    episode.respond("a")
    with pytest.raises(RuntimeError, match="was not stepped"):
        episode.respond("b")
    episode.advance("o", 0.0, True, False, {})
    with pytest.raises(RuntimeError, match="has ended"):
        episode.respond("c")


# -- ends ------------------------------------------------------------------------------------------------


def test_turn_limit():
    episode = Episode(max_turns=2)
    play(episode, "abc", counting())
    assert (episode.finish_reason, len(episode.turns)) == ("truncated", 2)
    assert [turn.truncated for turn in episode.turns] == [False, True]
    assert episode.observation == "did b"  # what a critic bootstraps from


def test_an_end_of_its_own_at_the_limit_is_no_truncation(count):
    env = count(most=1)
    episode = Episode(max_turns=1)
    play(episode, ["1"], env)
    assert episode.finish_reason == "terminated"
    assert not episode.turns[0].truncated


def test_the_environments_truncation():
    episode = Episode()
    episode.begin("go")
    episode.respond("a")
    assert episode.advance("cut", 0.0, False, True) is None
    assert episode.finish_reason == "truncated"


def tokens(n):
    return Response("x" * n, [0], list(range(n)))


def test_token_budgets():
    episode = Episode(max_response_tokens=4, max_episode_tokens=6)
    assert episode.max_tokens == 4
    play(episode, [tokens(4)], counting())
    assert episode.max_tokens == 2
    episode.respond(tokens(2))
    assert episode.advance("o", 0.0, False, False, {}) is None
    assert episode.finish_reason == "length"
    assert episode.turns[-1].truncated
    assert Episode().max_tokens is None
    assert Episode(max_episode_tokens=5).max_tokens == 5


def test_a_response_over_the_budget_is_kept_and_is_the_last():
    episode = Episode(max_episode_tokens=3)
    play(episode, [tokens(9), tokens(1)], counting())
    assert (episode.finish_reason, len(episode.turns), episode.response_tokens) == ("length", 1, 9)


def test_a_win_with_the_last_token_is_a_win():
    episode = Episode(max_episode_tokens=3)
    episode.begin("go")
    episode.respond(tokens(3))
    episode.advance("won", 1.0, True, False, {})
    assert episode.finish_reason == "terminated"


def test_a_prompt_that_leaves_no_room():
    episode = Episode()
    full = Response("", finish_reason="length")
    play(episode, ["a", full], counting())
    assert (episode.finish_reason, len(episode.turns)) == ("length", 1)
    assert episode.turns[0].truncated
    episode = Episode()
    play(episode, [full], counting())
    assert episode.finish_reason == "error"
    assert "no room" in episode.error


def test_a_broken_environment():
    episode = Episode()
    episode.begin("go")
    episode.respond("a")
    assert episode.advance("", 0.0, False, True, {"error": "lost"}) is None
    assert (episode.error, episode.finish_reason, episode.turns) == ("lost", "error", [])


def test_an_environment_that_broke_at_reset():
    episode = Episode()
    assert episode.begin("", {"error": "no data"}) is None
    assert episode.done
    assert episode.error == "no data"


# -- reading ---------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-5, 5), max_size=8), st.floats(0.01, 1))
def test_returns(rewards, gamma):
    episode = Episode()
    episode.begin("go")
    for reward in rewards:
        episode.respond("a")
        episode.advance("o", reward, False, False, {})
    expected = [sum(gamma ** (k - t) * rewards[k] for k in range(t, len(rewards))) for t in range(len(rewards))]
    assert episode.returns(gamma) == pytest.approx(expected)
    assert episode.total_reward == pytest.approx(sum(rewards))
    assert len(episode.returns()) == len(rewards)


def test_success_is_what_the_environment_says():
    for info, success in (({}, None), ({"success": True}, True), ({"success": False}, False)):
        episode = Episode()
        episode.begin("go")
        episode.respond("a")
        episode.advance("o", 0.0, True, False, info)
        assert episode.success is success


def test_an_episode_that_was_cut_off_is_no_success():
    for limits in ({"max_turns": 1}, {"max_episode_tokens": 1}):
        episode = Episode(**limits)
        episode.begin("go")
        episode.respond(tokens(1))
        assert episode.success is None
        episode.advance("o", 0.0, False, False, {})
        assert episode.success is False


@pytest.mark.parametrize("wrappers", ["concat", "messages"])
def test_a_record_survives_json(count, wrappers):
    task = TaskSpec("test:Count", {"wrappers": wrappers}, seed=1)
    episode = Episode(task, episode_id="e", group_id="g", max_turns=7, max_episode_tokens=90)
    env = task.make()
    episode.begin(*task.reset(env))
    episode.respond(Response("1", [1, 2], [3], [-0.5]))
    episode.advance(*env.step("1"))
    twin = Episode.from_dict(json.loads(json.dumps(episode.to_dict())))
    assert twin.to_dict() == episode.to_dict()
    assert twin.turns == episode.turns
    assert twin.task == task
    assert twin.flat() == episode.flat()
    assert (twin.finish_reason, twin.response_tokens, twin.max_tokens) == (episode.finish_reason, 1, 89)


def test_an_unfinished_record_goes_on(count):
    task = TaskSpec("test:Count", seed=0, options={"length": 3})
    episode = Episode(task)
    env = task.make()
    episode.begin(*task.reset(env))
    episode.respond("1")
    episode.advance(*env.step("1"))
    twin = Episode.from_dict(episode.to_dict())
    for action in "23":
        twin.respond(action)
        twin.advance(*env.step(action))
    assert twin.finish_reason == "terminated"
    assert len(twin.turns) == 3
    assert len(episode.turns) == 1
