"""FifteenPuzzle: slide numbered tiles into order."""

from __future__ import annotations

from functools import cache
from typing import Any

from gem_games.base import DIRECTIONS, Game, Outcome, direction
from gem_games.options import complete, whole


class FifteenPuzzle(Game):
    r"""Numbered tiles on a square board are slid into order with ``\boxed{up}``, ``down``, ``left`` and ``right``.

    The direction is the one in which a tile moves into the gap. Boards come from a random walk away from the solved
    one of at most ``max_turns`` steps (and 5 a cell), so each can be solved in time. Reward 1.0 when solved; at the
    turn limit the share of tiles in place.

    Args:
        num_rows: rows, and columns, 2 to 10; ``None`` draws.
        max_turns: moves allowed; ``None`` draws.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    num_rows: int

    def __init__(self, max_turns: int | None = 20, num_rows: int | None = 2, format_error: str = "terminate") -> None:
        given = {"num_rows": num_rows, "max_turns": max_turns}
        super().__init__(complete(given, LEVELS, _checked), format_error)

    def rules(self) -> str:
        last = self.num_rows**2 - 1
        return (
            f"Sliding puzzle. Bring the tiles 1 to {last} into order, row by row from the top left, so that the gap "
            "(__) ends up at the bottom right.\n"
            "A move slides a tile into the gap: up moves the tile below the gap up, down the tile above it down, left "
            "the tile on its right to the left, right the tile on its left to the right.\n"
            "Write a move as \\boxed{up}, \\boxed{down}, \\boxed{left} or \\boxed{right}.\n"
            f"You have {self.max_turns} turns."
        )

    def deal(self) -> None:
        side, random = self.num_rows, self.rng.random
        _, walks, self.goal, screen = _geometry(side)
        tiles = self.goal.copy()
        gap = side * side - 1
        longest = min(self.max_turns, 5 * side * side)
        steps = longest - int(random() * (longest // 2 + 1))
        trail = bytearray()
        last = 4  # any move may be the first
        while steps > 0 or tiles == self.goal:
            moves = walks[gap][last]
            last, other = moves[int(random() * len(moves))]
            tiles[gap] = tiles[other]
            tiles[other] = 0
            gap = other
            trail.append(last)
            steps -= 1
        self.tiles, self.gap = tiles, gap
        #: The moves that led here from the goal; a move that takes the last one back shortens it.
        self.trail = trail
        self.screen = bytearray(screen % tuple([_LABELS[tile] for tile in tiles]), "ascii")

    @staticmethod
    def read(box: str) -> int | None:
        return direction(box)

    def play(self, move: int) -> tuple[str, float, Outcome]:
        gap = self.gap
        other = _geometry(self.num_rows)[0][gap][move]
        if other < 0:
            return self.invalid(f"there is no tile that could move {DIRECTIONS[move]}")
        tiles, screen, trail = self.tiles, self.screen, self.trail
        tiles[gap] = tiles[other]
        tiles[other] = 0
        self.gap = other
        a, b = 3 * gap, 3 * other
        screen[a : a + 2] = screen[b : b + 2]
        screen[b : b + 2] = b"__"
        if trail and trail[-1] == move ^ 1:
            trail.pop()
        else:
            trail.append(move)
        if tiles == self.goal:
            return f"Turn {self.turn}: moved {DIRECTIONS[move]}. The puzzle is solved!", 1.0, True
        return f"Turn {self.turn}: moved {DIRECTIONS[move]}.", 0.0, None

    def board(self) -> str:
        return self.screen.decode()

    def credit(self) -> float:
        in_place = sum([tile == place for tile, place in zip(self.tiles[:-1], self.goal, strict=False)])
        return in_place / (self.num_rows**2 - 1)

    def random_move(self) -> str:
        return DIRECTIONS[int(self.rng.random() * 4)]

    def solution(self) -> str:
        """The move that takes back the last one on the way from the solved board to this position."""
        return DIRECTIONS[self.trail[-1] ^ 1]


_LABELS = ("__", *(str(tile).rjust(2) for tile in range(1, 100)))


@cache
def _geometry(side: int) -> tuple[list[list[int]], list[list[list[tuple[int, int]]]], list[int], str]:
    """What there is to know of a size of board.

    Returns:
        For each gap and move where the gap goes, -1 for nowhere; for each gap and last move (4 for none) the moves
        that do not take it back, and where the gap goes; the goal; a format string for the board.
    """
    steps, walks = [], []
    for gap in range(side * side):
        row, column = divmod(gap, side)
        to = [gap + side if row < side - 1 else -1, gap - side if row else -1]
        to += [gap + 1 if column < side - 1 else -1, gap - 1 if column else -1]
        steps.append(to)
        moves = [(move, other) for move, other in enumerate(to) if other >= 0]
        walks.append([[step for step in moves if step[0] != last ^ 1] for last in range(4)] + [moves])
    return steps, walks, [*range(1, side * side), 0], "\n".join([" ".join(["%s"] * side)] * side)


#: What is drawn from.
LEVELS = ({"num_rows": 2, "max_turns": 10}, {"num_rows": 3, "max_turns": 20}, {"num_rows": 4, "max_turns": 50})


def _checked(num_rows: int, max_turns: int) -> dict[str, Any]:
    return {"num_rows": whole("num_rows", num_rows, 2, 10), "max_turns": whole("max_turns", max_turns, 1)}
