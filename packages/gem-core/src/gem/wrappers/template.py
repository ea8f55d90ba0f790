"""A tokenizer's chat template: from messages to text, whole or turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from gem.wrappers.messages import Message


class ChatTokenizer(Protocol):
    """What is asked of a tokenizer: the method transformers' tokenizers have."""

    def apply_chat_template(
        self, conversation: Any, *, tokenize: bool = ..., add_generation_prompt: bool = ..., **kwargs: Any
    ) -> Any: ...


class ChatTemplate:
    """The chat template of a tokenizer, with its generation prompt.

    Args:
        tokenizer: anything with transformers' ``apply_chat_template``.
        **kwargs: variables of the template, such as ``enable_thinking=False`` or ``tools=[...]``.
    """

    def __init__(self, tokenizer: ChatTokenizer, **kwargs: Any) -> None:
        if not callable(getattr(tokenizer, "apply_chat_template", None)):
            raise TypeError(
                f"a chat template needs a tokenizer with apply_chat_template, got {type(tokenizer).__name__}; "
                "pass tokenizer=AutoTokenizer.from_pretrained(...)"
            )
        self.tokenizer = tokenizer
        self.kwargs = kwargs
        self._before: str | None = None
        self._extends: bool | None = None

    def render(self, messages: Sequence[Message]) -> str:
        """The text that asks the model for its response to ``messages``."""
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **self.kwargs)
        assert isinstance(text, str)
        return text

    def continuation(self, response: str, new: Sequence[Message]) -> str | None:
        """What the template puts after ``response`` when ``new`` messages follow.

        That is the end of the turn, the messages and the generation prompt; it costs the same however long the
        conversation is. ``None`` where the template writes the response otherwise than it was given, so that nothing
        can simply follow it.
        """
        asked: Message = {"role": "user", "content": "?"}
        if self._before is None:
            self._before = self.render([asked])
        whole = self.render([asked, {"role": "assistant", "content": response}, *new])
        start = self._before + response
        return whole[len(start) :] if whole.startswith(start) else None

    @property
    def extends(self) -> bool:
        """Whether the template leaves earlier turns as they are when others follow.

        Found by trying: some templates remove the thinking of earlier turns, and then the text of a conversation is
        not the beginning of the text of a longer one.
        """
        if self._extends is None:
            try:
                self._extends = self._try(tool=True)
            except Exception:  # templates refuse roles with an error of their own
                try:
                    self._extends = self._try(tool=False)
                except Exception:
                    self._extends = False
        return self._extends

    def _try(self, tool: bool) -> bool:
        thought = "<think>\nlet me see\n</think>\n\nanswer"
        talk = [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": thought},
            {"role": "tool" if tool else "user", "content": "second"},
            {"role": "assistant", "content": thought},
            {"role": "user", "content": "third"},
            {"role": "assistant", "content": "plain"},
            {"role": "user", "content": "fourth"},
        ]
        text = self.render(talk[:1])
        for end in (3, 5, 7):
            response = talk[end - 2]["content"]
            longer = self.render(talk[:end])
            if longer != f"{text}{response}{self.continuation(response, talk[end - 1 : end])}":
                return False
            text = longer
        return True
