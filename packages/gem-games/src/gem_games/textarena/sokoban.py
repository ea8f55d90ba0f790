"""TextArena's search for a Sokoban room, played in reverse: the same rooms, in less time.

Its own copies arrays at every step, which makes larger rooms slow, and keeps what it finds in variables of its module,
where the threads of a process meet.
"""

from __future__ import annotations

from typing import Any

#: TextArena's bounds: how deep it looks, and how many states.
DEEPEST, MOST_STATES = 299, 300_000

_FLOOR, _TARGET, _BOX, _FIRST_BOX, _PLAYER = 1, 2, 3, 4, 5


def reverse_playing(room_state: Any, room_structure: Any, search_depth: int = 100) -> tuple[Any, int, dict[Any, Any]]:
    """The room that is hardest to solve among those reached by pulling boxes off their targets.

    Args:
        room_state: the room with the boxes on their targets, shape (rows, columns).
        room_structure: the room without boxes and player, shape (rows, columns).
        search_depth: not used, nor does TextArena use it.

    Returns:
        The room, its score (pulls times how far the boxes went), and where each target's box went.
    """
    columns = room_state.shape[1]
    ground = bytes(room_structure.flatten().tolist())
    room = bytearray(room_state.flatten().tolist())
    targets = [index for index, cell in enumerate(ground) if cell == _TARGET]
    boxes = list(targets)  # where each target's box is
    explored: set[bytes] = set()
    best: tuple[int, bytes, list[int]] = (-1, bytes(room), boxes[:])

    def far(box: int, target: int) -> int:
        return abs(box // columns - target // columns) + abs(box % columns - target % columns)

    def search(player: int, pulls: int, distance: int, depth: int) -> None:
        nonlocal best
        if depth > DEEPEST or len(explored) >= MOST_STATES:
            return
        state = bytes(room)
        if state in explored:
            return
        explored.add(state)
        score = pulls * distance if room.count(_TARGET) == len(targets) else 0
        if score > best[0]:
            best = score, state, boxes[:]
        for change in (-columns, columns, -1, 1):
            ahead = player + change
            stood = room[ahead]
            if stood != _FLOOR and stood != _TARGET:
                continue
            behind = player - change
            box = room[behind]
            room[ahead] = _PLAYER
            if box in (_BOX, _FIRST_BOX):
                which = boxes.index(behind)
                target = targets[which]
                room[player], room[behind] = _BOX, ground[behind]
                boxes[which] = player
                search(ahead, pulls + 1, distance + far(player, target) - far(behind, target), depth + 1)
                boxes[which] = behind
                room[behind] = box
            else:
                room[player] = ground[player]
                search(ahead, pulls, distance, depth + 1)
            room[player] = _PLAYER
            room[ahead] = stood

    search(room.index(_PLAYER), 0, 0, 1)
    score, state, ends = best
    found = room_state.copy()
    found.flat[:] = list(state)
    return found, score, {divmod(t, columns): divmod(b, columns) for t, b in zip(targets, ends, strict=True)}
