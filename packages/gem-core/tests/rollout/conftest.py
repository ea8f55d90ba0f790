"""Environments that count, break and wait, and a tokenizer small enough to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem import registry


class Count(gem.Env):
    """Say the number of the turn. The seed decides how many turns there are (1 to ``most``) until it is won."""

    made = 0

    def __init__(self, most: int = 5, fail_seed: int | None = None, fail_in: str = "step") -> None:
        type(self).made += 1
        self.most = most
        self.fail_seed = fail_seed
        self.fail_in = fail_in

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.failing = seed is not None and seed == self.fail_seed
        if self.failing and self.fail_in == "reset":
            raise ConnectionError("no data today")
        self.length = (options or {}).get("length") or self.rng.randint(1, self.most)
        self.turn = 0
        return f"Count to {self.length}.", {"suffix": "Say 1."}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self.failing and self.turn == 1:
            raise RuntimeError("the board fell off the table")
        self.turn += 1
        right = action.strip() == str(self.turn)
        won = right and self.turn == self.length
        info: dict[str, Any] = {"metrics": {"turn": self.turn}}
        if not right:
            info["invalid_action"] = f"it is turn {self.turn}"
        if won or not right:
            info["success"] = won
        else:
            info["suffix"] = f"Say {self.turn + 1}."
        return f"Turn {self.turn}.", float(won), won or not right, False, info


@pytest.fixture
def count() -> Iterator[type[Count]]:
    """Registers ``test:Count`` for the time of a test."""
    Count.made = 0
    registry.register("test:Count", Count)
    yield Count
    registry.unregister("test:Count")


#: Special tokens, then one pair of letters that is one token; every other character is its own.
SPECIAL = {"<|bos|>": 1_200_000, "<|im_start|>": 1_200_001, "<|im_end|>": 1_200_002, "<|endoftext|>": 1_200_003}
MERGED = {"ab": 1_200_010}
PIECES = re.compile("|".join([*map(re.escape, SPECIAL), *MERGED, "."]), re.DOTALL)


class Tokenizer:
    """Characters are tokens (``ab`` is one), and ChatML is the template.

    Args:
        strip_thinking: leave the thinking of turns before the last user message out, as some models' templates do.
        end: what the template ends a turn with.
    """

    all_special_ids = list(SPECIAL.values())
    eos_token_id = SPECIAL["<|im_end|>"]

    def __init__(self, strip_thinking: bool = False, end: str = "<|im_end|>\n") -> None:
        self.strip_thinking = strip_thinking
        self.end = end

    def apply_chat_template(
        self, conversation: Any, *, tokenize: bool = True, add_generation_prompt: bool = False, **kwargs: Any
    ) -> str:
        assert not tokenize
        text = "<|bos|>" + kwargs.get("greeting", "")
        last_user = max((i for i, m in enumerate(conversation) if m["role"] == "user"), default=-1)
        for i, message in enumerate(conversation):
            content = message["content"]
            if self.strip_thinking and message["role"] == "assistant" and i < last_user:
                content = content.rpartition("</think>")[2]
            text += f"<|im_start|>{message['role']}\n{content}{self.end}"
        return text + "<|im_start|>assistant\n" if add_generation_prompt else text

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        known = {**SPECIAL, **MERGED}
        ids = [known.get(piece) or ord(piece) for piece in PIECES.findall(text)]
        return [SPECIAL["<|bos|>"], *ids] if add_special_tokens else ids

    def whole(self, messages: Any) -> list[int]:
        """The ids of a conversation, tokenised in one go."""
        return self.encode(
            self.apply_chat_template(messages, tokenize=False, add_generation_prompt=True), add_special_tokens=False
        )


@pytest.fixture(scope="session")
def tokenizer_class() -> type[Tokenizer]:
    return Tokenizer
