"""The whole history as chat messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

from gem.env import Env, Wrapper, observes
from gem.wrappers.content import Content, frame

Message = dict[str, Any]


class Messages(Sequence[Message]):
    """The conversation up to one moment: a read-only sequence of ``{"role": ..., "content": ...}``.

    All observations of an episode share one growing log, of which each sees the part up to its own end. Making the
    next one therefore costs the new messages only, and one kept in a record never changes. The messages are made when
    they are read, so what a reader does with them concerns nobody else. It serves wherever a sequence will do (chat
    templates among them); ``list(messages)`` is for JSON and for libraries that insist on a list.
    """

    __slots__ = ("_end", "_log")

    #: One entry a message, up to ``_end`` (what follows is later than this conversation): the bare content where
    #: user and assistant take turns, with the user last; ``(role, content)`` where the role is another.
    _log: list[Any]
    _end: int

    # No __init__: filling in the fields from outside halves the cost of making one, which is most of a step's.

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Messages:
        """A conversation of these messages.

        >>> Messages.of([{"role": "user", "content": "hello"}])[-1]["content"]
        'hello'
        """
        self = cls()
        self._log = [(message["role"], message["content"]) for message in messages]
        self._end = len(self._log)
        return self

    def kept(self) -> Messages:
        """What of this conversation later ones go on from; another one only where a suffix was passing."""
        return self

    def __len__(self) -> int:
        return self._end

    def __iter__(self) -> Iterator[Message]:
        return map(self._message, range(self._end))

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return [self._message(position) for position in range(*index.indices(self._end))]
        position = index + self._end if index < 0 else index
        if not 0 <= position < self._end:
            raise IndexError(f"there is no message {index}: the conversation has {self._end}")
        return self._message(position)

    def _message(self, position: int) -> Message:
        entry = self._log[position]
        if type(entry) is tuple:
            return {"role": entry[0], "content": entry[1]}
        return {"role": "user" if (self._end - position) % 2 else "assistant", "content": entry}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Messages, list, tuple)):
            return list(self) == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Messages.of, (list(self),)

    def __repr__(self) -> str:
        return repr(list(self))


class _Passing(Messages):
    """A conversation that shows something else for its last message than will be history."""

    __slots__ = ("_shown",)

    _shown: Content

    def kept(self) -> Messages:
        messages = Messages()
        messages._log = self._log
        messages._end = self._end
        return messages

    def _message(self, position: int) -> Message:
        message = super()._message(position)
        if position == self._end - 1:
            message["content"] = self._shown
        return message


class ChatMessages(Wrapper):
    """Shows the episode as a chat: observations are the user's messages, responses the assistant's.

    An observation with ``info["use_tool"]`` is a ``tool`` message. Where the environment gives
    ``info["parsed_action"]``, that is the response. A step costs the new messages only; see :class:`Messages`.

    Args:
        env: the environment to wrap.
        system: a system message to begin with.
        keep_suffix: prefix and suffix stay part of their message for good, so that each conversation extends the one
            before it: servers reuse their cache and trainers get one sequence an episode. ``False`` shows the newest
            ones only, which keeps the conversation short but changes an earlier message each turn.
    """

    def __init__(self, env: Env, system: str | None = None, keep_suffix: bool = True) -> None:
        super().__init__(env)
        self.system = system
        self.keep_suffix = keep_suffix
        self._log: list[Any] = []

    @observes
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options, **kwargs)
        # a new list, since the observations of the last episode still look at theirs
        self._log = [] if self.system is None else [("system", self.system)]
        return _extended(self._log, observation, info, self.keep_suffix), info

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        log = self._log
        if info:
            log.append(info.get("parsed_action", action))
            messages = _extended(log, observation, info, self.keep_suffix)
            return messages, reward, terminated, truncated, info
        # nothing to look up: the same, written out
        log.append(action)
        log.append(observation)
        messages = Messages()
        messages._log = log
        messages._end = len(log)
        return messages, reward, terminated, truncated, info


def _extended(log: list[Any], observation: Content, info: dict[str, Any], keep_suffix: bool) -> Messages:
    """Add an observation to the log and return the conversation up to it."""
    shown = frame(observation, info) if "suffix" in info or "prefix" in info else observation
    if keep_suffix or shown is observation:
        messages = Messages()
        observation = shown
    else:
        messages = _Passing()
        messages._shown = shown
    log.append(("tool", observation) if info.get("use_tool") else observation)
    messages._log = log
    messages._end = len(log)
    return messages
