"""WordSearch: find the words hidden in a grid of letters."""

from __future__ import annotations

from functools import cache
from math import isqrt
from random import Random
from typing import Any, NamedTuple

from gem_games.base import Game, Outcome, clean, numbers
from gem_games.options import complete, flag, whole
from gem_games.words import rare_words, words


class WordSearch(Game):
    r"""Words hidden in a grid are named by the cells of their ends, ``\boxed{row column row column}``, counted from 0.

    Words run across or down; either end may come first. Each occurs exactly once. Reward: 1 / words for every word
    found. Guesses outside the grid, askew, or made before are not valid moves.

    Args:
        hardcore: whether the words are long and rarer ones in a larger grid instead of common ones; ``None`` draws.
        max_turns: guesses allowed; ``None`` gives 20.
        num_words: hidden words, 1 to 20; ``None`` gives 5.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    request = "Your guess:"
    hardcore: bool
    num_words: int
    #: Rows and columns of the grid.
    side: int = 1

    def __init__(
        self,
        hardcore: bool | None = False,
        max_turns: int | None = 20,
        num_words: int | None = 5,
        format_error: str = "terminate",
    ) -> None:
        given = {"hardcore": hardcore, "max_turns": max_turns, "num_words": num_words}
        super().__init__(complete(given, LEVELS, _checked), format_error)

    def rules(self) -> str:
        return (
            f"Word search. The grid hides {self.num_words} words, listed below it. Each runs across or down, exactly "
            "once. Rows are counted from the top and columns from the left, both from 0.\n"
            "Name a word by the row and column of its first and of its last letter, "
            "\\boxed{row column row column}; for example, \\boxed{1 1 1 5} is the word in row 1 from column 1 to "
            "column 5. Words found are marked with [ ].\n"
            f"You have {self.max_turns} turns; guess nothing twice."
        )

    def deal(self) -> None:
        self.side, self.letters, placed = generate(self.num_words, self.hardcore, self.rng)
        self.places: dict[tuple[int, int, int, int], str] = {}
        for word, start, step in placed:
            first, last = divmod(start, self.side), divmod(start + step * (len(word) - 1), self.side)
            self.places[first + last] = self.places[last + first] = word
        self.found: set[str] = set()
        self.tried: set[tuple[int, int, int, int]] = set()
        self.grid = _draw(self.side, self.letters)
        self.text = f"{self.grid}\nTo find: {' '.join(dict.fromkeys(self.places.values()))}"
        self.gain = 1.0 / self.num_words
        self.earned = 0.0

    @staticmethod
    def read(box: str) -> tuple[int, ...] | None:
        move = numbers(clean(box).split())
        return move if move is not None and len(move) == 4 else None

    def play(self, move: tuple[int, int, int, int]) -> tuple[str, float, Outcome]:
        if move in self.tried:
            return self.invalid("this was guessed before")
        word = self.places.get(move)
        if word is None:
            row, column, last_row, last_column = move
            side = self.side
            if not (0 <= row < side and 0 <= column < side and 0 <= last_row < side and 0 <= last_column < side):
                return self.invalid(f"rows and columns go from 0 to {side - 1}")
            if row != last_row and column != last_column:
                return self.invalid("words run across or down, so both cells are in one row or in one column")
            self.tried.add(move)
            return (
                f"Turn {self.turn}: none of the words runs from {row} {column} to {last_row} {last_column}.",
                0.0,
                None,
            )
        self.tried.add(move)
        if word in self.found:
            return self.invalid(f"{word} was found before")
        self.found.add(word)
        self._mark(move)
        if len(self.found) == self.num_words:
            return f"Turn {self.turn}: {word} was the last word. You win!", 1.0 - self.earned, True
        self.earned += self.gain
        return f"Turn {self.turn}: you found {word}.", self.gain, None

    def _mark(self, move: tuple[int, int, int, int]) -> None:
        """Put the cells of a word in brackets."""
        row, column, last_row, last_column = move
        width = _line(self.side)
        grid = list(self.grid)
        for r in range(min(row, last_row), max(row, last_row) + 1):
            for c in range(min(column, last_column), max(column, last_column) + 1):
                at = (r + 1) * width + 5 + 3 * c
                grid[at - 1], grid[at + 1] = "[", "]"
        self.grid = "".join(grid)
        left = [word for word in dict.fromkeys(self.places.values()) if word not in self.found]
        self.text = f"{self.grid}\nTo find: {' '.join(left) or 'nothing'}"

    def board(self) -> str:
        return self.text

    def random_move(self) -> str:
        random, side = self.rng.random, self.side
        line, first, last = int(random() * side), int(random() * side), int(random() * side)
        return f"{line} {first} {line} {last}" if random() < 0.5 else f"{first} {line} {last} {line}"

    def solution(self) -> str:
        """The first word that is not found yet."""
        move = next(move for move, word in self.places.items() if word not in self.found)
        return " ".join(map(str, move))


def _line(side: int) -> int:
    """Characters a line of the drawn grid, its end included: a row's number, and three a cell."""
    return 4 + 3 * side + 1


def _draw(side: int, letters: str) -> str:
    head, labels = _labels(side)
    lines = [f"{labels[row]}{'  '.join(letters[row * side : (row + 1) * side])} " for row in range(side)]
    return "\n".join([head, *lines])


@cache
def _labels(side: int) -> tuple[str, list[str]]:
    """The line above the grid, and what stands before the letters of each row."""
    return "    " + "".join(f"{column:^3}" for column in range(side)), [f"{row:>3}  " for row in range(side)]


# -- generation -------------------------------------------------------------------------------------------


class Placed(NamedTuple):
    """A word in the grid: the cell of its first letter, and the distance from one cell to the next."""

    word: str
    start: int
    step: int


def generate(num_words: int, hardcore: bool, rng: Random) -> tuple[int, str, list[Placed]]:
    """A square grid that holds each of its words exactly once, read in any of the four directions.

    Returns:
        the side of the square, its letters row by row in upper case, and the words in it.
    """
    while True:
        chosen = _choose(num_words, _pool(hardcore), rng)
        size = sum(map(len, chosen))
        side = max(round(1.5 * max(map(len, chosen))), isqrt(2 * size) + 1)
        placed = _place(chosen, side, rng)
        if placed is None:
            continue
        for _ in range(5):
            letters = bytearray(rng.randbytes(side * side).translate(_FILLING))
            for word, start, step in placed:
                letters[start : start + step * len(word) : step] = word.encode()
            if _each_once(letters.decode(), side, chosen):
                return side, letters.decode(), placed


def _choose(count: int, pool: tuple[str, ...], rng: Random) -> list[str]:
    """Different words, none of which is read inside another one, forwards or backwards."""
    random = rng.random
    chosen: list[str] = []
    while len(chosen) < count:
        word = pool[int(random() * len(pool))]
        back = word[::-1]
        if not any(word in other or back in other or other in word or other in back for other in chosen):
            chosen.append(word)
    return chosen


def _place(chosen: list[str], side: int, rng: Random) -> list[Placed] | None:
    """A place for each word, at random, longest first; words may cross. ``None`` if one finds no place."""
    random = rng.random
    cells = [""] * side**2
    placed = []
    for word in sorted(chosen, key=len, reverse=True):
        length = len(word)
        for _ in range(100):
            line, offset = int(random() * side), int(random() * (side - length + 1))
            start, step = (line * side + offset, 1) if random() < 0.5 else (offset * side + line, side)
            there = cells[start : start + step * length : step]
            if not any(there) or all(a == b or not a for a, b in zip(there, word, strict=True)):
                cells[start : start + step * length : step] = word
                placed.append(Placed(word, start, step))
                break
        else:
            return None
    return placed


def _each_once(letters: str, side: int, chosen: list[str]) -> bool:
    """Whether every word is read exactly once: across or down, forwards or backwards."""
    rows = [letters[at : at + side] for at in range(0, side * side, side)]
    columns = [letters[at::side] for at in range(side)]
    lines = " ".join(rows + columns)
    for word in chosen:
        back = word[::-1]
        if lines.find(word, lines.index(word) + 1) >= 0 or (back != word and back in lines):
            return False
    return True


#: Byte -> letter, about as often as English text has it, so that the filling looks like words.
_FREQUENCIES = {
    "A": 21, "B": 4, "C": 7, "D": 11, "E": 30, "F": 6, "G": 6, "H": 15, "I": 18, "J": 1, "K": 3, "L": 10, "M": 6,
    "N": 17, "O": 19, "P": 5, "Q": 1, "R": 15, "S": 16, "T": 22, "U": 7, "V": 3, "W": 6, "X": 1, "Y": 5, "Z": 1,
}  # fmt: skip
_FILLING = "".join(letter * count for letter, count in _FREQUENCIES.items()).encode()


@cache
def _pool(hardcore: bool) -> tuple[str, ...]:
    """Words that may be hidden, in upper case."""
    lists = (rare_words(7), words(8), words(9), words(10)) if hardcore else (words(n) for n in range(3, 8))
    return tuple([word.upper() for some in lists for word in some])


#: What is drawn from.
LEVELS = tuple({"hardcore": hardcore, "max_turns": 20, "num_words": 5} for hardcore in (False, True))


def _checked(hardcore: bool, max_turns: int, num_words: int) -> dict[str, Any]:
    return {
        "hardcore": flag("hardcore", hardcore),
        "max_turns": whole("max_turns", max_turns, 1),
        "num_words": whole("num_words", num_words, 1, 20),
    }
