"""TowerofHanoi: move a tower disk by disk, never a larger one onto a smaller."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from gem_games.base import Game, Outcome, clean
from gem_games.options import complete, whole

TOWERS = "ABC"


class TowerofHanoi(Game):
    r"""The disks on tower A are to be moved to tower C, one at a time, with ``\boxed{A C}``.

    Reward 1.0 when all disks are on C; at the turn limit the share of disks that are.

    Args:
        num_disks: disks, 1 to 20; ``None`` draws.
        max_turns: moves allowed; ``None`` draws.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    num_disks: int

    def __init__(self, num_disks: int | None = 3, max_turns: int | None = 100, format_error: str = "terminate") -> None:
        given = {"num_disks": num_disks, "max_turns": max_turns}
        super().__init__(complete(given, LEVELS, _checked), format_error)

    def rules(self) -> str:
        return (
            f"Tower of Hanoi. {self.num_disks} disks lie on tower A, 1 the smallest, the largest at the bottom. Bring "
            "all of them to tower C.\n"
            "A move takes the top disk of a tower to the top of another; a larger disk may not lie on a smaller one. "
            "The board lists each tower from bottom to top.\n"
            "Write a move as \\boxed{from to}, for example \\boxed{A C}.\n"
            f"You have {self.max_turns} turns."
        )

    def deal(self) -> None:
        self.towers: list[tuple[int, ...]] = [tuple(range(self.num_disks, 0, -1)), (), ()]

    @staticmethod
    def read(box: str) -> tuple[int, int] | None:
        letters = [word for word in _ARROWS.sub(" ", clean(box)).split() if word not in ("to", "from")]
        if len(letters) == 1:
            letters = list(letters[0])  # "AC"
        if len(letters) != 2 or not {"a", "b", "c"}.issuperset(letters):
            return None
        return "abc".index(letters[0]), "abc".index(letters[1])

    def play(self, move: tuple[int, int]) -> tuple[str, float, Outcome]:
        source, target = move
        towers = self.towers
        tower, onto = towers[source], towers[target]
        if not tower:
            return self.invalid(f"tower {TOWERS[source]} is empty")
        if source == target:
            return self.invalid("a move needs two towers")
        disk = tower[-1]
        if onto and onto[-1] < disk:
            return self.invalid(f"disk {disk} may not lie on disk {onto[-1]}")
        towers[source] = tower[:-1]
        towers[target] = onto = (*onto, disk)
        text = f"Turn {self.turn}: moved disk {disk} from {TOWERS[source]} to {TOWERS[target]}."
        if target == 2 and len(onto) == self.num_disks:
            return f"{text} All disks are on C. You win!", 1.0, True
        return text, 0.0, None

    def board(self) -> str:
        a, b, c = self.towers
        return f"A:{_text(a)}\nB:{_text(b)}\nC:{_text(c)}"

    def credit(self) -> float:
        return len(self.towers[2]) / self.num_disks

    def random_move(self) -> str:
        random = self.rng.random
        source = int(random() * 3)
        return f"{TOWERS[source]} {TOWERS[(source + 1 + int(random() * 2)) % 3]}"

    def solution(self) -> str:
        """The first move of the shortest way from this position."""
        target, move = 2, (0, 2)
        where = {disk: place for place, tower in enumerate(self.towers) for disk in tower}
        for disk in range(self.num_disks, 0, -1):
            place = where[disk]
            if place != target:  # this disk must get there, and all smaller ones out of its way first
                move = (place, target)
                target = 3 - place - target
        return f"{TOWERS[move[0]]} {TOWERS[move[1]]}"


_ARROWS = re.compile(r"->|=>|→|\\(?:to|rightarrow)\b|>|-")


@lru_cache(maxsize=4096)
def _text(tower: tuple[int, ...]) -> str:
    return "".join(f" {disk}" for disk in tower)


#: What is drawn from.
LEVELS = (
    {"num_disks": 3, "max_turns": 10},
    {"num_disks": 4, "max_turns": 20},
    {"num_disks": 5, "max_turns": 35},
)


def _checked(num_disks: int, max_turns: int) -> dict[str, Any]:
    return {"num_disks": whole("num_disks", num_disks, 1, 20), "max_turns": whole("max_turns", max_turns, 1)}
