"""What all games share: reading a move, counting turns, rewards, the end of an episode, state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from gem.env import Env
from gem.errors import GemError, ResetNeeded
from gem.parsing import last_boxed
from gem_games.options import one_of

#: How a move ended: ``None`` the game goes on, ``True`` won, ``False`` lost, a text: not carried out, and why.
Outcome = bool | str | None
Step = tuple[str, float, bool, bool, dict[str, Any]]

#: Reward of a response in which no move can be read.
FORMAT_ERROR = -0.1

#: Responses up to this many characters are remembered with the move they hold.
_SHORT = 96


class NoSolution(GemError):
    """The solver knows no way to win from the current position."""


class Game(Env):
    r"""A game of one player in turns, played by writing ``\boxed{move}``.

    A subclass is one game in one file. It calls ``super().__init__(settings, format_error)`` with the settings it
    was asked for (dictionaries of its options; several when some are drawn at each reset) and implements:

    ==============  ============================================================================================
    ``rules``       the text that opens an episode; may read the options as attributes
    ``deal``        sets up a new episode from :attr:`rng`
    ``read``        the move a box holds, or ``None``; a pure function of its text
    ``play``        carries out a move: ``(observation, reward, outcome)``
    ``board``       the current board as text, empty for games without one
    ``credit``      reward for what was achieved when the turn limit cuts the episode off
    ``random_move`` a random move as text
    ``solution``    the best next move as text, for games that have a solver
    ==============  ============================================================================================

    Attributes hold the episode's state as immutable values or flat ``list``, ``dict``, ``set`` and ``bytearray``
    of immutable values, which is what :meth:`get_state` copies.

    Rewards: 1.0 in total for success, 0.0 for a move that is not allowed (``info["invalid_action"]`` says why),
    -0.1 for a response without a readable move, which ends the episode unless ``format_error="continue"``.
    """

    #: What asks for the next move, after the board.
    request: str = "Your move:"
    #: Turns an episode may take; an option of every game.
    max_turns: int
    #: Turns taken in this episode.
    turn: int = 0
    #: Whether an episode is under way.
    playing: bool = False

    #: ``read`` of the whole response, remembering short ones; made for each subclass.
    _read_short: ClassVar[Any]

    #: Whether there is a board to show; made for each subclass.
    _has_board: ClassVar[bool]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._has_board = cls.board is not Game.board
        cls._read_short = staticmethod(lru_cache(maxsize=2048)(cls._read_response))

    def __init__(self, settings: Sequence[dict[str, Any]], format_error: str) -> None:
        self.format_error = one_of("format_error", format_error, ("terminate", "continue"))
        self._settings = tuple(settings)
        self._prompts: list[str | None] = [None] * len(self._settings)
        self._apply(self._settings[0])

    def _apply(self, setting: dict[str, Any]) -> None:
        for name, value in setting.items():
            setattr(self, name, value)  # touching __dict__ would slow down every attribute of this instance

    # -- what a game implements -----------------------------------------------------------------------

    def rules(self) -> str:
        """The text that opens an episode: rules, how to write a move, the turn limit."""
        raise NotImplementedError

    def deal(self) -> None:
        """Set up a new episode, drawing from :attr:`rng` only."""
        raise NotImplementedError

    @staticmethod
    def read(box: str) -> Any | None:
        """The move a box holds, immutable, or ``None`` when it holds none. Must depend on its text only."""
        raise NotImplementedError

    def play(self, move: Any) -> tuple[str, float, Outcome]:
        """Carry out a move: what happened, its reward, and how it ended."""
        raise NotImplementedError

    def board(self) -> str:
        """The current board as text."""
        return ""

    def credit(self) -> float:
        """Reward for what was achieved, added to the last turn when the turn limit is reached."""
        return 0.0

    def random_move(self) -> str:
        """A random readable move, without its box."""
        raise NotImplementedError

    def solution(self) -> str:
        """The best next move, without its box."""
        raise NotImplementedError(f"{type(self).__name__} has no solver")

    # -- the interface --------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode: the rules, and the board in ``info["suffix"]``. ``options`` is not used."""
        if seed is not None or options is not None:
            super().reset(seed=seed, options=options)
        settings = self._settings
        index = 0
        if len(settings) > 1:
            index = int(self.rng.random() * len(settings))
            self._apply(settings[index])
        self.turn = 0
        self.deal()
        self.playing = True
        prompt = self._prompts[index]
        if prompt is None:
            prompt = self._prompts[index] = self.rules()
        return prompt, {"suffix": self.suffix()}

    def step(self, action: str) -> Step:
        """Play the move in the last box of ``action``."""
        if not self.playing:
            self._check(action)
            raise ResetNeeded
        try:
            move = self._read_short(action) if len(action) <= _SHORT else self._read_response(action)
        except TypeError:
            self._check(action)
            raise
        turn = self.turn = self.turn + 1
        if move is None:
            return self._format_error()
        observation, reward, outcome = self.play(move)
        if outcome is None and turn < self.max_turns:
            suffix = f"{self.board()}\n{self.request}" if self._has_board else self.request
            return observation, reward, False, False, {"suffix": suffix}
        return self._unusual(observation, reward, outcome)

    def suffix(self) -> str:
        """The board and the request for the next move."""
        return f"{self.board()}\n{self.request}" if self._has_board else self.request

    def sample_random_action(self) -> str:
        return "\\boxed{" + self.random_move() + "}"

    def solve(self) -> str:
        """The solver's next action in the current position; following it from the start wins.

        Raises:
            NotImplementedError: the game has no solver.
            NoSolution: the position cannot be won any more.
            gem.ResetNeeded: no episode is under way.
        """
        if not self.playing:
            raise ResetNeeded
        return "\\boxed{" + self.solution() + "}"

    # -- turns that are not plain ---------------------------------------------------------------------

    def _unusual(self, observation: str, reward: float, outcome: Outcome) -> Step:
        """A step that ends the episode, or a move that was not carried out."""
        info: dict[str, Any] = {}
        if isinstance(outcome, str):
            info["invalid_action"] = outcome
        elif outcome is not None:
            return self._end(observation, reward, info, won=outcome)
        if self.turn < self.max_turns:
            info["suffix"] = self.suffix()
            return observation, reward, False, False, info
        return self._cut(observation, reward + self.credit(), info)

    def _format_error(self) -> Step:
        reason = "no move found: write it as \\boxed{...}, in the form the rules give"
        info: dict[str, Any] = {"invalid_action": reason}
        observation = f"Turn {self.turn}: {reason}."
        if self.format_error == "terminate":
            return self._end(observation, FORMAT_ERROR, info, won=False)
        if self.turn < self.max_turns:
            info["suffix"] = self.suffix()
            return observation, FORMAT_ERROR, False, False, info
        return self._cut(observation, FORMAT_ERROR, info)

    def _end(self, observation: str, reward: float, info: dict[str, Any], won: bool) -> Step:
        self.playing = False
        info["suffix"] = self.board()
        info["success"] = won
        return observation, reward, True, False, info

    def _cut(self, observation: str, reward: float, info: dict[str, Any]) -> Step:
        self.playing = False
        info["suffix"] = self.board()
        info["success"] = False
        return f"{observation} That was the last of {self.max_turns} turns.", reward, False, True, info

    def invalid(self, reason: str) -> tuple[str, float, Outcome]:
        """What :meth:`play` returns for a move that is not allowed: a turn is spent, nothing changes."""
        return f"Turn {self.turn}: not a valid move, {reason}.", 0.0, reason

    # -- reading --------------------------------------------------------------------------------------

    @classmethod
    def _read_response(cls, response: str) -> Any | None:
        if not isinstance(response, str):
            raise TypeError
        box = last_boxed(response)
        return None if box is None else cls.read(box)

    def _check(self, action: Any) -> None:
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, the agent's whole response; got {type(action).__name__}")

    # -- state ----------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        state = {
            name: value.copy() if isinstance(value, (list, dict, set, bytearray)) else value
            for name, value in self.__dict__.items()
            if name not in _NOT_STATE
        }
        state["_rng"] = self.rng.getstate()
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        rng = self.rng
        rng.setstate(state["_rng"])
        kept = {name: self.__dict__[name] for name in _NOT_STATE if name in self.__dict__}
        self.__dict__.clear()
        self.__dict__.update(kept)
        for name, value in state.items():
            if name != "_rng":
                self.__dict__[name] = value.copy() if isinstance(value, (list, dict, set, bytearray)) else value


#: Attributes that describe the instance rather than the episode; ``pages`` is what a game reads from.
_NOT_STATE = frozenset({"spec", "_init_arguments", "_rng", "_np_random", "_settings", "_prompts", "pages"})

_COMMANDS = re.compile(r"\\(?:text|textbf|textit|texttt|mathrm|mathbf|mathit|mathtt|mathsf|operatorname)\b\s*")
_BLANKS = re.compile(r"\\(?:[,;:! ]|quad\b|qquad\b|left\b|right\b|displaystyle\b)|[\s,;:~$`'\"(){}\[\]]+")


def clean(box: str) -> str:
    r"""The words of a box in lower case, separated by single blanks, without harmless decoration.

    Removed: ``$``, ``\text{}`` and its kin, LaTeX spacing, commas, brackets, quotes, and full stops at the end.

    >>> clean(r" $\text{Reveal}$ (1, 2). ")
    'reveal 1 2'
    """
    if box.isalnum():
        return box.lower()
    if box.replace(" ", "").isalnum():  # words and numbers only, which is what most moves are
        return " ".join(box.split()).lower()
    if "\\" in box:
        box = _COMMANDS.sub(" ", box)
    return " ".join(_BLANKS.sub(" ", box).split()).strip(" .:!?").replace("\u2212", "-").lower()


_NUMBER = re.compile(r"[-+]?\d+")


def number(word: str) -> int | None:
    """The whole number a word writes, or ``None``. Digits of any script; beyond 18 digits it saturates at ±10**18."""
    if not _NUMBER.fullmatch(word):
        return None
    if len(word) > 18:
        digits = word.lstrip("+-")
        if len(digits.lstrip("0")) > 18 or len(digits) > 4000:
            return -(10**18) if word[0] == "-" else 10**18
    return int(word)


def numbers(words: Iterable[str]) -> tuple[int, ...] | None:
    """All words as whole numbers, or ``None`` if one of them is not or there are none."""
    found = []
    for word in words:
        value = number(word)
        if value is None:
            return None
        found.append(value)
    return tuple(found) or None


DIRECTIONS = ("up", "down", "left", "right")
_DIRECTIONS = {name: index for index, name in enumerate(DIRECTIONS)}


def direction(box: str) -> int | None:
    """The index in :data:`DIRECTIONS` of the direction a box names, or ``None``."""
    return _DIRECTIONS.get(clean(box))
