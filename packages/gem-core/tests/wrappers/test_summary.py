"""The history with its older part summarised."""

from __future__ import annotations

import pytest

from gem.wrappers import Summary


def play(env, actions="abcdefgh"):
    yield env.reset()[0]
    for action in actions:
        yield env.step(action)[0]


def tally(summary, messages):
    """Which responses it was given."""
    return summary + "".join(m["content"] for m in messages if m["role"] == "assistant")


@pytest.mark.parametrize("form", ["text", "messages"])
def test_older_turns_are_summarised(scripted, form):
    env = Summary(scripted(), tally, turns=3, keep=1, form=form, heading="So far: ")
    shown = list(play(env))
    if form == "messages":
        assert [m["role"] for m in shown[5]] == ["user", "assistant", "user", "assistant", "user"]
        shown = ["".join(m["content"] + "\n" for m in talk) for talk in shown]
    assert shown[3] == "Rules.\na\nTurn 1.\nb\nTurn 2.\nc\nTurn 3.\n"
    assert shown[4] == "Rules.\nSo far: abc\nd\nTurn 4.\n"
    assert shown[6] == "Rules.\nSo far: abc\nd\nTurn 4.\ne\nTurn 5.\nf\nTurn 6.\n"
    assert shown[7] == "Rules.\nSo far: abcdef\ng\nTurn 7.\n"


def test_reset_forgets_the_summary(scripted):
    env = Summary(scripted(), tally, turns=1, keep=1)
    assert "abc" in list(play(env))[4]
    assert env.reset()[0] == "Rules.\n"
    env.step("x")
    assert env.step("y")[0] == "Rules.\nSummary of the turns before:\nx\ny\nTurn 2.\n"


def test_summaries_that_are_none(scripted):
    with pytest.raises(TypeError, match="summarise must be a function"):
        Summary(scripted(), "short")
    with pytest.raises(ValueError, match="keep must be between 1 and turns=2, got 3"):
        Summary(scripted(), tally, turns=2, keep=3)
    env = Summary(scripted(), lambda summary, messages: None, turns=1, keep=1)
    env.reset()
    env.step("a")
    with pytest.raises(TypeError, match="summarise must return a str, got NoneType"):
        env.step("b")
