"""GuessTheNumber: find a hidden number from "higher" and "lower"."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Any

from gem_games.base import Game, Outcome, clean, number
from gem_games.options import complete, whole


class GuessTheNumber(Game):
    r"""A hidden whole number is guessed with ``\boxed{n}``; each guess is answered with higher or lower.

    Reward 1.0 for the number. At the turn limit, 1 - |guess - number| / (max_number - min_number) for the last
    guess, if it is in range. Repeats and guesses out of range are not valid moves.

    Args:
        min_number: smallest number it can be; ``None`` draws 1 to 10.
        max_number: largest; ``None`` draws ``min_number`` + 5 to + 50.
        max_turns: guesses allowed; ``None`` gives ceil(sqrt(max_number - min_number)) + 1.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    request = "Your guess:"
    min_number: int
    max_number: int

    def __init__(
        self,
        min_number: int | None = 1,
        max_number: int | None = 20,
        max_turns: int | None = 20,
        format_error: str = "terminate",
    ) -> None:
        given = {"min_number": min_number, "max_number": max_number, "max_turns": max_turns}
        super().__init__(complete(given, _levels(min_number, max_number), _checked), format_error)

    def rules(self) -> str:
        return (
            f"Guess the Number. I have chosen a whole number from {self.min_number} to {self.max_number}.\n"
            "After each guess I tell you whether my number is higher or lower.\n"
            f"You have {self.max_turns} guesses. Write each one as \\boxed{{number}}, for example "
            f"\\boxed{{{self.min_number}}}; guess no number twice."
        )

    def deal(self) -> None:
        low = self.min_number
        self.target = low + int(self.rng.random() * (self.max_number - low + 1))
        self.guesses: set[int] = set()
        self.last: int | None = None

    @staticmethod
    def read(box: str) -> int | None:
        return number(clean(box))

    def play(self, move: int) -> tuple[str, float, Outcome]:
        if not self.min_number <= move <= self.max_number:
            self.last = None
            return self.invalid(f"{move} is outside {self.min_number} to {self.max_number}")
        self.last = move
        if move in self.guesses:
            return self.invalid(f"{move} was guessed before")
        self.guesses.add(move)
        target = self.target
        if move < target:
            return f"Turn {self.turn}: my number is higher than {move}.", 0.0, None
        if move > target:
            return f"Turn {self.turn}: my number is lower than {move}.", 0.0, None
        return f"Turn {self.turn}: {move} is my number. You win!", 1.0, True

    def credit(self) -> float:
        if self.last is None:
            return 0.0
        return 1.0 - abs(self.last - self.target) / (self.max_number - self.min_number)

    def random_move(self) -> str:
        return str(self.min_number + int(self.rng.random() * (self.max_number - self.min_number + 1)))

    def solution(self) -> str:
        """The middle of what the hints leave."""
        low = max((guess + 1 for guess in self.guesses if guess < self.target), default=self.min_number)
        high = min((guess - 1 for guess in self.guesses if guess > self.target), default=self.max_number)
        return str((low + high) // 2)


def _levels(min_number: int | None, max_number: int | None) -> Iterator[dict[str, Any]]:
    """The settings of the random level, around the options that are given."""
    for low in range(1, 11) if min_number is None else (whole("min_number", min_number),):
        for high in range(low + 5, low + 51) if max_number is None else (whole("max_number", max_number),):
            span = max(high - low, 0)
            turns = 1 + (isqrt(span - 1) + 1 if span else 0)
            yield {"min_number": low, "max_number": high, "max_turns": turns}


def _checked(min_number: int, max_number: int, max_turns: int) -> dict[str, Any]:
    low = whole("min_number", min_number, -_LARGEST, _LARGEST - 1)
    return {
        "min_number": low,
        "max_number": whole("max_number", max_number, low + 1, _LARGEST),
        "max_turns": whole("max_turns", max_turns, 1),
    }


#: Beyond this, ``random()`` has fewer steps than the range has numbers.
_LARGEST = 2**50
