"""Minesweeper: reveal every cell without a mine, from the counts of mines around revealed cells."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from math import comb
from typing import Any

from gem_games.base import Game, Outcome, clean, numbers
from gem_games.options import complete, whole


class Minesweeper(Game):
    r"""Cells are revealed with ``\boxed{reveal row column}`` and flagged with ``\boxed{flag row column}``, from 0.

    A revealed cell shows how many of its neighbours hold mines; one with none reveals its neighbours. The first
    reveal never hits a mine, and where there is room its neighbours hold none either. Reward: newly revealed cells
    over all cells without a mine. A mine ends the game.

    Args:
        rows: height; ``None`` draws 5 to 8, equal to the width.
        cols: width.
        num_mines: mines; ``None`` gives a fifth of the cells.
        max_turns: moves allowed, flags included; ``None`` gives one a cell.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    rows: int
    cols: int
    num_mines: int

    def __init__(
        self,
        rows: int | None = 8,
        cols: int | None = 8,
        num_mines: int | None = 10,
        max_turns: int | None = 20,
        format_error: str = "terminate",
    ) -> None:
        given = {"rows": rows, "cols": cols, "num_mines": num_mines, "max_turns": max_turns}
        super().__init__(complete(given, LEVELS, _checked), format_error)

    def rules(self) -> str:
        return (
            f"Minesweeper. {self.num_mines} of the {self.rows * self.cols} cells hold mines. Reveal all the others.\n"
            "On the board . is a hidden cell, F a flag, and a number says how many of the up to eight cells around "
            "it hold mines. Rows and columns are counted from 0.\n"
            "Write \\boxed{reveal row column} to reveal a cell, for example \\boxed{reveal 0 2}, or \\boxed{flag row "
            "column} to set or remove a flag. A flagged cell cannot be revealed. A mine ends the game; the first cell "
            f"you reveal is safe.\nYou have {self.max_turns} turns."
        )

    def deal(self) -> None:
        self.field = _field(self.rows, self.cols)
        self.screen = bytearray(self.field.screen)
        #: Sets of cells as bits, see ``_Field``. The mines are laid at the first reveal.
        self.mines = self.zeros = self.revealed = self.flags = 0
        self.hidden = self.safe = self.rows * self.cols - self.num_mines
        self.earned = 0.0

    @staticmethod
    def read(box: str) -> tuple[str, int, int] | None:
        words = clean(box).split()
        place = numbers(words[1:])
        if place is None or len(place) != 2 or not words[0].isalpha():
            return None
        return words[0], place[0], place[1]

    def play(self, move: tuple[str, int, int]) -> tuple[str, float, Outcome]:
        verb, row, column = move
        if not (0 <= row < self.rows and 0 <= column < self.cols):
            return self.invalid(f"rows go from 0 to {self.rows - 1} and columns from 0 to {self.cols - 1}")
        field = self.field
        cell = row * field.width + column
        bit = 1 << cell
        if self.revealed & bit:
            return self.invalid(f"row {row}, column {column} is revealed already")
        if verb == "reveal":
            if self.flags & bit:
                return self.invalid(f"row {row}, column {column} is flagged; remove the flag first")
            if not self.mines:
                self._lay_mines(cell)
            if self.mines & bit:
                self.screen[field.at[cell]] = 42  # *
                return f"Turn {self.turn}: a mine at row {row}, column {column}. You lose.", 0.0, False
            new = self._reveal(bit)
            if not self.hidden:
                return f"Turn {self.turn}: every cell without a mine is revealed. You win!", 1.0 - self.earned, True
            reward = new / self.safe
            self.earned += reward
            return f"Turn {self.turn}: revealed row {row}, column {column}.", reward, None
        if verb == "flag":
            self.flags ^= bit
            if self.flags & bit:
                self.screen[field.at[cell]] = 70  # F
                return f"Turn {self.turn}: flagged row {row}, column {column}.", 0.0, None
            self.screen[field.at[cell]] = 46  # .
            return f"Turn {self.turn}: removed the flag from row {row}, column {column}.", 0.0, None
        return self.invalid("a cell can only be revealed or flagged")

    def _lay_mines(self, first: int) -> None:
        """Away from the first cell and its neighbours; if they must be used, away from the first cell."""
        field, random = self.field, self.rng.random
        around = field.around[first]
        pool = [cell for cell in field.cells if cell != first and not around >> cell & 1]
        rest = [cell for cell in field.cells if around >> cell & 1]
        mines = 0
        for _ in range(self.num_mines):
            pool = pool or rest
            place = int(random() * len(pool))
            mines |= 1 << pool[place]
            pool[place] = pool[-1]
            pool.pop()
        self.mines = mines
        self.zeros = field.all & ~field.grow(mines)

    def _reveal(self, bit: int) -> int:
        """Reveal a cell and what its count of zero opens; the number of cells revealed."""
        field, mines, closed = self.field, self.mines, ~(self.revealed | self.flags)
        if bit & self.zeros:
            open_, seen = bit, 0
            zeros = self.zeros & closed
            while open_ != seen:
                seen = open_
                open_ = field.grow(open_) & zeros
            bit = field.grow(open_) & closed
        self.revealed |= bit
        count = bit.bit_count()
        self.hidden -= count
        around, at, screen = field.around, field.at, self.screen
        while bit:
            cell = bit.bit_length() - 1
            bit ^= 1 << cell
            screen[at[cell]] = 48 + (around[cell] & mines).bit_count()
        return count

    def board(self) -> str:
        return self.screen.decode()

    def random_move(self) -> str:
        random = self.rng.random
        verb = "reveal" if random() < 0.9 else "flag"
        return f"{verb} {int(random() * self.rows)} {int(random() * self.cols)}"

    def solution(self) -> str:
        """A cell that the counts prove safe, or else the one least likely to hold a mine. Flags are not trusted."""
        cell, _ = self.safest()
        verb = "flag" if self.flags >> cell & 1 else "reveal"  # a flag must go before its cell can be revealed
        return f"{verb} {cell // self.field.width} {cell % self.field.width}"

    def safest(self) -> tuple[int, float]:
        """The hidden cell least likely to hold a mine, and that probability, given what the board shows."""
        field = self.field
        if not self.mines:
            return (self.rows // 2) * field.width + self.cols // 2, 0.0
        constraints = []
        for cell in field.cells:
            hidden = field.around[cell] & ~self.revealed
            if self.revealed >> cell & 1 and hidden:
                constraints.append((hidden, (field.around[cell] & self.mines).bit_count()))
        return _safest(field.all & ~self.revealed, constraints, self.num_mines)


class _Field:
    """Geometry of a board. A set of cells is an integer whose bit ``row * width + column`` says whether it is in.

    A row takes one bit more than the board has columns, so that shifting a set never wraps into the next row.
    """

    def __init__(self, rows: int, cols: int) -> None:
        self.size = (rows, cols)
        self.width = width = cols + 1
        self.cells = [row * width + column for row in range(rows) for column in range(cols)]
        self.all = sum(1 << cell for cell in self.cells)
        self.around = {cell: self.grow(1 << cell) & ~(1 << cell) for cell in self.cells}
        digits = len(str(cols - 1)) + 1
        margin = len(str(rows - 1))
        lines = [" " * margin + " " + "".join(str(column).rjust(digits) for column in range(cols))]
        lines += [str(row).rjust(margin) + " " + ".".rjust(digits) * cols for row in range(rows)]
        self.screen = "\n".join(lines).encode()
        #: Where each cell stands in the screen.
        self.at = {}
        for row in range(rows):
            for column in range(cols):
                line = (row + 1) * (len(lines[0]) + 1)
                self.at[row * width + column] = line + margin + digits * (column + 1)

    def __reduce__(self) -> tuple[Any, tuple[int, int]]:
        return _field, self.size

    def grow(self, cells: int) -> int:
        """The cells and their neighbours."""
        cells |= cells << 1 | cells >> 1
        return (cells | cells << self.width | cells >> self.width) & self.all


@cache
def _field(rows: int, cols: int) -> _Field:
    return _Field(rows, cols)


# -- deduction --------------------------------------------------------------------------------------------


def _safest(hidden: int, constraints: list[tuple[int, int]], mines: int) -> tuple[int, float]:
    """The hidden cell least likely to hold a mine, and how likely that is, all layouts being equally likely.

    Args:
        hidden: cells not revealed.
        constraints: sets of hidden cells, and how many mines each holds.
        mines: how many mines there are in all.
    """
    safe = _surely_safe(constraints)
    if safe:
        return safe.bit_length() - 1, 0.0
    groups = [_layouts(group) for group in _independent(constraints)]
    border = 0
    for cells, _ in constraints:
        border |= cells
    inner = (hidden & ~border).bit_count()
    # ways[k]: layouts of the groups so far with k mines.
    ways_without = []
    for skipped in range(len(groups) + 1):
        ways = {0: 1}
        for index, layouts in enumerate(groups):
            if index != skipped:
                joined: dict[int, int] = defaultdict(int)
                for k, n in ways.items():
                    for more, (count, _) in layouts.items():
                        joined[k + more] += n * count
                ways = joined
        ways_without.append(ways)
    total = sum(n * comb(inner, mines - k) for k, n in ways_without[-1].items() if k <= mines)
    best, chance = -1, 2.0
    for layouts, ways in zip(groups, ways_without[:-1], strict=True):
        held: dict[int, int] = defaultdict(int)
        for more, (_, with_mine) in layouts.items():
            rest = sum(n * comb(inner, mines - more - k) for k, n in ways.items() if more + k <= mines)
            for cell, count in with_mine.items():
                held[cell] += count * rest
        for cell, count in held.items():
            if count / total < chance:
                best, chance = cell, count / total
    if inner:
        mined = sum(n * comb(inner - 1, mines - k - 1) for k, n in ways_without[-1].items() if k < mines)
        if mined / total < chance:
            best, chance = (hidden & ~border).bit_length() - 1, mined / total
    return best, chance


def _surely_safe(constraints: list[tuple[int, int]]) -> int:
    """Cells that hold no mine by comparing constraints pairwise, the cheap part of the deduction."""
    for cells, count in constraints:
        if count == 0:
            return cells
    for cells, count in constraints:
        for others, other_count in constraints:
            # if `others` needs so many mines that all of what it has outside `cells` are mines, the rest is known
            outside = (others & ~cells).bit_count()
            if other_count - count == outside and cells & ~others:
                return cells & ~others
    return 0


def _independent(constraints: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Groups of constraints that share no cell with another group."""
    groups: list[tuple[int, list[tuple[int, int]]]] = []
    for constraint in constraints:
        cells, members = constraint[0], [constraint]
        apart = []
        for other_cells, others in groups:
            if other_cells & cells:
                cells |= other_cells
                members = others + members
            else:
                apart.append((other_cells, others))
        groups = [*apart, (cells, members)]
    return [members for _, members in groups]


def _layouts(constraints: list[tuple[int, int]]) -> dict[int, tuple[int, dict[int, int]]]:
    """All layouts of one group: mines -> (how many layouts, cell -> in how many of them it holds a mine).

    Cells are decided one after another. Layouts of the cells so far that leave every constraint the same number of
    mines to place go on alike, so that only their number is kept, from the front and from the back.
    """
    cells = _neighbours_first(constraints)
    touched = [[index for index, (group, _) in enumerate(constraints) if group >> cell & 1] for cell in cells]
    room = [group.bit_count() for group, _ in constraints]
    #: For each cell, (what is left to place, before) -> (the same afterwards without a mine here, and with one).
    choices: list[dict[Left, list[Left | None]]] = []
    left = {tuple(count for _, count in constraints)}
    for indices in touched:
        for index in indices:
            room[index] -= 1
        choice: dict[Left, list[Left | None]] = {}
        for before in left:
            choice[before] = [None, None]
            for mine in (0, 1):
                placed = list(before)
                for index in indices:
                    placed[index] -= mine
                if all(0 <= placed[index] <= room[index] for index in indices):
                    choice[before][mine] = tuple(placed)
        choices.append(choice)
        left = {after for pair in choice.values() for after in pair if after is not None}
    # behind[i]: what is left before cell i -> mines from there on -> layouts of the rest
    behind: list[dict[Left, dict[int, int]]] = [{after: {0: 1} for after in left}]
    for choice in reversed(choices):
        rest: dict[Left, dict[int, int]] = {}
        for before, pair in choice.items():
            ways: dict[int, int] = defaultdict(int)
            for mine, after in enumerate(pair):
                if after is not None:
                    for mines, count in behind[-1][after].items():
                        ways[mines + mine] += count
            rest[before] = ways
        behind.append(rest)
    behind.reverse()
    (total,) = behind[0].values()
    found: dict[int, tuple[int, dict[int, int]]] = {mines: (count, {}) for mines, count in total.items()}
    ahead: dict[Left, dict[int, int]] = {before: {0: 1} for before in behind[0]}
    for cell, choice, rest in zip(cells, choices, behind[1:], strict=True):
        following: dict[Left, dict[int, int]] = {}
        for _, with_mine in found.values():
            with_mine[cell] = 0
        for before, ways in ahead.items():
            for mine, after in enumerate(choice[before]):
                if after is None:
                    continue
                onward = following.setdefault(after, defaultdict(int))
                for mines, count in ways.items():
                    onward[mines + mine] += count
                    if mine:
                        for more, others in rest[after].items():
                            found[mines + 1 + more][1][cell] += count * others
        ahead = following
    return found


#: How many mines are left to place in each constraint.
Left = tuple[int, ...]


def _neighbours_first(constraints: list[tuple[int, int]]) -> list[int]:
    """The cells of a group in an order that finishes a constraint before it goes far away."""
    cells: list[int] = []
    seen = 0
    waiting = [group for group, _ in constraints]
    queue = [waiting.pop(0)]
    while queue:
        group = queue.pop(0)
        new = group & ~seen
        seen |= new
        while new:
            bit = new & -new
            new ^= bit
            cells.append(bit.bit_length() - 1)
        queue += [other for other in waiting if other & group]
        waiting = [other for other in waiting if not other & group]
    return cells


#: What is drawn from.
LEVELS = tuple({"rows": n, "cols": n, "num_mines": n * n // 5, "max_turns": n * n} for n in range(5, 9))


def _checked(rows: int, cols: int, num_mines: int, max_turns: int) -> dict[str, Any]:
    rows, cols = whole("rows", rows, 2, 100), whole("cols", cols, 2, 100)
    return {
        "rows": rows,
        "cols": cols,
        "num_mines": whole("num_mines", num_mines, 1, rows * cols - 1),
        "max_turns": whole("max_turns", max_turns, 1),
    }
