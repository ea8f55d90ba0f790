from collections import Counter

import pytest
from hypothesis import given, strategies as st

from gem_games.base import DIRECTIONS
from gem_games.game_2048 import Game2048, slide


def start(rows, **options):
    env = Game2048(board_size=len(rows), **options)
    env.reset(seed=0)
    env.grid = tuple(map(tuple, rows))
    env.start = env.largest = max(map(max, rows))
    return env


def reference(grid, direction):
    """Tile by tile: from the wall on, each tile moves as far as it can and merges once."""
    size = len(grid)
    board = {(r, c): grid[r][c] for r in range(size) for c in range(size)}
    dr, dc = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}[direction]
    merged = set()
    for r, c in sorted(board, key=lambda p: -(p[0] * dr + p[1] * dc)):
        tile = board[r, c]
        if not tile:
            continue
        while True:
            nr, nc = r + dr, c + dc
            if (nr, nc) not in board:
                break
            if board[nr, nc] == 0:
                board[nr, nc], board[r, c] = tile, 0
                r, c = nr, nc
                continue
            if board[nr, nc] == tile and (nr, nc) not in merged:
                board[nr, nc], board[r, c] = 2 * tile, 0
                merged.add((nr, nc))
            break
    return tuple(tuple(board[r, c] for c in range(size)) for r in range(size))


tiles = st.sampled_from([0, 0, 2, 2, 4, 4, 8, 16])
grids = st.integers(2, 5).flatmap(lambda n: st.tuples(*[st.tuples(*[tiles] * n)] * n))


@given(grids, st.sampled_from(range(4)))
def test_sliding_agrees_with_the_rules(grid, move):
    assert slide(grid, move) == reference(grid, DIRECTIONS[move])


@pytest.mark.parametrize(
    ("row", "left"),
    [
        ((2, 2, 2, 2), (4, 4, 0, 0)),
        ((2, 2, 4, 0), (4, 4, 0, 0)),
        ((4, 0, 2, 2), (4, 4, 0, 0)),
        ((2, 2, 2, 0), (4, 2, 0, 0)),
        ((0, 0, 0, 2), (2, 0, 0, 0)),
    ],
)
def test_known_rows(row, left):
    assert slide((row,) * 4, 2) == (left,) * 4
    assert slide((row[::-1],) * 4, 3) == (left[::-1],) * 4


@given(st.integers(0, 300), st.lists(st.sampled_from(DIRECTIONS), max_size=30))
def test_each_move_adds_one_tile(seed, moves):
    env = Game2048()
    env.reset(seed=seed)
    for move in moves:
        if not env.playing:
            break
        before = env.grid
        slid = reference(before, move)
        info = env.step(f"\\boxed{{{move}}}")[4]
        if slid == before:
            assert env.grid == before
            assert move in info["invalid_action"]
        else:
            changes = [(a, b) for x, y in zip(slid, env.grid, strict=True) for a, b in zip(x, y, strict=True) if a != b]
            assert changes in ([(0, 2)], [(0, 4)])
        assert [int(w.replace(".", "0")) for w in env.board().split()] == [n for row in env.grid for n in row]


def test_new_tiles_are_mostly_twos_anywhere():
    env = Game2048()
    env.reset(seed=0)
    values, places = Counter(), Counter()
    for _ in range(3000):
        env.reset()
        for i, n in enumerate(n for row in env.grid for n in row):
            if n:
                values[n] += 1
                places[i] += 1
    assert sum(values.values()) == 6000
    assert 500 < values[4] < 700
    assert all(310 < n < 440 for n in places.values())


def test_new_largest_tiles_earn_their_share():
    env = start([[2, 2, 0, 0], [0] * 4, [0] * 4, [0] * 4], target_tile=16, max_turns=100)
    assert env.step(r"\boxed{left}")[1] == pytest.approx(1 / 3)
    env.grid = ((4, 4, 0, 0), (0,) * 4, (0,) * 4, (0,) * 4)
    assert env.step(r"\boxed{left}")[1] == pytest.approx(1 / 3)
    env.grid = ((4, 4, 0, 0), (0,) * 4, (0,) * 4, (0,) * 4)
    assert env.step(r"\boxed{left}")[1] == 0.0
    env.grid = ((8, 8, 0, 0), (0,) * 4, (0,) * 4, (0,) * 4)
    _, reward, terminated, truncated, info = env.step(r"\boxed{left}")
    assert reward == pytest.approx(1 / 3)
    assert (terminated, truncated, info["success"]) == (True, False, True)


def test_a_board_without_a_move_is_lost():
    env = start([[2, 4, 2, 4], [4, 2, 4, 2], [64, 128, 256, 512], [32, 8, 0, 16]], max_turns=1)
    observation, reward, terminated, truncated, info = env.step(r"\boxed{right}")
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)
    assert "No move is left" in observation


@pytest.mark.parametrize("box", ["left", " LEFT! ", r"\text{left}", "$left$"])
def test_spellings_of_a_move(box):
    assert Game2048.read(box) == 2


def test_random_level():
    env = Game2048(None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(50):
        env.reset()
        seen.add((env.target_tile, env.max_turns))
    assert seen == {(16, 20), (32, 30), (64, 50)}


@pytest.mark.parametrize(
    "options",
    [
        {"target_tile": 4},
        {"target_tile": 100},
        {"target_tile": 2**40},
        {"target_tile": "64"},
        {"max_turns": 0},
        {"board_size": 1},
    ],
)
def test_impossible_options(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Game2048(**options)
