"""A chat template, whole or turn by turn."""

from __future__ import annotations

import pytest

from gem.wrappers import ChatTemplate

THOUGHT = "<think>\nhm\n</think>\n\nleft"


def test_what_a_template_leaves_as_it_is(chatml):
    assert ChatTemplate(chatml()).extends
    assert not ChatTemplate(chatml(strip_thinking=True)).extends
    assert ChatTemplate(chatml(roles=("user", "assistant"))).extends
    assert not ChatTemplate(chatml(roles=("user",))).extends


def test_a_continuation(chatml):
    template = ChatTemplate(chatml(strip_thinking=True))
    new = [{"role": "user", "content": "next"}]
    assert template.continuation("left", new) == "<|im_end|>\n<|im_start|>user\nnext<|im_end|>\n<|im_start|>assistant\n"
    assert template.continuation(THOUGHT, new) is None


def test_rendering_with_variables(chatml):
    seen = {}

    class Watching(chatml):
        def apply_chat_template(self, conversation, **kwargs):
            seen.update(kwargs)
            return super().apply_chat_template(conversation, **kwargs)

    text = ChatTemplate(Watching(), enable_thinking=False).render([{"role": "user", "content": "hi"}])
    assert text == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert seen == {"tokenize": False, "add_generation_prompt": True, "enable_thinking": False}


def test_a_tokenizer_without_a_template():
    with pytest.raises(TypeError, match=r"needs a tokenizer with apply_chat_template, got object; pass tokenizer="):
        ChatTemplate(object())
