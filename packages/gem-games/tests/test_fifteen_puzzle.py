import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from gem_games.base import DIRECTIONS
from gem_games.fifteen_puzzle import LEVELS, FifteenPuzzle


def start(tiles, **options):
    env = FifteenPuzzle(num_rows=2, **options)
    env.reset(seed=0)
    a, b, c, d = [str(tile or "__").rjust(2) for tile in tiles]
    env.screen, env.gap = f"{a} {b}\n{c} {d}".encode(), tiles.index(0)
    return env


def shown(env):
    return [0 if word == "__" else int(word) for word in env.board().split()]


def test_directions_are_those_of_the_tile():
    env = start([1, 2, 0, 3], max_turns=10)
    before = shown(env)
    assert before == [1, 2, 0, 3]
    env.step(r"\boxed{down}")
    assert shown(env) == [0, 2, 1, 3]
    env.step(r"\boxed{left}")
    assert shown(env) == [2, 0, 1, 3]
    env.step(r"\boxed{up}")
    assert shown(env) == [2, 3, 1, 0]
    env.step(r"\boxed{right}")
    assert shown(env) == [2, 3, 0, 1]


def test_a_move_that_solves_it_wins():
    env = start([1, 2, 0, 3], max_turns=1)
    _, reward, terminated, truncated, info = env.step(r"\boxed{left}")
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)


@pytest.mark.parametrize("move", ["up", "right"])
def test_no_tile_comes_from_outside(move):
    env = start([1, 2, 0, 3], max_turns=10)
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{move}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert move in info["invalid_action"]
    assert shown(env) == [1, 2, 0, 3]


def test_the_share_of_tiles_in_place_counts_at_the_limit():
    env = start([0, 2, 1, 3], max_turns=1)
    _, reward, terminated, truncated, info = env.step(r"\boxed{left}")
    assert (reward, terminated, truncated, info["success"]) == (0.0, False, True, False)
    env = start([1, 2, 0, 3], max_turns=1)
    assert env.step(r"\boxed{up}")[1] == pytest.approx(2 / 3)


@given(seed=st.integers(0, 500), side=st.integers(2, 5), moves=st.lists(st.sampled_from(DIRECTIONS), max_size=40))
def test_the_board_stays_a_permutation_and_shows_the_tiles(seed, side, moves):
    env = FifteenPuzzle(num_rows=side, max_turns=50)
    env.reset(seed=seed)
    for move in moves:
        if env.playing:
            env.step(f"\\boxed{{{move}}}")
        tiles = shown(env)
        assert sorted(tiles) == list(range(side * side))
        assert tiles[env.gap] == 0
        assert [len(line) for line in env.board().split("\n")] == [3 * side - 1] * side


def inversions_allow_a_solution(tiles, side):
    """The classic parity test."""
    order = [t for t in tiles if t]
    inversions = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
    if side % 2:
        return inversions % 2 == 0
    row_from_bottom = side - tiles.index(0) // side
    return (inversions + row_from_bottom) % 2 == 1


@pytest.mark.parametrize(("side", "turns"), [(2, 10), (3, 20), (4, 50), (5, 300), (2, 1), (3, 2)])
def test_boards_can_be_solved_in_time_and_are_not_solved(side, turns, assert_solved):
    env = FifteenPuzzle(num_rows=side, max_turns=turns)
    for seed in range(60):
        env.reset(seed=seed)
        assert shown(env) != [*range(1, side * side), 0]
        assert inversions_allow_a_solution(shown(env), side)
        assert len(env.trail) <= turns
    assert_solved(env, range(60))


def test_the_solver_comes_back_after_a_detour():
    env = FifteenPuzzle(num_rows=3, max_turns=500)
    env.reset(seed=1)
    for _ in range(40):
        env.step(env.sample_random_action())
    while env.playing:
        info = env.step(env.solve())[4]
    assert info["success"]


def test_boards_differ():
    env = FifteenPuzzle(num_rows=4, max_turns=50)
    env.reset(seed=0)
    boards, lengths = set(), set()
    for _ in range(500):
        env.reset()
        boards.add(env.board())
        lengths.add(len(env.trail))
    assert len(boards) > 480
    assert min(lengths) < 33
    assert max(lengths) > 42


def test_a_seed_gives_the_same_board_whatever_was_drawn_before():
    script = "from gem_games.fifteen_puzzle import FifteenPuzzle; env = FifteenPuzzle(num_rows=4, max_turns=50); "
    shown = [
        subprocess.run(
            [sys.executable, "-c", f"{script}[env.reset() for _ in range({before})]; print(env.reset(seed=7))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for before in (0, 300)
    ]
    assert shown[0] == shown[1] != ""


@pytest.mark.parametrize("box", ["up", " Up. ", r"\text{UP}", "$up$", "'up'"])
def test_spellings_of_a_move(box):
    assert FifteenPuzzle.read(box) == 0


@pytest.mark.parametrize("box", ["", "north", "up down", "1"])
def test_texts_without_a_move(box):
    assert FifteenPuzzle.read(box) is None


def test_random_level():
    env = FifteenPuzzle(None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(50):
        env.reset()
        seen.add((env.num_rows, env.max_turns))
    assert seen == {tuple(level.values()) for level in LEVELS}


@pytest.mark.parametrize("options", [{"num_rows": 1}, {"num_rows": 11}, {"max_turns": 0}, {"num_rows": 2.0}])
def test_impossible_options(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        FifteenPuzzle(**options)
