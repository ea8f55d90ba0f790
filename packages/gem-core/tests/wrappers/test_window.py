"""The newest part of the history."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gem.wrappers import Window


def words(text):
    return len(text.split())


class WordTokenizer:
    def encode(self, text, add_special_tokens=True):
        return text.split() + ["</s>"] * add_special_tokens


def play(env, actions="abcdefgh"):
    yield env.reset()[0]
    for action in actions:
        yield env.step(action)[0]


def test_the_newest_turns_and_the_task(scripted):
    shown = list(play(Window(scripted(), turns=2)))
    assert shown[2] == "Rules.\na\nTurn 1.\nb\nTurn 2.\n"
    assert shown[3] == "Rules.\nb\nTurn 2.\nc\nTurn 3.\n"
    assert shown[8] == "Rules.\ng\nTurn 7.\nh\nTurn 8.\n"


def test_without_the_task_or_the_responses(scripted):
    assert list(play(Window(scripted(), turns=1, keep_first=False)))[:3] == [
        "Rules.\n",
        "Rules.\na\nTurn 1.\n",
        "b\nTurn 2.\n",
    ]
    assert list(play(Window(scripted(), turns=2, include_action=False)))[3] == "Rules.\nTurn 2.\nTurn 3.\n"


@pytest.mark.parametrize("counter", [words, WordTokenizer()])
def test_by_tokens(scripted, counter):
    # the rules are 1 token, each turn 3
    shown = list(play(Window(scripted(), tokens=7, counter=counter)))
    assert shown[2] == "Rules.\na\nTurn 1.\nb\nTurn 2.\n"
    assert shown[3] == "Rules.\nb\nTurn 2.\nc\nTurn 3.\n"


def test_the_newest_turn_is_shown_whole_even_where_it_does_not_fit(scripted):
    assert list(play(Window(scripted(), tokens=1, counter=words)))[4] == "Rules.\nd\nTurn 4.\n"


def test_messages(scripted):
    env = Window(scripted([("1", 0.0, False, False, {"use_tool": True, "suffix": "S"})] * 3), turns=1, form="messages")
    env.reset()
    env.step("a")
    assert env.step("b")[0] == [
        {"role": "user", "content": "Rules."},
        {"role": "assistant", "content": "b"},
        {"role": "tool", "content": "1\nS"},
    ]
    env = Window(scripted(), turns=1, form="messages", keep_first=False)
    # a chat begins with the user's message
    assert list(play(env))[2] == [{"role": "user", "content": "Turn 2."}]


@given(
    st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=12),
    st.integers(1, 4) | st.none(),
    st.integers(0, 12) | st.none(),
)
def test_the_window_is_the_longest_end_that_fits(scripted, turns, limit, tokens):
    if limit is None and tokens is None:
        return
    counter = None if tokens is None else len
    env = Window(
        scripted([(o, 0.0, False, False, {}) for _, o in turns], first="F"), limit, tokens, counter, "messages"
    )
    env.reset()
    for n, (action, _) in enumerate(turns, 1):
        shown = [m["content"] for m in env.step(action)[0]]
        ends = []
        for kept in range(1, n + 1):
            pairs = turns[n - kept : n]
            size = 1 + sum(len(a) + len(o) for a, o in pairs)
            if kept == 1 or ((limit is None or kept <= limit) and (tokens is None or size <= tokens)):
                ends.append(["F", *(text for pair in pairs for text in pair)])
            else:
                break
        assert shown == ends[-1]


def test_a_turn_is_counted_once(scripted):
    counted = []

    def counter(text):
        counted.append(text)
        return 1

    list(play(Window(scripted(), tokens=100, counter=counter)))
    assert len(counted) == 1 + 2 * 8


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({}, TypeError, "needs a size"),
        ({"turns": 0}, ValueError, "at least 1"),
        ({"tokens": 5}, TypeError, "both tokens=... and counter"),
        ({"turns": 1, "form": "chat"}, ValueError, "'text' or 'messages'"),
        ({"turns": 1, "form": "messages", "include_action": False}, ValueError, "include_action=True"),
    ],
)
def test_options_that_make_no_window(scripted, options, error, match):
    with pytest.raises(error, match=match):
        Window(scripted(), **options)
