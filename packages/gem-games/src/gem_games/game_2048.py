"""Game2048: slide and merge equal tiles up to a target."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import Any

from gem_games.base import DIRECTIONS, Game, Outcome, direction
from gem_games.options import complete, one_of, whole

Row = tuple[int, ...]


class Game2048(Game):
    r"""All tiles slide with ``\boxed{up}``, ``down``, ``left`` or ``right``; two equal ones that meet become one.

    After each move a 2 (or, one time in ten, a 4) appears on an empty cell. Reward: each new largest tile earns its
    share, on a log2 scale from the largest at the start to the target; 1.0 in total. A board without a move is lost.
    A move adds 4 to the board at most, so that 512 in 50 turns and 2048 in 100 (the levels ``hard`` and
    ``extreme-hard``) measure progress; they cannot be won.

    Args:
        target_tile: a power of two from 8 to what the board can hold; ``None`` draws.
        max_turns: moves allowed; ``None`` draws.
        board_size: rows, and columns, 2 to 8.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    target_tile: int
    board_size: int

    def __init__(
        self,
        target_tile: int | None = 2048,
        max_turns: int | None = 1000,
        board_size: int = 4,
        format_error: str = "terminate",
    ) -> None:
        size = whole("board_size", board_size, 2, 8)
        given = {"target_tile": target_tile, "max_turns": max_turns, "board_size": size}
        super().__init__(complete(given, LEVELS, _checked), format_error)

    def rules(self) -> str:
        return (
            f"2048. Slide the tiles until one of them shows {self.target_tile}.\n"
            "A move slides all tiles as far as they go; two equal tiles that meet become one of twice the value, at "
            "most once a move. Then a new tile, 2 or sometimes 4, appears on an empty cell (.). A move that changes "
            "nothing is not valid, and without a valid move the game is lost.\n"
            "Write a move as \\boxed{up}, \\boxed{down}, \\boxed{left} or \\boxed{right}.\n"
            f"You have {self.max_turns} turns."
        )

    def deal(self) -> None:
        size = self.board_size
        #: Row by row, 0 for empty.
        self.grid: tuple[Row, ...] = ((0,) * size,) * size
        self._add_tile()
        self._add_tile()
        self.start = self.largest = max(map(max, self.grid))
        self.earned = 0.0

    @staticmethod
    def read(box: str) -> int | None:
        return direction(box)

    def play(self, move: int) -> tuple[str, float, Outcome]:
        grid = slide(self.grid, move)
        if grid == self.grid:
            return self.invalid(f"nothing moves {DIRECTIONS[move]}")
        self.grid = grid
        largest = max(map(max, grid))
        self._add_tile()
        reward = 0.0
        if largest > self.largest:
            if largest >= self.target_tile:
                return f"Turn {self.turn}: you made {largest}. You win!", 1.0 - self.earned, True
            span = self.target_tile.bit_length() - self.start.bit_length()
            reward = (largest.bit_length() - self.largest.bit_length()) / span
            self.earned += reward
            self.largest = largest
        if _is_stuck(self.grid):
            return f"Turn {self.turn}: moved {DIRECTIONS[move]}. No move is left. You lose.", reward, False
        return f"Turn {self.turn}: moved {DIRECTIONS[move]}.", reward, None

    def _add_tile(self) -> None:
        grid, random = self.grid, self.rng.random
        size = self.board_size
        flat = [*chain.from_iterable(grid)]
        place = _nth_zero(flat, int(random() * flat.count(0)))
        row = place // size
        flat[place] = 2 if random() < 0.9 else 4
        self.grid = (*grid[:row], tuple(flat[row * size : row * size + size]), *grid[row + 1 :])

    def board(self) -> str:
        return "\n".join(map(_text, self.grid))

    def random_move(self) -> str:
        return DIRECTIONS[int(self.rng.random() * 4)]


def slide(grid: tuple[Row, ...], move: int) -> tuple[Row, ...]:
    """The grid after all tiles slid in a direction (an index of ``DIRECTIONS``), without a new tile."""
    if move == 2:
        return tuple(map(_to_left, grid))
    if move == 3:
        return tuple(map(_to_right, grid))
    merge = _to_right if move else _to_left
    return tuple(zip(*map(merge, zip(*grid, strict=True)), strict=True))


@lru_cache(maxsize=1 << 16)
def _to_left(row: Row) -> Row:
    merged: list[int] = []
    mergeable = False
    for tile in row:
        if tile:
            if mergeable and merged[-1] == tile:
                merged[-1] = 2 * tile
                mergeable = False
            else:
                merged.append(tile)
                mergeable = True
    return (*merged, *(0,) * (len(row) - len(merged)))


@lru_cache(maxsize=1 << 16)
def _to_right(row: Row) -> Row:
    return _to_left(row[::-1])[::-1]


@lru_cache(maxsize=1 << 16)
def _text(row: Row) -> str:
    return " ".join([str(tile or ".").rjust(4) for tile in row])


def _nth_zero(tiles: list[int], n: int) -> int:
    """Where the zero after ``n`` others stands."""
    place = tiles.index(0)
    for _ in range(n):
        place = tiles.index(0, place + 1)
    return place


def _is_stuck(grid: tuple[Row, ...]) -> bool:
    for row in grid:
        if 0 in row:
            return False
    return all(slide(grid, move) == grid for move in (0, 2))


#: What is drawn from.
LEVELS = (
    {"target_tile": 16, "max_turns": 20, "board_size": 4},
    {"target_tile": 32, "max_turns": 30, "board_size": 4},
    {"target_tile": 64, "max_turns": 50, "board_size": 4},
)


def _checked(target_tile: int, max_turns: int, board_size: int) -> dict[str, Any]:
    powers = [2**n for n in range(3, board_size**2 + 1)]
    return {
        "target_tile": one_of("target_tile", target_tile, powers),
        "max_turns": whole("max_turns", max_turns, 1),
        "board_size": board_size,
    }
