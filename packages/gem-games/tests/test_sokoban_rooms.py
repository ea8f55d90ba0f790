from collections import deque
from random import Random

import pytest

from gem_games.sokoban_rooms import Room, _fallback, cells_of, distances, generate, path, solve

SHIFTS = {0: (-1, 0), 1: (1, 0), 2: (0, -1), 3: (0, 1)}


def picture(text):
    """A room from a drawing: # wall, _ floor, X box, O target, * both, P player, S player on a target."""
    lines = text.split()
    width = len(lines[0])
    sets = dict.fromkeys("#_XO*PS", 0)
    for row, line in enumerate(lines):
        for column, mark in enumerate(line):
            sets[mark] |= 1 << row * width + column
    player = (sets["P"] | sets["S"]).bit_length() - 1
    floor = sum(sets.values()) - sets["#"]
    return Room(width, floor, sets["O"] | sets["*"] | sets["S"], sets["X"] | sets["*"], player, b"")


def play(room, plan):
    """Follow a plan by the rules, cell by cell; the boxes at the end, and the pushes."""
    cell = lambda n: divmod(n, room.width)  # noqa: E731
    floor = {cell(n) for n in cells_of(room.floor)}
    boxes = {cell(n) for n in cells_of(room.boxes)}
    player, pushes = cell(room.player), 0
    for move in plan:
        dr, dc = SHIFTS[move]
        ahead = (player[0] + dr, player[1] + dc)
        assert ahead in floor
        if ahead in boxes:
            behind = (ahead[0] + dr, ahead[1] + dc)
            assert behind in floor - boxes
            boxes = boxes - {ahead} | {behind}
            pushes += 1
        player = ahead
    return boxes, pushes


def is_solved(room, plan):
    return play(room, plan)[0] == {divmod(n, room.width) for n in cells_of(room.targets)}


def fewest_pushes(room):
    """Breadth-first by hand over every (boxes, player): fewest pushes, or None."""
    cell = lambda n: divmod(n, room.width)  # noqa: E731
    floor = {cell(n) for n in cells_of(room.floor)}
    goal = frozenset(cell(n) for n in cells_of(room.targets))
    start = (frozenset(cell(n) for n in cells_of(room.boxes)), cell(room.player))
    best = {start: 0}
    queue = deque([start])
    while queue:  # 0-1 breadth-first search
        boxes, player = state = queue.popleft()
        if boxes == goal:
            return best[state]
        for dr, dc in SHIFTS.values():
            ahead = (player[0] + dr, player[1] + dc)
            if ahead not in floor:
                continue
            following, cost = boxes, best[state]
            if ahead in boxes:
                behind = (ahead[0] + dr, ahead[1] + dc)
                if behind not in floor or behind in boxes:
                    continue
                following, cost = boxes - {ahead} | {behind}, cost + 1
            new = (following, ahead)
            if cost < best.get(new, 10**9):
                best[new] = cost
                (queue.append if cost > best[state] else queue.appendleft)(new)
    return None


@pytest.mark.parametrize(
    ("rows", "cols", "boxes", "longest", "count"),
    [(6, 6, 2, 20, 60), (8, 8, 4, 50, 40), (5, 5, 1, 3, 20), (5, 9, 3, 30, 20), (9, 5, 3, 30, 20), (12, 12, 6, 100, 5)],
)
def test_rooms_are_sound_and_their_plans_solve_them_in_time(rows, cols, boxes, longest, count):
    for seed in range(count):
        room = generate(rows, cols, boxes, longest, Random(seed))
        assert room.width == cols
        assert room.targets.bit_count() == room.boxes.bit_count() == boxes
        assert not (room.targets | room.boxes | 1 << room.player) & ~room.floor
        assert not room.boxes >> room.player & 1
        for cell in cells_of(room.floor):
            assert 0 < cell // cols < rows - 1
            assert 0 < cell % cols < cols - 1
        assert sum(layer.bit_count() for layer in distances(1 << room.player, room.floor, cols)) == len(
            cells_of(room.floor)
        ), "the floor is connected"
        assert room.boxes != room.targets
        assert 0 < len(room.plan) <= longest
        assert is_solved(room, room.plan)


def test_every_box_starts_off_the_targets_in_the_published_sizes():
    for rows, boxes, longest in ((6, 2, 20), (8, 4, 50)):
        for seed in range(40):
            room = generate(rows, rows, boxes, longest, Random(seed))
            assert not room.boxes & room.targets


def test_rooms_differ_and_follow_the_seed():
    rooms = [generate(6, 6, 2, 20, Random(seed)) for seed in range(100)]
    assert len({(r.floor, r.boxes, r.targets, r.player) for r in rooms}) >= 97
    assert generate(6, 6, 2, 20, Random(5)) == rooms[5]


@pytest.mark.parametrize(("rows", "cols", "boxes"), [(5, 5, 2), (5, 5, 1), (8, 5, 4), (5, 8, 4), (20, 20, 81)])
@pytest.mark.parametrize("longest", [1, 2, 5])
def test_tight_limits_still_give_rooms(rows, cols, boxes, longest):
    if rows * cols > 100:
        longest = 60
    room = generate(rows, cols, boxes, longest, Random(1))
    assert is_solved(room, room.plan)
    assert len(room.plan) <= longest


@pytest.mark.parametrize(("rows", "cols", "boxes"), [(5, 5, 2), (5, 8, 3), (8, 5, 3), (6, 6, 1)])
def test_the_last_resort_is_one_push_away(rows, cols, boxes):
    room = _fallback(rows, cols, boxes)
    assert room.boxes.bit_count() == room.targets.bit_count() == boxes
    assert room.boxes != room.targets
    assert len(room.plan) == 1
    assert is_solved(room, room.plan)


def test_the_solver_needs_the_fewest_pushes():
    for seed in range(25):
        room = generate(6, 6, 2, 20, Random(seed))
        plan = solve(room)
        assert is_solved(room, plan)
        assert play(room, plan)[1] == fewest_pushes(room)


@pytest.mark.parametrize(
    "text",
    [
        "##### #X__# #_P_# #__O# #####",  # a box in a corner
        "###### #_XX_# #_XX_# #POO_# #_OO_# ######",  # a block that cannot move
        "##### #P#O# #_#X# #_#_# #####",  # out of reach
    ],
)
def test_the_solver_says_when_there_is_no_way(text):
    room = picture(text)
    assert solve(room) is None
    assert fewest_pushes(room) is None


def test_the_solver_gives_up_after_so_many_positions():
    assert solve(generate(8, 8, 4, 50, Random(0)), most=1) is None


def test_path_is_a_shortest_walk():
    room = picture("####### #P#___# #_#_#_# #___#O# #X##### #######")
    layers = distances(1 << room.player, room.floor & ~room.boxes, room.width)
    goal = room.targets.bit_length() - 1
    assert list(path(layers, goal, room.width)) == [1, 1, 3, 3, 0, 0, 3, 3, 1, 1]
    assert list(path(layers, room.player, room.width)) == []
