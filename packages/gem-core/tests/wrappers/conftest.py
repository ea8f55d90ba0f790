"""A scripted environment, and chat templates small enough to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gem


class Scripted(gem.Env):
    """Returns the steps it was given, one after the other, and remembers what it was called with."""

    def __init__(
        self, steps: list[Any] | None = None, first: Any = "Rules.", info: dict[str, Any] | None = None
    ) -> None:
        self.steps = steps if steps is not None else [(f"Turn {n}.", 0.5, False, False, {}) for n in range(1, 9)]
        self.first = first
        self.first_info = info if info is not None else {}
        self.turn = 0
        self.actions: list[str] = []
        self.reset_with: dict[str, Any] = {}
        self.closed = 0

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, idx: int | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.reset_with = {"seed": seed, "options": options, "idx": idx}
        self.turn = 0
        self.actions = []
        return self.first, dict(self.first_info)

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.steps[self.turn]
        self.turn += 1
        self.actions.append(action)
        return observation, reward, terminated, truncated, dict(info)

    def close(self) -> None:
        self.closed += 1


class ChatML:
    """A tokenizer whose template is ChatML; it counts how many messages it had to write."""

    def __init__(self, strip_thinking: bool = False, roles: tuple[str, ...] = ("system", "user", "assistant", "tool")):
        self.strip_thinking = strip_thinking
        self.roles = roles
        self.written = 0

    def apply_chat_template(
        self, conversation: Any, *, tokenize: bool = True, add_generation_prompt: bool = False, **kwargs: Any
    ) -> str:
        assert not tokenize
        text = ""
        messages = list(conversation)
        self.written += len(messages)
        last_user = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
        for i, message in enumerate(messages):
            if message["role"] not in self.roles:
                raise ValueError(f"no role {message['role']}")
            content = message["content"]
            if self.strip_thinking and message["role"] == "assistant" and i < last_user:
                content = content.rpartition("</think>\n\n")[2]
            text += f"<|im_start|>{message['role']}\n{content}<|im_end|>\n"
        return text + "<|im_start|>assistant\n" if add_generation_prompt else text


@pytest.fixture(scope="session")
def scripted() -> Callable[..., Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def chatml() -> Callable[..., ChatML]:
    return ChatML
