"""Sokoban: push every box onto a target."""

from __future__ import annotations

from typing import Any

from gem_games import sokoban_rooms as rooms
from gem_games.base import DIRECTIONS, Game, NoSolution, Outcome, direction
from gem_games.options import complete, whole


class Sokoban(Game):
    r"""The player walks with ``\boxed{up}``, ``down``, ``left`` and ``right``, pushing the box it walks into.

    Rooms are made by playing backwards from the solved room, so that each can be solved within ``max_turns``.
    Reward 1.0 when every box is on a target; at the turn limit the share of boxes that are.

    Args:
        dim_room: rows and columns, walls included, 5 to 20; ``None`` draws.
        max_turns: moves allowed; ``None`` draws.
        num_boxes: boxes, at most a quarter of the inner cells; ``None`` draws.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    dim_room: tuple[int, int]
    num_boxes: int

    def __init__(
        self,
        dim_room: tuple[int, int] | None = (6, 6),
        max_turns: int | None = 100,
        num_boxes: int | None = 3,
        format_error: str = "terminate",
    ) -> None:
        given = {"dim_room": dim_room, "max_turns": max_turns, "num_boxes": num_boxes}
        super().__init__(complete(given, LEVELS, _checked), format_error)

    def rules(self) -> str:
        return (
            f"Sokoban. Push the {self.num_boxes} boxes onto the targets.\n"
            "You walk one cell at a time. Walking into a box pushes it one cell on, if the cell behind it is neither "
            "a wall nor another box; boxes cannot be pulled.\n"
            "On the board P is you, # a wall, _ floor, X a box, O a target, * a box on a target, and S you on a "
            "target.\n"
            "Write a move as \\boxed{up}, \\boxed{down}, \\boxed{left} or \\boxed{right}.\n"
            f"You have {self.max_turns} turns."
        )

    def deal(self) -> None:
        rows, cols = self.dim_room
        room = rooms.generate(rows, cols, self.num_boxes, self.max_turns, self.rng)
        self.floor, self.targets = room.floor, room.targets
        #: What the solver still wants to play; ``None`` after a move that it did not want.
        self.plan: bytes | None = room.plan
        both = room.boxes & room.targets
        screen = bytearray((b" ".join([b"#"] * cols) + b"\n") * rows)
        screen.pop()
        for cells, mark in ((room.floor, 95), (room.targets, 79), (room.boxes, 88), (both, 42)):
            for cell in rooms.cells_of(cells):
                screen[2 * cell] = mark
        at = 2 * room.player
        screen[at] = 83 if screen[at] == 79 else 80
        #: The board as ASCII, one character and one blank (or line feed) a cell: cell ``n`` is at ``2 * n``.
        self.screen = screen
        self.player = at
        self.missing = self.num_boxes - both.bit_count()

    @staticmethod
    def read(box: str) -> int | None:
        return direction(box)

    def play(self, move: int) -> tuple[str, float, Outcome]:
        screen, at = self.screen, self.player
        step = (-2, 2)[move & 1] if move > 1 else (-2, 2)[move] * self.dim_room[1]
        ahead = at + step
        what = screen[ahead]
        if what == 35:  # #
            return self.invalid(f"there is a wall {DIRECTIONS[move]} of you")
        pushed = what == 88 or what == 42
        if pushed:  # X or *
            behind = screen[ahead + step]
            if behind == 95:  # _
                screen[ahead + step] = 88
            elif behind == 79:  # O
                screen[ahead + step] = 42
                self.missing -= 1
            else:
                return self.invalid(f"the box {DIRECTIONS[move]} of you cannot move")
            if what == 42:
                self.missing += 1
        screen[ahead] = 80 if what == 95 or what == 88 else 83
        screen[at] = 95 if screen[at] == 80 else 79
        self.player = ahead
        plan = self.plan
        if plan is not None:
            self.plan = plan[1:] if plan and plan[0] == move else None
        text = f"Turn {self.turn}: {'pushed a box' if pushed else 'moved'} {DIRECTIONS[move]}."
        if not self.missing:
            return f"{text} Every box is on a target. You win!", 1.0, True
        return text, 0.0, None

    def board(self) -> str:
        return self.screen.decode()

    def credit(self) -> float:
        return 1.0 - self.missing / self.num_boxes

    def random_move(self) -> str:
        return DIRECTIONS[int(self.rng.random() * 4)]

    def room(self) -> rooms.Room:
        """The current position."""
        boxes = sum(1 << at // 2 for at, mark in enumerate(self.screen) if mark in b"X*")
        return rooms.Room(self.dim_room[1], self.floor, self.targets, boxes, self.player // 2, b"")

    def solution(self) -> str:
        """The way the room was made, backwards; after another move, a way with the fewest pushes.

        Raises:
            gem_games.base.NoSolution: the boxes can no longer be brought onto the targets (or not in a way the solver
                finds).
        """
        if not self.plan:
            self.plan = rooms.solve(self.room())
            if self.plan is None:
                raise NoSolution("no way was found to bring every box onto a target from here")
        return DIRECTIONS[self.plan[0]]


#: What is drawn from.
LEVELS = (
    {"dim_room": (6, 6), "num_boxes": 2, "max_turns": 20},
    {"dim_room": (8, 8), "num_boxes": 4, "max_turns": 50},
)


def _checked(dim_room: Any, num_boxes: int, max_turns: int) -> dict[str, Any]:
    try:
        rows, cols = dim_room
    except (TypeError, ValueError):
        raise ValueError(f"dim_room must be two whole numbers from 5 to 20, got {dim_room!r}") from None
    rows, cols = whole("dim_room[0]", rows, 5, 20), whole("dim_room[1]", cols, 5, 20)
    return {
        "dim_room": (rows, cols),
        "num_boxes": whole("num_boxes", num_boxes, 1, (rows - 2) * (cols - 2) // 4),
        "max_turns": whole("max_turns", max_turns, 1),
    }
