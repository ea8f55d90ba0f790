"""What TextArena shows a player, kept up to date message by message.

TextArena's observation wrappers put the whole text together again at each turn; these add to it, and give the same.
"""

from __future__ import annotations

from typing import Any

#: Kinds of message that some views leave out.
_NO_MESSAGE = ("PLAYER_ACTION", "GAME_ADMIN")


class View:
    """The messages one player has got, as text."""

    def add(self, sender: str, text: str, kind: str) -> None:
        """Take in a message.

        Args:
            sender: the name of a role, or ``GAME``.
            text: what is said.
            kind: the name of TextArena's ``ObservationType``.
        """
        raise NotImplementedError

    def acted(self) -> None:
        """The player has acted."""

    def text(self) -> str:
        """What the player sees."""
        raise NotImplementedError


class History(View):
    """Everything since the game began: what ids without ``-raw`` and ``-train`` show."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, sender: str, text: str, kind: str) -> None:
        self._text += f"\n[{sender}] {text}"

    def text(self) -> str:
        return self._text


class News(History):
    """Everything since the player last acted: what ``-raw`` ids show."""

    def acted(self) -> None:
        self._text = ""


class Messages(View):
    """The prompt and what the game said, without actions."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, sender: str, text: str, kind: str) -> None:
        if kind not in _NO_MESSAGE:
            self._text += f"\n {text}"

    def text(self) -> str:
        return self._text


class Board(View):
    """The prompt and the latest board."""

    def __init__(self) -> None:
        self._prompt: str | None = None
        self._board: str | None = None

    def add(self, sender: str, text: str, kind: str) -> None:
        if kind == "PROMPT" and self._prompt is None:
            self._prompt = text
        elif kind == "GAME_BOARD":
            self._board = text

    def text(self) -> str:
        return "\n\n".join(part for part in (self._prompt, self._board) if part is not None)


class MessagesAndBoard(View):
    """The prompt, what the game said, and the latest board."""

    def __init__(self) -> None:
        self._prompt: str | None = None
        self._board: str | None = None
        self._messages = ""

    def add(self, sender: str, text: str, kind: str) -> None:
        if kind == "PROMPT":
            self._prompt = text
        elif kind == "GAME_BOARD":
            self._board = text
        elif kind not in _NO_MESSAGE:
            self._messages += f"\n{text}"

    def text(self) -> str:
        if self._prompt is None or self._board is None:  # a game without boards; TextArena's wrapper fails on it
            return "\n\n".join(part for part in (self._prompt, self._messages.strip(), self._board) if part)
        return f"{self._prompt}\n\n{self._messages.strip()}\n\n{self._board}"


class HistoryAndBoard(View):
    """Everything since the game began, with the latest board only."""

    def __init__(self) -> None:
        self._before = ""
        self._board = ""
        self._after = ""

    def add(self, sender: str, text: str, kind: str) -> None:
        if kind == "GAME_BOARD":
            self._before += self._after
            self._after = ""
            self._board = f"\n{text}"
        else:
            self._after += f"\n[{sender}]\t{text}"

    def text(self) -> str:
        return self._before + self._board + self._after


#: TextArena's observation wrapper -> the view that shows the same.
VIEWS: dict[str, type[View]] = {
    "LLMObservationWrapper": History,
    "GameMessagesObservationWrapper": Messages,
    "GameBoardObservationWrapper": Board,
    "GameMessagesAndCurrentBoardObservationWrapper": MessagesAndBoard,
    "SettlersOfCatanObservationWrapper": HistoryAndBoard,
}


def view_of(wrappers: Any) -> type[View]:
    """The view that stands for a list of TextArena's wrappers: :class:`News` where none shows anything."""
    for wrapper in wrappers:
        if wrapper.__name__ in VIEWS:
            return VIEWS[wrapper.__name__]
    return News
