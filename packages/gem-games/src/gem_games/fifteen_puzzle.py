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
        board = _geometry(side)
        longest = min(self.max_turns, 5 * side * side)
        steps = longest - int(random() * (longest // 2 + 1))
        tiles = goal = board.goal
        state = board.start
        trail = []
        while True:
            if steps >= STRIDE:
                walks = board.strides[state] or board.stride(state)
                steps -= STRIDE
            elif steps > 0 or tiles == goal:
                walks = board.steps[state]
                steps -= 1
            else:
                break
            order, state, moves = walks[int(random() * len(walks))]
            tiles = order.translate(tiles + board.padding)
            trail.append(moves)
        #: Tile by tile, 0 for the gap.
        self.tiles = bytearray(tiles)
        self.gap = state // 5
        #: The moves that led here from the goal; a move that takes the last one back shortens it.
        self.trail = bytearray(b"".join(trail))
        screen = bytearray(b"".join(map(_LABELS.__getitem__, tiles)))
        for end in board.line_ends:
            screen[end] = 10
        screen.pop()
        self.screen = screen

    @staticmethod
    def read(box: str) -> int | None:
        return direction(box)

    def play(self, move: int) -> tuple[str, float, Outcome]:
        gap = self.gap
        other = _geometry(self.num_rows).to[gap][move]
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
        if tiles == _geometry(self.num_rows).goal:
            return f"Turn {self.turn}: moved {DIRECTIONS[move]}. The puzzle is solved!", 1.0, True
        return f"Turn {self.turn}: moved {DIRECTIONS[move]}.", 0.0, None

    def board(self) -> str:
        return self.screen.decode()

    def credit(self) -> float:
        in_place = sum(
            [tile == place for tile, place in zip(self.tiles[:-1], _geometry(self.num_rows).goal, strict=False)]
        )
        return in_place / (self.num_rows**2 - 1)

    def random_move(self) -> str:
        return DIRECTIONS[int(self.rng.random() * 4)]

    def solution(self) -> str:
        """The move that takes back the last one on the way from the solved board to this position."""
        return DIRECTIONS[self.trail[-1] ^ 1]


_LABELS = [b"__ ", *(b"%2d " % tile for tile in range(1, 100))]

#: Steps of a random walk that are drawn at once.
STRIDE = 6

#: Some steps of a walk: where the tile of each place comes from, the state they lead to, and the moves.
Steps = tuple[bytes, int, bytes]


class _Geometry:
    """What there is to know of a size of board.

    A state of a walk is ``5 * gap + last``, where ``last`` is the last move (4 for none); a walk never takes its last
    move back. Runs of ``STRIDE`` steps are made when a walk first comes to their state, and kept.
    """

    def __init__(self, side: int) -> None:
        self.side = side
        cells = side * side
        self.goal = bytes([*range(1, cells), 0])
        self.start = 5 * (cells - 1) + 4
        self.padding = bytes(256 - cells)
        self.line_ends = range(3 * side - 1, 3 * cells, 3 * side)
        #: Where the gap goes by each move, -1 for nowhere.
        self.to: list[list[int]] = []
        self.steps: list[list[Steps]] = []
        self.strides: list[list[Steps]] = [[] for _ in range(5 * cells)]
        for gap in range(cells):
            row, column = divmod(gap, side)
            to = [gap + side if row < side - 1 else -1, gap - side if row else -1]
            to += [gap + 1 if column < side - 1 else -1, gap - 1 if column else -1]
            self.to.append(to)
            for last in range(5):
                moves = [move for move in range(4) if to[move] >= 0 and (last == 4 or move != last ^ 1)]
                self.steps.append(
                    [(_swapped(cells, gap, to[move]), 5 * to[move] + move, bytes([move])) for move in moves]
                )

    def stride(self, state: int) -> list[Steps]:
        """All runs of ``STRIDE`` steps from a state."""
        runs: list[Steps] = [(bytes(range(self.side**2)), state, b"")]
        for _ in range(STRIDE):
            runs = [
                (order.translate(so_far + self.padding), to, moves + move)
                for so_far, at, moves in runs
                for order, to, move in self.steps[at]
            ]
        self.strides[state] = runs
        return runs

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return _geometry, (self.side,)


def _swapped(cells: int, a: int, b: int) -> bytes:
    order = bytearray(range(cells))
    order[a], order[b] = b, a
    return bytes(order)


@cache
def _geometry(side: int) -> _Geometry:
    return _Geometry(side)


#: What is drawn from.
LEVELS = ({"num_rows": 2, "max_turns": 10}, {"num_rows": 3, "max_turns": 20}, {"num_rows": 4, "max_turns": 50})


def _checked(num_rows: int, max_turns: int) -> dict[str, Any]:
    return {"num_rows": whole("num_rows", num_rows, 2, 10), "max_turns": whole("max_turns", max_turns, 1)}
