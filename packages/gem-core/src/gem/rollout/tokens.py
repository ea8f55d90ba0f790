"""Token ids of growing conversations: the prompt of each turn, made of the ids sampled before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from gem.rollout.episode import Episode
from gem.rollout.records import Turn
from gem.wrappers.messages import Message, Messages
from gem.wrappers.template import ChatTemplate


class Tokenizer(Protocol):
    """What is asked of a tokenizer: these methods of transformers' tokenizers (and ``all_special_ids``, if there)."""

    def apply_chat_template(
        self, conversation: Any, *, tokenize: bool = ..., add_generation_prompt: bool = ..., **kwargs: Any
    ) -> Any: ...

    def encode(self, text: str, *, add_special_tokens: bool = ...) -> list[int]: ...


class TokenPrompts:
    """Turns the observation of an episode into the token ids to prompt with.

    ::

        prompts = TokenPrompts(tokenizer)

        def policy(observations, episodes):
            return [generate(prompts(episode)) for episode in episodes]

    The prompt of a turn is the prompt of the turn before, the ids sampled in answer to it, and the ids of what the
    chat template puts behind: the end of the turn, its separator, the new messages, the generation prompt. Nothing
    sampled is tokenised again, and where the sampler did not sample the end of the turn (a response cut by length),
    the template's own is added, as tokens the model did not sample. Then :meth:`Episode.flat` gives one row.

    Where that would not be what the template makes of the whole conversation (it removed earlier thinking, it trims
    responses; or the observation dropped or changed earlier messages), the prompt is tokenised from the whole, and
    ``flat`` begins a new row there: nothing is trained after a prompt it was not sampled from.

    Args:
        tokenizer: as transformers' tokenizers.
        chat: an observation that is a text becomes one user message; ``False``: it is the prompt as it stands.
        keep_responses: go on from the ids as sampled even where the template would rewrite earlier turns: one row,
            with prompts that the template alone would not have made. Needs observations that are messages.
        **template: variables of the template, such as ``enable_thinking=False`` or ``tools=[...]``.
    """

    def __init__(
        self, tokenizer: Tokenizer, *, chat: bool = True, keep_responses: bool = False, **template: Any
    ) -> None:
        self.tokenizer = tokenizer
        self.chat = chat
        self.keep_responses = keep_responses
        self._template = ChatTemplate(tokenizer, **template) if chat else None
        special = getattr(tokenizer, "all_special_ids", None) or [getattr(tokenizer, "eos_token_id", None)]
        self._special = frozenset(special)

    def __call__(self, episode: Episode) -> list[int]:
        """The ids of the prompt for the observation that the episode wants answered."""
        if episode.turns:
            extended = self.extend(episode.turns[-1], episode.observation)
            if extended is not None:
                return extended
        return self.encode(episode.observation)

    def encode(self, observation: Any) -> list[int]:
        """The ids of a prompt that goes on from nothing."""
        # a chat template writes its special tokens itself
        return self.tokenizer.encode(self.text(observation), add_special_tokens=not self.chat)

    def text(self, observation: Any) -> str:
        """The text of the prompt."""
        if self._template is not None:
            return self._template.render(_messages(observation))
        if not isinstance(observation, str):
            raise TypeError(f"chat=False takes observations that are text, got {type(observation).__name__}")
        return observation

    def extend(self, turn: Turn, observation: Any) -> list[int] | None:
        """The ids of the prompt for ``observation``, which follows ``turn``; ``None`` where it does not extend it."""
        if turn.prompt_ids is None or turn.response_ids is None:
            return None
        added = self._added(turn, observation)
        if added is None:
            return None
        ids = self.tokenizer.encode(added, add_special_tokens=False)
        sampled = turn.response_ids
        if sampled and ids and sampled[-1] == ids[0]:
            del ids[0]  # the model ended its turn itself
        elif sampled and sampled[-1] in self._special and not self.keep_responses:
            return None  # it ended the turn in a way the template does not write
        return [*turn.prompt_ids, *sampled, *ids]

    def _added(self, turn: Turn, observation: Any) -> str | None:
        """The text behind the response of ``turn``."""
        if self.keep_responses and self._template is not None:
            before, after = _messages(turn.observation), _messages(observation)
            new = after[len(before) + 1 :]
            if not new or list(after[: len(before)]) != list(before):
                return None
            return self._template.continuation("ok", new)
        start = self.text(turn.observation) + turn.response
        text = self.text(observation)
        return text[len(start) :] if text.startswith(start) else None


def _messages(observation: Any) -> Sequence[Message]:
    if isinstance(observation, str) or (observation and isinstance(observation, list) and "role" not in observation[0]):
        return [{"role": "user", "content": observation}]
    if isinstance(observation, (Messages, list, tuple)):
        return observation
    raise TypeError(f"an observation is a text, content parts or messages; got {type(observation).__name__}")
