"""The newest part of the history, by turns or by tokens."""

from __future__ import annotations

from collections import deque
from typing import Any

from gem.env import Env, Wrapper, observes
from gem.wrappers.content import Content, frame, join, line, place
from gem.wrappers.messages import Message, Messages

_FORMS = ("text", "messages")


class Window(Wrapper):
    """Shows the first observation, which states the task, and the newest turns that fit.

    A turn is a response with the observation that followed it. The newest one is always shown, whole.

    Args:
        env: the environment to wrap.
        turns: at most so many of the newest turns.
        tokens: at most so many tokens of first observation and turns, as ``counter`` counts them.
        counter: a tokenizer with ``encode``, or a function from text to a number.
        form: ``"text"`` or ``"messages"``.
        include_action: show the agent's responses (the text form may do without).
        keep_first: show the first observation when the turns after it have left the window.
    """

    state_excludes = (*Wrapper.state_excludes, "counter")

    def __init__(
        self,
        env: Env,
        turns: int | None = None,
        tokens: int | None = None,
        counter: Any = None,
        form: str = "text",
        include_action: bool = True,
        keep_first: bool = True,
    ) -> None:
        super().__init__(env)
        if turns is None and tokens is None:
            raise TypeError("a window needs a size: turns=... or tokens=...")
        if turns is not None and turns < 1:
            raise ValueError(f"turns must be at least 1, got {turns}")
        if (tokens is None) != (counter is None):
            raise TypeError("a window by tokens needs both tokens=... and counter=... (a tokenizer or a function)")
        if form not in _FORMS:
            raise ValueError(f"form must be 'text' or 'messages', got {form!r}")
        if form == "messages" and not include_action:
            raise ValueError("form='messages' shows responses always: leave include_action=True")
        self.turns = turns
        self.tokens = tokens
        self.counter = counter
        self.form = form
        self.include_action = include_action
        self.keep_first = keep_first
        self._first: tuple[str, Content] | None = None
        self._first_size = 0
        # (response, role of the observation, observation, tokens)
        self._held: deque[tuple[str, str, Content, int]] = deque()
        self._size = 0

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options, **kwargs)
        self._first = (_role(info), observation)
        self._first_size = self._count(observation)
        self._held.clear()
        self._size = 0
        return self._show(info), info

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        response = info.get("parsed_action", action)
        size = self._count(observation) + (self._count(response) if self.include_action else 0)
        self._held.append((response, _role(info), observation, size))
        self._size += size
        self._shrink()
        return self._show(info), reward, terminated, truncated, info

    def _shrink(self) -> None:
        while len(self._held) > 1 and self._overfull():
            self._size -= self._held.popleft()[3]
            if not self.keep_first:
                self._first = None

    def _overfull(self) -> bool:
        if self.turns is not None and len(self._held) > self.turns:
            return True
        size = self._size + (self._first_size if self._first is not None else 0)
        return self.tokens is not None and size > self.tokens

    def _count(self, content: Content) -> int:
        """Tokens of the text in a content; a turn is counted once, when it comes."""
        if self.counter is None:
            return 0
        texts = [content] if isinstance(content, str) else [p["text"] for p in content if p.get("type") == "text"]
        if hasattr(self.counter, "encode"):
            return sum(len(self.counter.encode(text, add_special_tokens=False)) for text in texts)
        return sum(int(self.counter(text)) for text in texts)

    # -- showing --------------------------------------------------------------------------------------

    def _beginning(self) -> list[Message]:
        """The messages in front of the turns."""
        return [] if self._first is None else [{"role": self._first[0], "content": self._first[1]}]

    def _show(self, info: dict[str, Any]) -> Any:
        messages = self._beginning()
        for response, role, observation, _ in self._held:
            messages.append({"role": "assistant", "content": response})
            messages.append({"role": role, "content": observation})
        if self.form == "text":
            shown = (m["content"] for m in messages if self.include_action or m["role"] != "assistant")
            return place(join([line(content) for content in shown]), info)
        if messages[0]["role"] == "assistant":
            del messages[0]  # a chat begins with the user
        if "prefix" in info or "suffix" in info:
            messages[-1] = {**messages[-1], "content": frame(messages[-1]["content"], info)}
        return Messages.of(messages)


def _role(info: dict[str, Any]) -> str:
    return "tool" if info.get("use_tool") else "user"
