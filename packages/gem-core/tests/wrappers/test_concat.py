"""The history as one text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import gem
from gem.wrappers import Concat

IMAGE = {"type": "image", "image": "data:,"}


def test_observations_one_after_the_other(scripted):
    env = Concat(scripted())
    assert env.reset()[0] == "Rules.\n"
    assert env.step("a")[0] == "Rules.\nTurn 1.\n"
    assert env.step("b")[0] == "Rules.\nTurn 1.\nTurn 2.\n"
    assert env.reset()[0] == "Rules.\n"


def test_responses_between_them(scripted):
    env = Concat(scripted(), include_action=True)
    env.reset()
    assert env.step("left")[0] == "Rules.\nleft\nTurn 1.\n"
    assert env.step("right\n")[0] == "Rules.\nleft\nTurn 1.\nright\nTurn 2.\n"


def test_the_parsed_action_stands_for_the_response(scripted):
    env = Concat(scripted([("Seen.", 0.0, False, False, {"parsed_action": "<python>1</python>"})]), include_action=True)
    env.reset()
    assert env.step("<python>1</python> and then a made-up result")[0] == "Rules.\n<python>1</python>\nSeen.\n"


def test_prefix_and_suffix_surround_the_whole_and_do_not_stay(scripted):
    steps = [
        ("One.", 0.0, False, False, {"prefix": "P", "suffix": "S1"}),
        ("Two.", 0.0, False, False, {"suffix": "S2"}),
    ]
    env = Concat(scripted(steps, info={"prefix": "P0 ", "suffix": "S0"}))
    assert env.reset()[0] == "P0 Rules.\nS0"
    assert env.step("a")[0] == "PRules.\nOne.\nS1"
    assert env.step("a")[0] == "Rules.\nOne.\nTwo.\nS2"


def test_images_in_the_history(scripted):
    steps = [("Closer.", 0.0, False, False, {}), ([IMAGE], 0.0, False, False, {"suffix": "And this?"})]
    env = Concat(scripted(steps, first=[IMAGE, {"type": "text", "text": "What?"}]), include_action=True)
    env.reset()
    assert env.step("a cat")[0] == [IMAGE, {"type": "text", "text": "What?\na cat\nCloser.\n"}]
    assert env.step("a dog")[0] == [
        IMAGE,
        {"type": "text", "text": "What?\na cat\nCloser.\na dog\n"},
        IMAGE,
        {"type": "text", "text": "And this?"},
    ]


@pytest.mark.parametrize("include_action", [False, True])
@given(data=st.data())
def test_equals_the_history_written_out(scripted, include_action, data):
    text = st.text(max_size=6)
    first = data.draw(text)
    turns = data.draw(st.lists(st.tuples(text, text, st.dictionaries(st.sampled_from(["prefix", "suffix"]), text))))
    env = Concat(scripted([(o, 0.0, False, False, i) for _, o, i in turns], first=first), include_action)
    env.reset()
    pieces = [first]
    for action, observation, info in turns:
        if include_action:
            pieces.append(action)
        pieces.append(observation)
        whole = "".join(p if not p or p.endswith("\n") else p + "\n" for p in pieces)
        assert env.step(action)[0] == info.get("prefix", "") + whole + info.get("suffix", "")


def test_an_end_and_an_error_pass_through(scripted):
    env = Concat(scripted([("Won.", 1.0, True, False, {"success": True})]))
    env.reset()
    assert env.step("a") == ("Rules.\nWon.\n", 1.0, True, False, {"success": True})

    class Broken(gem.Env):
        def step(self, action):
            raise gem.ResetNeeded

    with pytest.raises(gem.ResetNeeded):
        Concat(Broken()).step("a")
