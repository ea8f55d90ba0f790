import pytest
from hypothesis import given, strategies as st

from gem_games.tower_of_hanoi import LEVELS, TowerofHanoi


def start(**options):
    env = TowerofHanoi(**options)
    env.reset(seed=0)
    return env


def test_moves():
    env = start()
    assert env.board() == "A: 3 2 1\nB:\nC:"
    observation, reward, terminated, truncated, info = env.step(r"\boxed{A C}")
    assert "disk 1 from A to C" in observation
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["suffix"].startswith("A: 3 2\nB:\nC: 1\n")


@pytest.mark.parametrize(("move", "reason"), [("B A", "empty"), ("A C", "may not lie"), ("C C", "two towers")])
def test_invalid_moves(move, reason):
    env = start()
    env.step(r"\boxed{A C}")
    before = env.board()
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{move}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert reason in info["invalid_action"]
    assert env.board() == before


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("ABC")), max_size=40))
def test_no_disk_ever_lies_on_a_smaller_one(moves):
    env = start(num_disks=4, max_turns=100)
    for source, target in moves:
        if env.playing:
            env.step(f"\\boxed{{{source} {target}}}")
        assert sorted(disk for tower in env.towers for disk in tower) == [1, 2, 3, 4]
        assert all(list(tower) == sorted(tower, reverse=True) for tower in env.towers)


def test_the_share_on_c_counts_at_the_limit():
    env = start(max_turns=1)
    _, reward, terminated, truncated, info = env.step(r"\boxed{A C}")
    assert (reward, terminated, truncated, info["success"]) == (pytest.approx(1 / 3), False, True, False)


@pytest.mark.parametrize(
    "box", ["A C", "a,c", "AC", r"A \to C", "A -> C", r"\text{A C}", "A to C", "(A, C)", "from A to C"]
)
def test_spellings_of_a_move(box):
    assert TowerofHanoi.read(box) == (0, 2)


@pytest.mark.parametrize("box", ["", "A", "A B C", "1 3", "A D", "ABC"])
def test_texts_without_a_move(box):
    assert TowerofHanoi.read(box) is None


@pytest.mark.parametrize("disks", [1, 2, 3, 4, 5, 8])
def test_the_solver_takes_the_shortest_way(disks, assert_solved):
    env = TowerofHanoi(disks, 2**disks - 1)
    assert_solved(env, [0])


def test_the_solver_finds_the_way_from_anywhere():
    env = TowerofHanoi(3, 1000)
    for seed in range(50):
        env.reset(seed=seed)
        for _ in range(30):
            if env.playing:
                env.step(env.sample_random_action())
        turn = env.turn
        while env.playing:
            info = env.step(env.solve())[4]
        assert info["success"]
        assert env.turn - turn <= 7


def test_random_level():
    env = TowerofHanoi(None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(50):
        env.reset()
        seen.add((env.num_disks, env.max_turns))
    assert seen == {tuple(level.values()) for level in LEVELS}


@pytest.mark.parametrize("options", [{"num_disks": 0}, {"num_disks": 21}, {"num_disks": "3"}, {"max_turns": 0}])
def test_impossible_options(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        TowerofHanoi(**options)
