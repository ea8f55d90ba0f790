"""FifteenPuzzle: slide numbered tiles into order."""

from __future__ import annotations

from functools import cache, lru_cache
from hashlib import blake2b
from operator import eq
from typing import Any

from gem_games.base import DIRECTIONS, Game, Outcome, direction
from gem_games.options import complete, whole


class FifteenPuzzle(Game):
    r"""Numbered tiles on a square board are slid into order with ``\boxed{up}``, ``down``, ``left`` and ``right``.

    The direction is the one in which a tile moves into the gap. Boards come from a random walk away from the solved
    one of at most ``max_turns`` steps (and 5 a cell), so each can be solved in time; there are two million of a size.
    Reward 1.0 when solved; at the turn limit the share of tiles in place.

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
        walks = _walks(self.num_rows, self.max_turns)
        parts, make, random = walks.parts, walks.make, self.rng.random
        solved = screen = walks.solved
        while screen == solved:
            draw = int(random() * VARIANTS**3)
            first, state, out = parts[START][draw % VARIANTS] or make(START, draw % VARIANTS)
            draw //= VARIANTS
            second, state, on = parts[state][draw % VARIANTS] or make(state, draw % VARIANTS)
            draw //= VARIANTS
            third, state, away = parts[state][draw] or make(state, draw)
            screen = walks.board.translate(third).translate(second).translate(first)
        #: The board as it is shown: two characters and a blank or a line's end for each tile.
        self.screen = screen
        self.gap = state // 4
        #: The moves that led here from the goal; a move that takes the last one back shortens it.
        self.trail = out + on + away

    @staticmethod
    def read(box: str) -> int | None:
        return direction(box)

    def play(self, move: int) -> tuple[str, float, Outcome]:
        gap = self.gap
        other = _neighbours(self.num_rows)[gap][move]
        if other < 0:
            return self.invalid(f"there is no tile that could move {DIRECTIONS[move]}")
        screen, trail = bytearray(self.screen), self.trail
        a, b = 3 * gap, 3 * other
        screen[a : a + 2] = screen[b : b + 2]
        screen[b : b + 2] = b"__"
        self.screen = bytes(screen)
        self.gap = other
        self.trail = trail[:-1] if trail and trail[-1] == move ^ 1 else trail + _MOVES[move]
        if screen == _solved(self.num_rows):
            return f"Turn {self.turn}: moved {DIRECTIONS[move]}. The puzzle is solved!", 1.0, True
        return f"Turn {self.turn}: moved {DIRECTIONS[move]}.", 0.0, None

    def board(self) -> str:
        return self.screen.decode()

    def credit(self) -> float:
        tiles = self.num_rows**2 - 1
        return sum(map(eq, self.screen.split()[:tiles], _solved(self.num_rows).split())) / tiles

    def random_move(self) -> str:
        return DIRECTIONS[int(self.rng.random() * 4)]

    def solution(self) -> str:
        """The move that takes back the last one on the way from the solved board to this position."""
        return DIRECTIONS[self.trail[-1] ^ 1]


_MOVES = [bytes([move]) for move in range(4)]


@cache
def _neighbours(side: int) -> list[list[int]]:
    """By cell: where the gap goes by each move, -1 for nowhere."""
    cells = []
    for cell in range(side * side):
        row, column = divmod(cell, side)
        vertical = [cell + side if row < side - 1 else -1, cell - side if row else -1]
        cells.append([*vertical, cell + 1 if column < side - 1 else -1, cell - 1 if column else -1])
    return cells


@cache
def _solved(side: int) -> bytes:
    """The board in order, as it is shown."""
    labels = [f"{tile:2}" for tile in range(1, side * side)] + ["__"]
    return "\n".join(" ".join(labels[row : row + side]) for row in range(0, side * side, side)).encode()


#: Part of a walk: how it moves the bytes of a board, the state it leads to, and its moves.
_Part = tuple[bytes, int, bytes]

#: Parts that lead away from each state.
VARIANTS = 128
#: The state of a walk that has not begun.
START = -1


class _Walks:
    """Random walks of the gap away from the solved board, put together from three parts that are made once and kept.

    A state is ``4 * gap + last``, where ``last`` is the last move: a walk never takes its last move back. From each
    state lead ``VARIANTS`` parts, each a random walk of its own length. They are drawn when they are first needed, and
    what is drawn does not depend on when that is. So there are ``VARIANTS ** 3`` boards of a size and a limit of turns.

    A board that is not yet drawn is a text in which ``2 * cell`` and ``2 * cell + 1`` stand for the two characters of a
    cell. A part translates what stands for a cell after it into what stands for where its tile was before it, and the
    first part into the characters of the solved board.
    """

    def __init__(self, side: int, max_turns: int) -> None:
        cells = side * side
        longest = min(max_turns, 5 * cells)
        #: How many moves a part takes at most.
        self.length = longest // 3
        self.first_length = longest - 2 * self.length
        self.solved = _solved(side)
        #: By state, and last of all for the start: the parts that lead away, and where the gap can go by which move.
        self.parts: list[list[_Part | None]] = [[None] * VARIANTS for _ in range(4 * cells + 1)]
        self.steps = [
            [(other, move) for move, other in enumerate(neighbours) if other >= 0 and move != last ^ 1]
            for neighbours in _neighbours(side)
            for last in range(4)
        ]
        self.steps.append([(other, move) for move, other in enumerate(_neighbours(side)[-1]) if other >= 0])
        board, labels = bytearray(self.solved), bytearray(range(256))
        for place, label in enumerate(self.solved):
            cell, column = divmod(place, 3)
            code = 2 * cell + column if column < 2 else _LINE_END if label == ord("\n") else _BLANK
            board[place], labels[code] = code, label
        self.board, self.labels = bytes(board), bytes(labels)

    def make(self, state: int, variant: int) -> _Part:
        """Draw a part and keep it."""
        longest = self.first_length if state == START else self.length
        cells = [*range(len(self.parts) // 4)]
        # 512 random bits are enough for the 167 draws of the longest part.
        draws = int.from_bytes(blake2b(b"%d %d" % (state, variant)).digest(), "big")
        gap, moves, to = len(cells) - 1 if state == START else state // 4, bytearray(), state
        draws, shorter = divmod(draws, longest // 2 + 1)
        for _ in range(longest - shorter):
            options = self.steps[to]
            draws, drawn = divmod(draws, len(options))
            other, move = options[drawn]
            cells[gap], cells[other] = cells[other], cells[gap]
            moves.append(move)
            gap, to = other, 4 * other + move
        order = bytearray(range(256))
        order[0 : 2 * len(cells) : 2] = bytes([2 * cell for cell in cells])
        order[1 : 2 * len(cells) : 2] = bytes([2 * cell + 1 for cell in cells])
        part = bytes(order.translate(self.labels) if state == START else order), to, bytes(moves)
        self.parts[state][variant] = part
        return part


@lru_cache(maxsize=32)
def _walks(side: int, max_turns: int) -> _Walks:
    return _Walks(side, max_turns)


#: What stands for the characters between cells; no cell has codes this large.
_BLANK, _LINE_END = 254, 255

#: What is drawn from.
LEVELS = ({"num_rows": 2, "max_turns": 10}, {"num_rows": 3, "max_turns": 20}, {"num_rows": 4, "max_turns": 50})


def _checked(num_rows: int, max_turns: int) -> dict[str, Any]:
    return {"num_rows": whole("num_rows", num_rows, 2, 10), "max_turns": whole("max_turns", max_turns, 1)}
