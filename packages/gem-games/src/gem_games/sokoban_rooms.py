"""Rooms for Sokoban: making them by playing backwards from the solution, and solving them.

A set of cells is an integer whose bit ``row * width + column`` says whether the cell is in; the border of a room is
wall, so that shifting a set by one cell never wraps. Directions are indices 0 to 3: up, down, left, right.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random


@dataclass(slots=True)
class Room:
    """A room: sets of cells, the player's cell, and a way to solve it that the generator knows."""

    width: int
    floor: int
    targets: int
    boxes: int
    player: int
    #: Moves that solve it, as direction indices.
    plan: bytes


#: Rooms dug for one board, ways played backwards in each, and rooms to try before a poor one is taken.
_ROOMS, _WAYS, _LAST_ROOM = 5, 10, 60


def generate(rows: int, cols: int, boxes: int, longest: int, rng: Random) -> Room:
    """A room of ``rows`` x ``cols`` cells, walls included, that can be solved in at most ``longest`` moves.

    Every box starts off the targets, save in rooms too tight for it, where at least one does. Of several candidates
    the hardest-looking is taken: what counts is how many pushes the boxes need at least, one by one, and how often
    the way changes from one box to another.
    """
    best: Room | None = None
    best_rank = (0, 0)
    for attempt in range(_LAST_ROOM):
        floor = _dig(rows, cols, boxes, attempt, rng)
        cells = cells_of(floor)
        for place in range(boxes):
            other = place + int(rng.random() * (len(cells) - place))
            cells[place], cells[other] = cells[other], cells[place]
        targets = sum([1 << cell for cell in cells[:boxes]])
        cost = push_distances(cols, floor, targets)
        for _ in range(_WAYS):
            player = cells[boxes + int(rng.random() * (len(cells) - boxes))]
            found = _play_backwards(cols, floor, targets, player, cost, longest, rng)
            if found is not None and found[1] > best_rank:
                best, best_rank = found
        if attempt + 1 >= _ROOMS and best_rank[0] == boxes:
            break
    return best or _fallback(rows, cols, boxes)


def _dig(rows: int, cols: int, boxes: int, attempt: int, rng: Random) -> int:
    """A connected floor: a random walk that widens the corridor here and there."""
    random = rng.random
    row, column = 1 + int(random() * (rows - 2)), 1 + int(random() * (cols - 2))
    inner = sum(((1 << cols - 2) - 1) << (r * cols + 1) for r in range(1, rows - 1))
    wanted = max(int((0.68 + 0.01 * attempt) * (rows - 2) * (cols - 2)), 3 * boxes + 2)
    wanted = min(wanted, (rows - 2) * (cols - 2))
    floor = 0
    step = 0
    while floor.bit_count() < wanted:
        if random() < 0.45:
            step = int(random() * 4)
        if step == 0:
            row = max(1, row - 1)
        elif step == 1:
            row = min(rows - 2, row + 1)
        elif step == 2:
            column = max(1, column - 1)
        else:
            column = min(cols - 2, column + 1)
        cell = row * cols + column
        shape = int(random() * 4)
        floor |= 1 << cell
        if shape == 1:
            floor |= 7 << (cell - 1)
        elif shape == 2:
            floor |= 1 << (cell - cols) | 1 << (cell + cols)
        elif shape == 3:
            floor |= 3 << cell | 3 << (cell + cols)
        floor &= inner
    return floor


def _play_backwards(
    width: int, floor: int, targets: int, player: int, cost: dict[int, int], longest: int, rng: Random
) -> tuple[Room, tuple[int, int]] | None:
    """Start solved and pull boxes away from the targets at random.

    Args:
        cost: of :func:`push_distances`.

    Returns:
        The hardest-looking position on the way, and (boxes off the targets, how hard it looks); ``None`` if there is
        none with a box off the targets.
    """
    random = rng.random
    boxes = targets
    shifts = (-width, width, -1, 1)
    trail = bytearray()
    best: tuple[tuple[int, int], int, int, int] | None = None  # rank, length of the trail, boxes, player
    changes, last_box = 0, -1
    left = longest - int(random() * (longest // 3 + 1))
    while left > 0:
        free = floor & ~boxes
        layers = distances(1 << player, free, width)
        reach = 0
        for layer in layers[:left]:
            reach |= layer
        options = []
        for direction, shift in enumerate(shifts):
            # the player stands next to a box, on the side it is to be pulled to, and has room to step back
            stand = (boxes << shift if shift > 0 else boxes >> -shift) & reach
            stand &= free >> shift if shift > 0 else free << -shift
            while stand:
                bit = stand & -stand
                stand ^= bit
                options.append((bit.bit_length() - 1, direction))
        if not options:
            break
        stand, direction = options[int(random() * len(options))]
        shift = shifts[direction]
        walk = path(layers, stand, width)
        trail += walk
        left -= len(walk)
        box = stand - shift
        changes += box != last_box
        pulls = 1 + int(random() * 4)
        while pulls and left and free >> (stand + shift) & 1:
            boxes ^= 1 << (stand - shift) | 1 << stand
            stand += shift
            trail.append(direction)
            pulls -= 1
            left -= 1
        player = stand
        last_box = player - shift
        rank = ((boxes & ~targets).bit_count(), 2 * sum([cost[cell] for cell in cells_of(boxes)]) + changes)
        if rank[0] and (best is None or rank > best[0]):
            best = (rank, len(trail), boxes, player)
    if best is None:
        return None
    rank, length, boxes, player = best
    plan = bytes([direction ^ 1 for direction in reversed(trail[:length])])
    return Room(width, floor, targets, boxes, player, plan), rank


def _fallback(rows: int, cols: int, count: int) -> Room:
    """An empty room: boxes on targets row by row, and one box a push away from its own."""
    floor = sum(((1 << cols - 2) - 1) << (r * cols + 1) for r in range(1, rows - 1))
    cells = cells_of(floor)
    if cols >= rows:
        player, first, target, push = cells[0], cells[1], cells[2], 3
    else:
        player, first, target, push = cells[0], cells[cols - 2], cells[2 * (cols - 2)], 1
    others = [cell for cell in reversed(cells) if cell not in (player, first, target)][: count - 1]
    fixed = sum(1 << cell for cell in others)
    return Room(cols, floor, fixed | 1 << target, fixed | 1 << first, player, bytes([push]))


def cells_of(cells: int) -> list[int]:
    """The cells of a set, in ascending order."""
    found = []
    while cells:
        bit = cells & -cells
        found.append(bit.bit_length() - 1)
        cells ^= bit
    return found


def distances(start: int, free: int, width: int) -> list[int]:
    """Sets of the cells that are 0, 1, 2, ... steps from ``start`` over ``free`` cells."""
    layers = [start]
    free &= ~start
    front = start
    while True:
        front = (front << 1 | front >> 1 | front << width | front >> width) & free
        if not front:
            return layers
        free ^= front
        layers.append(front)


def path(layers: list[int], goal: int, width: int) -> bytearray:
    """Steps from where ``layers`` (of :func:`distances`) start to ``goal``; empty when it is there already."""
    bit = 1 << goal
    depth = next(depth for depth, layer in enumerate(layers) if layer & bit)
    steps = bytearray()
    for layer in reversed(layers[:depth]):
        if layer & bit << width:
            bit <<= width
            steps.append(0)  # came from below, so the step was up
        elif layer & bit >> width:
            bit >>= width
            steps.append(1)
        elif layer & bit << 1:
            bit <<= 1
            steps.append(2)
        else:
            bit >>= 1
            steps.append(3)
    steps.reverse()
    return steps


# -- solving ----------------------------------------------------------------------------------------------


def solve(room: Room, most: int = 200_000) -> bytes | None:
    """Moves that solve a room with the fewest pushes, by A* over pushes.

    Args:
        most: positions looked at before giving up.

    Returns:
        Direction indices; ``None`` if there is no solution or none was found.
    """
    width, floor, targets = room.width, room.floor, room.targets
    shifts = (-width, width, -1, 1)
    cost = push_distances(width, floor, targets)
    alive = sum(1 << cell for cell in cost)
    if room.boxes & ~alive:
        return None

    def estimate(boxes: int) -> int:
        return sum([cost[cell] for cell in cells_of(boxes)])

    start = (room.boxes, room.player)
    came: dict[tuple[int, int], tuple[tuple[int, int], int, int] | None] = {start: None}
    closed: set[tuple[int, int]] = set()
    queue = [(estimate(room.boxes), 0, 0, start)]
    serial = 0
    while queue and len(closed) < most:
        _, pushes, _, state = heappop(queue)
        boxes, player = state
        if boxes == targets:
            return _moves(came, state, floor, width)
        free = floor & ~boxes
        reach = 0
        for layer in distances(1 << player, free, width):
            reach |= layer
        key = (boxes, reach & -reach)  # positions the player can walk between are one
        if key in closed:
            continue
        closed.add(key)
        for direction, shift in enumerate(shifts):
            pushed = (reach << shift if shift > 0 else reach >> -shift) & boxes
            while pushed:
                bit = pushed & -pushed
                pushed ^= bit
                onto = bit << shift if shift > 0 else bit >> -shift
                if not onto & free & alive:
                    continue
                following = (boxes ^ bit | onto, bit.bit_length() - 1)
                if following not in came:
                    came[following] = (state, bit.bit_length() - 1 - shift, direction)
                    serial += 1
                    heappush(queue, (pushes + 1 + estimate(following[0]), pushes + 1, serial, following))
    return None


def push_distances(width: int, floor: int, targets: int) -> dict[int, int]:
    """Fewest pushes from each cell to a target, other boxes left out; cells a box can never leave are missing."""
    found = dict.fromkeys(cells_of(targets), 0)
    queue = list(found)
    for cell in queue:
        for shift in (-width, width, -1, 1):
            before = cell - shift
            if floor >> before & 1 and floor >> (before - shift) & 1 and before not in found:
                found[before] = found[cell] + 1
                queue.append(before)
    return found


def _moves(
    came: dict[tuple[int, int], tuple[tuple[int, int], int, int] | None], state: tuple[int, int], floor: int, width: int
) -> bytes:
    """The pushes that led to a state, with the walks between them."""
    parts = []
    while (step := came[state]) is not None:
        state, stand, direction = step
        boxes, player = state
        walk = path(distances(1 << player, floor & ~boxes, width), stand, width)
        walk.append(direction)
        parts.append(bytes(walk))
    return b"".join(reversed(parts))
