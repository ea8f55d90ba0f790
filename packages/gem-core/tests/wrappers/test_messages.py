"""The history as chat messages."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from gem.wrappers import ChatMessages, Messages

USER = {"role": "user", "content": "Rules."}


def said(role, content):
    return {"role": role, "content": content}


def test_observations_are_the_users_and_responses_the_assistants(scripted):
    env = ChatMessages(scripted())
    assert env.reset()[0] == [USER]
    env.step("a")
    observation, reward, terminated, truncated, info = env.step("b")
    assert observation == [
        USER,
        said("assistant", "a"),
        said("user", "Turn 1."),
        said("assistant", "b"),
        said("user", "Turn 2."),
    ]
    assert (reward, terminated, truncated, info) == (0.5, False, False, {})


def test_a_conversation_kept_in_a_record_never_changes(scripted):
    env = ChatMessages(scripted())
    first, _ = env.reset()
    second = env.step("a")[0]
    lists = list(first), list(second)
    env.step("b")
    env.reset()
    env.step("c")
    assert (first, second) == lists


def test_what_a_reader_does_to_a_message_concerns_nobody_else(scripted):
    env = ChatMessages(scripted())
    observation, _ = env.reset()
    observation[0]["content"] = "changed"
    next(iter(observation))["role"] = "changed"
    assert observation == [USER]
    assert env.step("a")[0][0] == USER


def test_system_tool_and_parsed_action(scripted):
    steps = [
        ("42", 0.0, False, False, {"use_tool": True, "parsed_action": "<python>6*7</python>"}),
        ("Right.", 1.0, True, False, {"use_tool": False}),
    ]
    env = ChatMessages(scripted(steps), system="Be brief.")
    assert env.reset()[0] == [said("system", "Be brief."), USER]
    env.step("<python>6*7</python> rubbish")
    assert env.step("42")[0] == [
        said("system", "Be brief."),
        USER,
        said("assistant", "<python>6*7</python>"),
        said("tool", "42"),
        said("assistant", "42"),
        said("user", "Right."),
    ]


def suffixed(scripted):
    steps = [
        ("One.", 0.0, False, False, {"suffix": "S1"}),
        ("Two.", 0.0, False, False, {"prefix": "P ", "suffix": "S2"}),
    ]
    return scripted(steps, info={"suffix": "S0"})


def test_suffixes_stay_so_that_each_conversation_extends_the_last(scripted):
    env = ChatMessages(suffixed(scripted))
    talks = [env.reset()[0], env.step("a")[0], env.step("b")[0]]
    assert [m["content"] for m in talks[2]] == ["Rules.\nS0", "a", "One.\nS1", "b", "P Two.\nS2"]
    for shorter, longer in itertools.pairwise(talks):
        assert longer[: len(shorter)] == shorter


def test_suffixes_can_pass(scripted):
    env = ChatMessages(suffixed(scripted), keep_suffix=False)
    talks = [env.reset()[0], env.step("a")[0], env.step("b")[0]]
    assert [[m["content"] for m in talk] for talk in talks] == [
        ["Rules.\nS0"],
        ["Rules.", "a", "One.\nS1"],
        ["Rules.", "a", "One.", "b", "P Two.\nS2"],
    ]
    assert [m["content"] for m in talks[1].kept()] == ["Rules.", "a", "One."]
    assert pickle.loads(pickle.dumps(talks[1])) == talks[1]


messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": st.text()})
)


@given(messages, st.integers(-12, 12), st.slices(12))
def test_reads_like_a_list(expected, index, some):
    talk = Messages.of(expected)
    assert isinstance(talk, Sequence)
    assert len(talk) == len(expected)
    assert list(talk) == expected
    assert list(reversed(talk)) == expected[::-1]
    assert talk[some] == expected[some]
    assert talk == expected
    assert talk == tuple(expected)
    assert talk != [*expected, USER]
    assert talk != "text"
    assert json.loads(json.dumps(list(talk))) == expected
    for twin in (pickle.loads(pickle.dumps(talk)), copy.deepcopy(talk), copy.copy(talk)):
        assert twin == talk
    if -len(expected) <= index < len(expected):
        assert talk[index] == expected[index]
    else:
        with pytest.raises(IndexError, match=f"no message {index}"):
            talk[index]


@given(st.lists(st.tuples(st.text(), st.text())), st.booleans())
def test_an_episode_reads_like_a_list(scripted, turns, system):
    env = ChatMessages(scripted([(o, 0.0, False, False, {}) for _, o in turns]), system="S" if system else None)
    talk, _ = env.reset()
    expected = [said("system", "S")] * system + [USER]
    seen = []
    for action, observation in turns:
        seen.append((talk, list(expected)))
        talk = env.step(action)[0]
        expected += [said("assistant", action), said("user", observation)]
    for early, then in [*seen, (talk, expected)]:
        assert early == then
        assert [early[i] for i in range(-len(then), len(then))] == then + then


def test_a_step_adds_to_one_log_whatever_its_length(scripted):
    """What makes a step cost its new messages only."""
    env = ChatMessages(scripted())
    first, _ = env.reset()
    log = first._log
    for n in range(1, 9):
        observation = env.step("a")[0]
        assert observation._log is log
        assert len(log) == 2 * n + 1
