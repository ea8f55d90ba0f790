"""Crosswords: fill a grid of crossing words letter by letter, from clues."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from gem_games.base import Game, Outcome, clean, number
from gem_games.options import complete, flag, whole

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


class Crosswords(Game):
    r"""Crossing words, each with a clue, filled letter by letter with ``\boxed{row column letter}``, counted from 0.

    Reward: 1 / cells for every right letter. A wrong letter costs a turn; cells that are filled or hold no letter are
    not valid. Words are no longer than leaves a turn for every cell.

    Args:
        hardcore: whether words and clues are the harder ones; ``None`` draws.
        max_turns: letters that may be tried; ``None`` gives 20.
        num_words: crossing words, 1 to 12; ``None`` gives 3.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    request = "Your letter:"
    hardcore: bool
    num_words: int
    #: Empty cells.
    left: list[tuple[int, int]]

    def __init__(
        self,
        hardcore: bool | None = False,
        max_turns: int | None = 100,
        num_words: int | None = 5,
        format_error: str = "terminate",
    ) -> None:
        given = {"hardcore": hardcore, "max_turns": max_turns, "num_words": num_words}
        super().__init__(complete(given, LEVELS, _checked), format_error)
        self.left = []

    def rules(self) -> str:
        return (
            f"Crossword. Fill the cells (_) of the grid so that the {self.num_words} words across and down answer the "
            "clues below it; a dot is no cell.\n"
            "Write one letter a turn, \\boxed{row column letter}, rows counted from the top and columns from the left, "
            "both from 0, for example \\boxed{0 1 E}. A wrong letter is not entered.\n"
            f"You have {self.max_turns} turns."
        )

    def deal(self) -> None:
        entries = generate(self.num_words, self.hardcore, self.max_turns, self.rng)
        answer = {cell: letter for entry in entries for cell, letter in zip(entry.cells(), entry.word, strict=True)}
        self.rows = 1 + max([row for row, _ in answer])
        self.columns = 1 + max([column for _, column in answer])
        self.answer: dict[tuple[int, int], str] = answer
        self.left = sorted(answer)
        self.gain = 1.0 / len(answer)
        self.earned = 0.0
        self.text = _draw(self.rows, self.columns, answer, entries)

    @staticmethod
    def read(box: str) -> tuple[int, int, str] | None:
        words = clean(box).split()
        if len(words) != 3 or words[2] not in _LETTERS:
            return None
        row, column = number(words[0]), number(words[1])
        return None if row is None or column is None else (row, column, words[2])

    def play(self, move: tuple[int, int, str]) -> tuple[str, float, Outcome]:
        row, column, letter = move
        answer = self.answer.get((row, column))
        if answer is None:
            if not (0 <= row < self.rows and 0 <= column < self.columns):
                return self.invalid(f"rows go from 0 to {self.rows - 1} and columns from 0 to {self.columns - 1}")
            return self.invalid(f"row {row}, column {column} is no cell of a word")
        at = (row + 1) * (4 + 3 * self.columns) + 5 + 3 * column
        if self.text[at] != "_":
            return self.invalid(f"row {row}, column {column} is filled already")
        name = letter.upper()
        if letter != answer:
            return f"Turn {self.turn}: {name} is wrong in row {row}, column {column}.", 0.0, None
        self.left.remove((row, column))
        self.text = f"{self.text[:at]}{name}{self.text[at + 1 :]}"
        if not self.left:
            return f"Turn {self.turn}: {name} was the last letter. The crossword is solved!", 1.0 - self.earned, True
        self.earned += self.gain
        return f"Turn {self.turn}: {name} is right in row {row}, column {column}.", self.gain, None

    def board(self) -> str:
        return self.text

    def random_move(self) -> str:
        random = self.rng.random
        row, column = self.left[int(random() * len(self.left))] if self.left else (0, 0)
        return f"{row} {column} {ALPHABET[int(random() * 26)]}"

    def solution(self) -> str:
        """The letter of the first empty cell."""
        row, column = self.left[0]
        return f"{row} {column} {self.answer[row, column].upper()}"


_LETTERS = frozenset(ALPHABET)


class Entry(NamedTuple):
    """A word in the grid, by the cell of its first letter."""

    word: str
    clue: str
    row: int
    column: int
    down: bool

    def cells(self) -> list[tuple[int, int]]:
        row, column, length = self.row, self.column, len(self.word)
        if self.down:
            return [(row + i, column) for i in range(length)]
        return [(row, column + i) for i in range(length)]


def _draw(rows: int, columns: int, cells: dict[tuple[int, int], str], entries: list[Entry]) -> str:
    """The empty grid, three characters a cell, and the clues below."""
    lines = ["   " + "".join([f"{column:>3}" for column in range(columns)])]
    for row in range(rows):
        marks = ["_" if (row, column) in cells else "." for column in range(columns)]
        lines.append(f"{row:>3}  {'  '.join(marks)}")
    for entry in entries:
        way = "down" if entry.down else "across"
        lines.append(f"{way} from row {entry.row}, column {entry.column}, {len(entry.word)} letters: {entry.clue}")
    return "\n".join(lines)


# -- generation -------------------------------------------------------------------------------------------


def generate(num_words: int, hardcore: bool, max_turns: int, rng: Random) -> list[Entry]:
    """Different words that cross, so that letters touch only where words cross; rows and columns begin at 0.

    Every word after the first crosses at least one other, so that ``num_words`` words of length ``n`` take at most
    ``num_words * (n - 1) + 1`` cells; words are chosen short enough for ``max_turns``, as far as there are such.
    """
    pool = _pool(hardcore, max(SHORTEST, (max_turns - 1) // num_words + 1))
    while True:
        grid = _Grid()
        for _ in range(20 * num_words):  # a word that fits nowhere is drawn anew, an unlucky grid begun anew
            word, clue = pool[int(rng.random() * len(pool))]
            if grid.add(word, clue, rng) and len(grid.entries) == num_words:
                return grid.moved_to_origin()


class _Grid:
    """Words that cross, on an unbounded grid."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.letters: dict[tuple[int, int], str] = {}

    def add(self, word: str, clue: str, rng: Random) -> bool:
        """Put a word where it crosses others, at one of the places there are; say whether there was one."""
        if not self.entries:
            self._put(Entry(word, clue, 0, 0, rng.random() < 0.5))
            return True
        if any(word == entry.word for entry in self.entries):
            return False
        places = []
        for other in self.entries:
            for shift, letter in enumerate(other.word):
                place = word.find(letter)
                while place >= 0:
                    if other.down:
                        places.append((other.row + shift, other.column - place, False))
                    else:
                        places.append((other.row - place, other.column + shift, True))
                    place = word.find(letter, place + 1)
        while places:
            row, column, down = places.pop(int(rng.random() * len(places)))
            if self._fits(word, row, column, down):
                self._put(Entry(word, clue, row, column, down))
                return True
        return False

    def _put(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.letters.update(zip(entry.cells(), entry.word, strict=True))

    def _fits(self, word: str, row: int, column: int, down: bool) -> bool:
        """Whether it agrees with the letters there, and touches other words nowhere but where it crosses them."""
        letters = self.letters
        south, east = (1, 0) if down else (0, 1)
        length = len(word)
        if (row - south, column - east) in letters or (row + south * length, column + east * length) in letters:
            return False
        crossed = False
        for letter in word:
            there = letters.get((row, column))
            if there is None:
                if (row + east, column + south) in letters or (row - east, column - south) in letters:
                    return False
                crossed = False
            elif there != letter or crossed:  # two letters in line would belong to a word along this one
                return False
            else:
                crossed = True
            row += south
            column += east
        return True

    def moved_to_origin(self) -> list[Entry]:
        top = min(entry.row for entry in self.entries)
        left = min(entry.column for entry in self.entries)
        moved = [entry._replace(row=entry.row - top, column=entry.column - left) for entry in self.entries]
        return sorted(moved, key=lambda entry: (entry.down, entry.row, entry.column))


#: Words are allowed to be so long whatever the turn limit.
SHORTEST = 5


@cache
def clues(hardcore: bool) -> dict[str, str]:
    """Word -> clue, read from ``data/`` when first asked for."""
    name = "clues_hardcore.txt" if hardcore else "clues.txt"
    lines = Path(__file__).with_name("data").joinpath(name).read_text("ascii").splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


@cache
def _pool(hardcore: bool, longest: int) -> tuple[tuple[str, str], ...]:
    return tuple([(word, clue) for word, clue in clues(hardcore).items() if len(word) <= longest])


#: What is drawn from.
LEVELS = tuple({"hardcore": hardcore, "max_turns": 20, "num_words": 3} for hardcore in (False, True))


def _checked(hardcore: bool, max_turns: int, num_words: int) -> dict[str, Any]:
    return {
        "hardcore": flag("hardcore", hardcore),
        "max_turns": whole("max_turns", max_turns, 1),
        "num_words": whole("num_words", num_words, 1, 12),
    }
