"""How TextArena empties a Sudoku's cells: the same puzzles, with a search that looks where fewest numbers fit.

Its own fills the cells as they come, for each cell that it tries, which is slow where few clues are to remain.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from gem_games.sudoku import Search

Grid = list[list[int]]


def remover(random: Any) -> Callable[[Any, Grid, int], Grid]:
    """What stands for the game's method; ``random`` is what its module draws from."""

    def remove_cells(self: Any, grid: Grid, clues: int) -> Grid:
        """Empty cells in random order, down to ``clues``, as long as there is one solution."""
        puzzle = copy.deepcopy(grid)
        cells = [(row, column) for row in range(9) for column in range(9)]
        random.shuffle(cells)
        while len(cells) > clues:
            row, column = cells.pop()
            number, puzzle[row][column] = puzzle[row][column], 0
            # There was one solution before, so that another one has another number here.
            forbidden = 9 * row + column, 1 << (number - 1)
            if Search(9, [cell for line in puzzle for cell in line], forbidden).solve():
                puzzle[row][column] = number
        return puzzle

    return remove_cells
