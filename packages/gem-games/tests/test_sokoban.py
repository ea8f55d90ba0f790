import pytest
from hypothesis import given, settings, strategies as st

from gem_games.base import DIRECTIONS, NoSolution
from gem_games.sokoban import Sokoban
from gem_games.sokoban_rooms import cells_of


def start(drawing, max_turns=100):
    """An environment in the room of a drawing."""
    lines = drawing.split()
    env = Sokoban((len(lines), len(lines[0])), max_turns=max_turns, num_boxes=sum(map(drawing.count, "X*")))
    env.reset(seed=0)
    flat = "".join(lines)
    env.screen = bytearray("\n".join(" ".join(line) for line in lines), "ascii")
    env.player = 2 * min(flat.find(mark) for mark in "PS" if mark in flat)
    env.floor = sum(1 << n for n, mark in enumerate(flat) if mark != "#")
    env.targets = sum(1 << n for n, mark in enumerate(flat) if mark in "O*S")
    env.missing = flat.count("X")
    env.plan = None
    return env


def board(env):
    return env.board().replace(" ", "").split()


@pytest.mark.parametrize(
    ("before", "move", "after"),
    [
        ("##### #P__# #___# #_XO# #####", "right", "##### #_P_# #___# #_XO# #####"),
        ("###### #PX__# #____# #__XO# #__O_# ######", "right", "###### #_PX_# #____# #__XO# #__O_# ######"),
        ("###### #_X__# #_P__# #_XO_# #_O__# ######", "down", "###### #_X__# #____# #_PO_# #_*__# ######"),
        ("###### #_O__# #_*__# #_P__# #X___# ######", "up", "###### #_*__# #_S__# #____# #X___# ######"),
        ("###### #_O__# #OS__# #XX__# #____# ######", "left", "###### #_O__# #SO__# #XX__# #____# ######"),
        ("###### #_X__# #_P__# #_XO_# #_O__# ######", "left", "###### #_X__# #P___# #_XO_# #_O__# ######"),
    ],
)
def test_moves(before, move, after):
    env = start(before)
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{move}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert "invalid_action" not in info
    assert board(env) == after.split()


@pytest.mark.parametrize(
    ("drawing", "move", "reason"),
    [
        ("##### #P__# #___# #_XO# #####", "left", "wall"),
        ("##### #_O_# #___# #_PX# #####", "right", "cannot move"),
        ("###### #PXX_# #____# #___O# #___O# ######", "right", "cannot move"),
        ("###### #PX*_# #____# #____# #___O# ######", "right", "cannot move"),
    ],
)
def test_invalid_moves(drawing, move, reason):
    env = start(drawing)
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{move}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert reason in info["invalid_action"]
    assert board(env) == drawing.split()


def test_the_last_push_wins_on_the_last_turn():
    env = start("##### #___# #PXO# #___# #####", max_turns=1)
    _, reward, terminated, truncated, info = env.step(r"\boxed{right}")
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert "*" in info["suffix"]


def test_the_share_of_boxes_on_targets_counts_at_the_limit():
    env = start("###### #____# #PXO_# #____# #_XO_# ######", max_turns=1)
    _, reward, terminated, truncated, info = env.step(r"\boxed{right}")
    assert (reward, terminated, truncated, info["success"]) == (0.5, False, True, False)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 200), st.lists(st.sampled_from(DIRECTIONS), max_size=60))
def test_the_room_keeps_its_parts(seed, moves):
    env = Sokoban((7, 6), max_turns=100, num_boxes=2)
    env.reset(seed=seed)
    for move in moves:
        if not env.playing:
            break
        env.step(f"\\boxed{{{move}}}")
        flat = "".join(board(env))
        assert sum(map(flat.count, "X*")) == 2
        assert sum(map(flat.count, "O*S")) == 2
        assert sum(map(flat.count, "PS")) == 1
        assert flat.count("X") == env.missing
        assert [n for n, mark in enumerate(flat) if mark != "#"] == cells_of(env.floor)
        assert [n for n, mark in enumerate(flat) if mark in "O*S"] == cells_of(env.targets)
        assert flat[env.player // 2] in "PS"


@pytest.mark.parametrize(("room", "boxes", "turns"), [((6, 6), 2, 20), ((8, 8), 4, 50), ((5, 7), 2, 30)])
def test_the_solver_wins(room, boxes, turns, assert_solved):
    assert_solved(Sokoban(room, turns, boxes), range(40))


def test_the_solver_finds_another_way_after_a_detour():
    recovered = 0
    env = Sokoban((6, 6), 1000, 2)
    for seed in range(30):
        env.reset(seed=seed)
        for _ in range(8):
            if env.playing:
                env.step(env.sample_random_action())
        try:
            while env.playing:
                info = env.step(env.solve())[4]
            assert info["success"]
            recovered += 1
        except NoSolution:
            assert env.playing
    assert recovered > 10


def test_the_solver_says_when_a_box_is_stuck():
    env = start("##### #X__# #_P_# #__O# #####")
    with pytest.raises(NoSolution, match="no way was found"):
        env.solve()


def test_invalid_moves_do_not_disturb_the_plan():
    env = Sokoban((6, 6), 100, 2)
    env.reset(seed=0)
    plan = env.plan
    for move in DIRECTIONS:
        cell = env.player + {"up": -12, "down": 12, "left": -2, "right": 2}[move]
        if env.screen[cell] == ord("#"):
            env.step(f"\\boxed{{{move}}}")
            assert env.plan == plan
            break
    else:
        pytest.fail("no wall beside the player; choose another seed")


def test_random_level():
    env = Sokoban(None, None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(20):
        env.reset()
        seen.add((env.dim_room, env.num_boxes, env.max_turns))
    assert seen == {((6, 6), 2, 20), ((8, 8), 4, 50)}


def test_dim_room_may_be_a_list():
    assert Sokoban([6, 7]).dim_room == (6, 7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim_room": (4, 6)}, r"dim_room\[0\] must be a whole number from 5 to 20, got 4"),
        ({"dim_room": 6}, "dim_room must be two whole numbers"),
        ({"dim_room": (6, 6, 6)}, "dim_room must be two whole numbers"),
        ({"dim_room": (6, 99)}, r"dim_room\[1\]"),
        ({"num_boxes": 0}, "num_boxes must be a whole number from 1 to 4"),
        ({"num_boxes": 5}, "num_boxes must be a whole number from 1 to 4"),
        ({"max_turns": 0}, "max_turns"),
    ],
)
def test_impossible_rooms(options, message):
    with pytest.raises(ValueError, match=message):
        Sokoban(**options)
