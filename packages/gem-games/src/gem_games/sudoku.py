"""Sudoku: fill a grid so that every row, column and box holds each number once."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from gem_games.base import Game, Outcome, clean, numbers
from gem_games.options import complete, one_of, whole


class Sudoku(Game):
    r"""A Sudoku with one solution, filled cell by cell with ``\boxed{row column number}``, counted from 1.

    Reward: 1 / (empty cells at the start) for every right number. A number that does not belong there is refused as
    not valid, like a cell that is filled already.

    Args:
        clues: cells that are given; ``None`` draws.
        max_turns: numbers that may be tried; ``None`` draws.
        scale: numbers a row: 4 or 9; ``None`` draws.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    clues: int
    scale: int

    def __init__(
        self,
        clues: int | None = 30,
        max_turns: int | None = 100,
        scale: int | None = 9,
        format_error: str = "terminate",
    ) -> None:
        given = {"clues": clues, "max_turns": max_turns, "scale": scale}
        super().__init__(complete(given, LEVELS, _checked), format_error)

    def rules(self) -> str:
        scale = self.scale
        return (
            f"Sudoku. Fill the empty cells (.) of the {scale}x{scale} grid with numbers from 1 to {scale} so that "
            f"every row, every column and every {box_side(scale)}x{box_side(scale)} box holds each of them once.\n"
            "Fill one cell a turn with \\boxed{row column number}, rows counted from the top and columns from the "
            "left, both from 1, for example \\boxed{1 2 3}. A number in the wrong place is refused.\n"
            f"You have {self.max_turns} turns."
        )

    def deal(self) -> None:
        self.answer, self.cells = generate(self.scale, self.clues, self.rng)
        self.empty = self.scale**2 - self.clues
        self.gain = 1.0 / self.empty
        self.earned = 0.0
        self.text = _layout(self.scale)[0] % tuple([n or "." for n in self.cells])

    @staticmethod
    def read(box: str) -> tuple[int, ...] | None:
        move = numbers(clean(box).split())
        return move if move is not None and len(move) == 3 else None

    def play(self, move: tuple[int, int, int]) -> tuple[str, float, Outcome]:
        row, column, number = move
        scale = self.scale
        if not (0 < row <= scale and 0 < column <= scale and 0 < number <= scale):
            return self.invalid(f"row, column and number go from 1 to {scale}")
        cell = (row - 1) * scale + column - 1
        if self.cells[cell]:
            return self.invalid(f"row {row}, column {column} is filled already")
        if self.answer[cell] != number:
            return self.invalid(f"{number} does not belong in row {row}, column {column}")
        self.cells[cell] = number
        at = _layout(scale)[1][cell]
        self.text = f"{self.text[:at]}{number}{self.text[at + 1 :]}"
        self.empty = empty = self.empty - 1
        if not empty:
            return f"Turn {self.turn}: {number} was the last number. The Sudoku is solved!", 1.0 - self.earned, True
        self.earned += self.gain
        return f"Turn {self.turn}: {number} belongs in row {row}, column {column}.", self.gain, None

    def board(self) -> str:
        return self.text

    def random_move(self) -> str:
        random, scale = self.rng.random, self.scale
        return f"{1 + int(random() * scale)} {1 + int(random() * scale)} {1 + int(random() * scale)}"

    def solution(self) -> str:
        """The number of the first empty cell."""
        cell = self.cells.index(0)
        row, column = divmod(cell, self.scale)
        return f"{row + 1} {column + 1} {self.answer[cell]}"


# -- generation -------------------------------------------------------------------------------------------


def generate(scale: int, clues: int, rng: Random) -> tuple[tuple[int, ...], list[int]]:
    """A full grid and a puzzle of it with ``clues`` numbers and no other solution; both row by row, 0 for empty."""
    while True:
        grid = _full_grid(scale, rng)
        cells = _dig(scale, grid, clues, rng)
        if cells is not None:
            return tuple(grid), cells


def _full_grid(scale: int, rng: Random) -> list[int]:
    """A full grid: the boxes on the diagonal at random, the rest by search in random order."""
    side = box_side(scale)
    random = rng.random
    while True:  # on the small grid some diagonals cannot be completed
        cells = [0] * scale**2
        for box in range(0, scale, side):
            pool = list(range(1, scale + 1))
            for row in range(box, box + side):
                for column in range(box, box + side):
                    cells[row * scale + column] = pool.pop(int(random() * len(pool)))
        search = Search(scale, cells)
        if search.solve(rng):
            return search.cells


def _dig(scale: int, grid: list[int], clues: int, rng: Random) -> list[int] | None:
    """Empty cells in random order as long as the solution stays the only one; ``None`` if ``clues`` was not reached."""
    rows, columns, boxes, units = _geometry(scale)
    random = rng.random
    cells = grid.copy()
    excess = scale**2 - clues
    everything = (1 << scale) - 1
    in_row, in_column, in_box = [everything] * scale, [everything] * scale, [everything] * scale
    pool = list(range(scale**2))
    while pool and excess:
        other = int(random() * len(pool))
        cell = pool[other]
        pool[other] = pool[-1]
        pool.pop()
        number = cells[cell]
        bit = 1 << (number - 1)
        row, column, box = rows[cell], columns[cell], boxes[cell]
        cells[cell] = 0
        in_row[row] ^= bit
        in_column[column] ^= bit
        in_box[box] ^= bit
        # Forced if nothing else fits in the cell, or the number fits nowhere else in one of its units. Both are
        # proofs that the solution is still the only one; a search decides where neither holds.
        forced = in_row[row] | in_column[column] | in_box[box] == everything ^ bit
        if not forced:
            for unit in units[cell]:
                for peer in unit:
                    if (
                        not cells[peer]
                        and not (in_row[rows[peer]] | in_column[columns[peer]] | in_box[boxes[peer]]) & bit
                    ):
                        break
                else:
                    forced = True
                    break
        if forced or not Search(scale, cells, forbidden=(cell, bit)).solve():
            excess -= 1
        else:
            cells[cell] = number
            in_row[row] ^= bit
            in_column[column] ^= bit
            in_box[box] ^= bit
    return None if excess else cells


class Search:
    """Depth-first search for a solution that always fills a cell with the fewest possible numbers.

    Args:
        cells: 0 for empty; copied.
        forbidden: a cell and the bits of numbers it must not get.
    """

    def __init__(self, scale: int, cells: list[int], forbidden: tuple[int, int] = (-1, 0)) -> None:
        self.cells = cells.copy()
        self.rows, self.columns, self.boxes, _ = _geometry(scale)
        self.everything = (1 << scale) - 1
        self.in_row, self.in_column, self.in_box = [0] * scale, [0] * scale, [0] * scale
        self.forbidden_cell, self.forbidden_bits = forbidden
        self.empty = []
        for cell, number in enumerate(cells):
            if number:
                bit = 1 << (number - 1)
                self.in_row[self.rows[cell]] |= bit
                self.in_column[self.columns[cell]] |= bit
                self.in_box[self.boxes[cell]] |= bit
            else:
                self.empty.append(cell)

    def solve(self, rng: Random | None = None) -> bool:
        """Fill :attr:`cells`, in random order with ``rng``; ``False`` if there is no solution."""
        empty = self.empty
        if not empty:
            return True
        rows, columns, boxes = self.rows, self.columns, self.boxes
        in_row, in_column, in_box = self.in_row, self.in_column, self.in_box
        fewest, chosen, options = 99, 0, 0
        for index, cell in enumerate(empty):
            free = self.everything & ~(in_row[rows[cell]] | in_column[columns[cell]] | in_box[boxes[cell]])
            if cell == self.forbidden_cell:
                free &= ~self.forbidden_bits
            count = free.bit_count()
            if count < fewest:
                fewest, chosen, options = count, index, free
                if count <= 1:
                    break
        if not options:
            return False
        cell = empty[chosen]
        empty[chosen] = empty[-1]
        empty.pop()
        row, column, box = rows[cell], columns[cell], boxes[cell]
        bits = [bit for bit in _BITS if bit & options]
        while bits:
            bit = bits.pop(int(rng.random() * len(bits)) if rng is not None else 0)
            in_row[row] |= bit
            in_column[column] |= bit
            in_box[box] |= bit
            self.cells[cell] = bit.bit_length()
            if self.solve(rng):
                return True
            in_row[row] ^= bit
            in_column[column] ^= bit
            in_box[box] ^= bit
        self.cells[cell] = 0
        empty.append(cell)
        return False


_BITS = tuple(1 << shift for shift in range(9))


def box_side(scale: int) -> int:
    """The side of a box."""
    return 2 if scale == 4 else 3


@cache
def _geometry(scale: int) -> tuple[list[int], list[int], list[int], list[tuple[tuple[int, ...], ...]]]:
    """Row, column and box of each cell, and the three units each cell shares, without itself."""
    side = box_side(scale)
    cells = range(scale**2)
    rows = [cell // scale for cell in cells]
    columns = [cell % scale for cell in cells]
    boxes = [rows[cell] // side * side + columns[cell] // side for cell in cells]
    units = [
        tuple(tuple(c for c in cells if c != cell and place[c] == place[cell]) for place in (rows, columns, boxes))
        for cell in cells
    ]
    return rows, columns, boxes, units


@cache
def _layout(scale: int) -> tuple[str, list[int]]:
    """A format string for the board, and where each cell stands in the text it makes."""
    side = box_side(scale)
    groups = range(0, scale, side)
    lines = ["    " + "   ".join(" ".join(str(c + 1) for c in range(g, g + side)) for g in groups)]
    for row in range(scale):
        if row and row % side == 0:
            lines.append("    " + "-+-".join("-" * (2 * side - 1) for _ in groups))
        lines.append(f" {row + 1}  " + " | ".join(" ".join("%s" for _ in range(side)) for _ in groups))
    template = "\n".join(lines)
    flat = template.replace("%s", "@")
    return template, [at for at, character in enumerate(flat) if character == "@"]


#: What is drawn from.
LEVELS = ({"scale": 4, "clues": 10, "max_turns": 15}, {"scale": 9, "clues": 50, "max_turns": 50})

#: Puzzles with fewer clues than this are too rare to be found by emptying cells.
_FEWEST_CLUES = {4: 4, 9: 24}


def _checked(scale: int, clues: int, max_turns: int) -> dict[str, Any]:
    scale = one_of("scale", scale, (4, 9))
    return {
        "scale": scale,
        "clues": whole("clues", clues, _FEWEST_CLUES[scale], scale**2 - 1),
        "max_turns": whole("max_turns", max_turns, 1),
    }
