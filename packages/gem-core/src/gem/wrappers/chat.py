"""The whole history as a tokenizer's chat template writes it."""

from __future__ import annotations

from typing import Any

from gem.env import Env, Wrapper, observes
from gem.wrappers.concat import Concat
from gem.wrappers.content import frame, line
from gem.wrappers.messages import ChatMessages, Messages
from gem.wrappers.template import ChatTemplate, ChatTokenizer


class ConcatChat(ChatMessages):
    """Shows the episode as one text, written by the chat template and ending with the generation prompt.

    Prefix and suffix stand inside the newest message, in front of the generation prompt, and do not become history.
    Where the template leaves earlier turns as they are, a step renders the new ones only.

    Args:
        env: the environment to wrap.
        tokenizer: anything with transformers' ``apply_chat_template``.
        system: a system message to begin with.
        keep_suffix: see :class:`ChatMessages`.
        **template: variables of the template, such as ``enable_thinking=False``.
    """

    state_excludes = (*Wrapper.state_excludes, "template")

    def __init__(
        self,
        env: Env,
        tokenizer: ChatTokenizer | None = None,
        system: str | None = None,
        keep_suffix: bool = False,
        **template: Any,
    ) -> None:
        super().__init__(env, system=system, keep_suffix=keep_suffix)
        self.template = ChatTemplate(_needed(tokenizer, "concat_chat"), **template)
        self._text = ""

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        messages, info = super().reset(seed=seed, options=options, **kwargs)
        shown = self.template.render(messages)
        self._text = self._history(messages, shown)
        return shown, info

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        messages, reward, terminated, truncated, info = super().step(action)
        response = messages[-2]["content"]
        added = self.template.continuation(response, messages[-1:]) if self.template.extends else None
        if added is None:
            shown = self.template.render(messages)
            self._text = self._history(messages, shown)
        else:
            shown = f"{self._text}{response}{added}"
            kept = messages.kept()
            if kept is messages:
                self._text = shown
            else:
                again = self.template.continuation(response, kept[-1:])
                self._text = f"{self._text}{response}{again}"
        return shown, reward, terminated, truncated, info

    def _history(self, messages: Messages, shown: str) -> str:
        """The text that later turns extend: without a prefix and suffix that are only passing."""
        kept = messages.kept()
        return shown if kept is messages else self.template.render(kept)


class ConcatChatOnReset(Concat):
    """Shows the first observation through the chat template and lets plain text follow: one long assistant turn.

    For environments that go on inside the model's own response, as tools that write their output into it do.

    Args:
        env: the environment to wrap.
        tokenizer: anything with transformers' ``apply_chat_template``.
        **template: variables of the template.
    """

    state_excludes = (*Wrapper.state_excludes, "template")

    def __init__(self, env: Env, tokenizer: ChatTokenizer | None = None, **template: Any) -> None:
        super().__init__(env, include_action=True)
        self.template = ChatTemplate(_needed(tokenizer, "concat_chat_on_reset"), **template)

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = Wrapper.reset(self, seed=seed, options=options, **kwargs)
        self._history = line(self.template.render([{"role": "user", "content": observation}]))
        if "prefix" not in info and "suffix" not in info:
            return self._history, info
        return line(self.template.render([{"role": "user", "content": frame(observation, info)}])), info


def _needed(tokenizer: ChatTokenizer | None, name: str) -> ChatTokenizer:
    if tokenizer is None:
        raise TypeError(f"{name} needs a tokenizer: get_wrapper_fns({name!r}, tokenizer=...)")
    return tokenizer
