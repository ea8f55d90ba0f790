"""The history as a chat template writes it."""

from __future__ import annotations

import pytest

import gem
from gem.wrappers import ChatTemplate, ConcatChat, ConcatChatOnReset

THOUGHT = "<think>\nhm\n</think>\n\nleft"


def written(*messages):
    text = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages)
    return text + "<|im_start|>assistant\n"


def test_the_whole_talk_with_the_generation_prompt(scripted, chatml):
    env = ConcatChat(scripted(), tokenizer=chatml())
    assert env.reset()[0] == written(("user", "Rules."))
    assert env.step("a")[0] == written(("user", "Rules."), ("assistant", "a"), ("user", "Turn 1."))
    assert env.step("b")[0] == written(
        ("user", "Rules."), ("assistant", "a"), ("user", "Turn 1."), ("assistant", "b"), ("user", "Turn 2.")
    )
    assert env.reset()[0] == written(("user", "Rules."))


def test_tool_results_and_a_system_message(scripted, chatml):
    env = ConcatChat(scripted([("4", 0.0, False, False, {"use_tool": True})]), tokenizer=chatml(), system="Hi.")
    env.reset()
    assert env.step("2+2")[0] == written(("system", "Hi."), ("user", "Rules."), ("assistant", "2+2"), ("tool", "4"))


def test_the_suffix_stands_in_the_newest_message_only(scripted, chatml):
    steps = [(f"Turn {n}.", 0.0, False, False, {"suffix": f"S{n}"}) for n in (1, 2)]
    env = ConcatChat(scripted(steps, info={"suffix": "S0"}), tokenizer=chatml())
    assert env.reset()[0] == written(("user", "Rules.\nS0"))
    assert env.step("a")[0] == written(("user", "Rules."), ("assistant", "a"), ("user", "Turn 1.\nS1"))
    assert env.step("b")[0] == written(
        ("user", "Rules."), ("assistant", "a"), ("user", "Turn 1."), ("assistant", "b"), ("user", "Turn 2.\nS2")
    )


@pytest.mark.parametrize("strip_thinking", [False, True])
@pytest.mark.parametrize("keep_suffix", [False, True])
def test_turn_by_turn_equals_the_whole(scripted, chatml, strip_thinking, keep_suffix):
    """Also where the template rewrites earlier turns, and where tools are called while it thinks."""
    infos = [{"use_tool": True}, {}, {"suffix": "S"}, {"use_tool": True}, {}, {}]
    steps = [(f"Turn {n}.", 0.0, False, False, info) for n, info in enumerate(infos)]
    env = ConcatChat(scripted(steps), tokenizer=chatml(strip_thinking), keep_suffix=keep_suffix)
    twin = gem.wrappers.ChatMessages(scripted(steps), keep_suffix=keep_suffix)
    env.reset()
    twin.reset()
    for action in (THOUGHT, "plain", THOUGHT, THOUGHT, "plain", "plain"):
        shown = env.step(action)[0]
        assert shown == chatml(strip_thinking).apply_chat_template(
            twin.step(action)[0], tokenize=False, add_generation_prompt=True
        )


def test_a_step_writes_the_new_turn_only(scripted, chatml):
    tokenizer = chatml()
    env = ConcatChat(scripted(), tokenizer=tokenizer)
    env.reset()
    costs = []
    for _ in range(8):
        before = tokenizer.written
        env.step("a")
        costs.append(tokenizer.written - before)
    assert set(costs[1:]) == {3}


def test_template_only_on_reset(scripted, chatml):
    steps = [("Turn 1.", 0.0, False, False, {"suffix": "S1"}), ("Turn 2.", 0.0, False, False, {})]
    env = ConcatChatOnReset(scripted(steps), tokenizer=chatml())
    first = written(("user", "Rules."))
    assert env.reset()[0] == first
    assert env.step("a")[0] == f"{first}a\nTurn 1.\nS1"
    assert env.step("b")[0] == f"{first}a\nTurn 1.\nb\nTurn 2.\n"


def test_on_reset_the_suffix_stands_in_the_message(scripted, chatml):
    env = ConcatChatOnReset(scripted(info={"suffix": "S0"}), tokenizer=chatml())
    assert env.reset()[0] == written(("user", "Rules.\nS0"))
    assert env.step("a")[0] == written(("user", "Rules.")) + "a\nTurn 1.\n"


@pytest.mark.parametrize("wrapper", [ConcatChat, ConcatChatOnReset])
def test_without_a_tokenizer(scripted, wrapper):
    with pytest.raises(TypeError, match=r"concat_chat.* needs a tokenizer"):
        wrapper(scripted())
    with pytest.raises(TypeError, match=r"apply_chat_template, got str; pass tokenizer="):
        wrapper(scripted(), tokenizer="Qwen/Qwen3-4B")


def test_a_saved_state_leaves_the_tokenizer_out(scripted, chatml):
    for env in (ConcatChat(scripted(), tokenizer=chatml()), ConcatChatOnReset(scripted(), tokenizer=chatml())):
        env.reset()
        assert not any(isinstance(v, (ChatTemplate, chatml)) for v in env.get_state()["wrapper"].values())
