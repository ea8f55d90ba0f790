from itertools import combinations

import pytest
from hypothesis import given, settings, strategies as st

from gem_games.minesweeper import LEVELS, Minesweeper


def around(rows, cols, row, col):
    return {
        (r, c)
        for r in range(row - 1, row + 2)
        for c in range(col - 1, col + 2)
        if 0 <= r < rows and 0 <= c < cols and (r, c) != (row, col)
    }


def start(layout, **options):
    """An environment whose mines lie at the stars of a layout."""
    lines = layout.split()
    env = Minesweeper(len(lines), len(lines[0]), layout.count("*"), max_turns=100, **options)
    env.reset(seed=0)
    width = env.field.width
    env.mines = sum(1 << r * width + c for r, line in enumerate(lines) for c, x in enumerate(line) if x == "*")
    env.zeros = env.field.all & ~env.field.grow(env.mines)
    return env


def cells_of(env, bits):
    return {(c // env.field.width, c % env.field.width) for c in env.field.cells if bits >> c & 1}


def shown(info):
    return [
        line.split()[1:] for line in info["suffix"].split("\n")[1:] if line[:1].isdigit() or line[:2].strip().isdigit()
    ]


def flood(rows, cols, mines, closed, start):
    """What a reveal opens, by the rule, cell by cell; ``closed``: flagged or revealed before."""
    opened, todo = {start}, [start]
    while todo:
        cell = todo.pop()
        if not around(rows, cols, *cell) & mines:
            new = around(rows, cols, *cell) - opened - closed
            opened |= new
            todo += new
    return opened


@settings(max_examples=150, deadline=None)
@given(
    rows=st.integers(2, 9),
    cols=st.integers(2, 12),
    density=st.floats(0.02, 0.4),
    seed=st.integers(0, 1000),
    moves=st.lists(st.tuples(st.booleans(), st.integers(0, 8), st.integers(0, 11)), max_size=15),
)
def test_reveals_counts_and_rewards_agree_with_the_rules(rows, cols, density, seed, moves):
    mines = max(1, min(rows * cols - 1, int(density * rows * cols)))
    env = Minesweeper(rows, cols, mines, max_turns=1000)
    _, info = env.reset(seed=seed)
    opened, flags, total = set(), set(), 0.0
    for reveal, row, col in moves:
        row, col = row % rows, col % cols
        _, reward, terminated, _, info = env.step(f"\\boxed{{{'reveal' if reveal else 'flag'} {row} {col}}}")
        total += reward
        laid = cells_of(env, env.mines)
        assert len(laid) in (0, mines)
        if (row, col) in opened or (reveal and (row, col) in flags):
            assert info["invalid_action"]
            assert reward == 0
        elif not reveal:
            flags ^= {(row, col)}
            assert reward == 0
        elif (row, col) in laid:
            assert terminated
            assert opened, "the first reveal hit a mine"
            assert info["success"] is False
            break
        else:
            new = flood(rows, cols, laid, flags | opened, (row, col))
            opened |= new
            if len(opened) == rows * cols - mines:
                assert terminated
                assert info["success"] is True
                assert total == pytest.approx(1.0)
                break
            assert reward == pytest.approx(len(new) / (rows * cols - mines))
        board = shown(info)
        for r in range(rows):
            for c in range(cols):
                count = str(len(around(rows, cols, r, c) & laid))
                assert board[r][c] == (count if (r, c) in opened else "F" if (r, c) in flags else ".")


@pytest.mark.parametrize(
    ("rows", "cols", "mines"), [(5, 5, 5), (8, 8, 12), (3, 3, 8), (2, 2, 3), (4, 4, 15), (3, 3, 1)]
)
def test_the_first_reveal_is_safe_and_its_neighbours_are_where_there_is_room(rows, cols, mines):
    env = Minesweeper(rows, cols, mines)
    env.reset(seed=0)
    for _ in range(50):
        for row, col in [(0, 0), (rows - 1, cols // 2), (rows // 2, cols // 2)]:
            env.reset()
            _, _, terminated, _, info = env.step(f"\\boxed{{reveal {row} {col}}}")
            laid = cells_of(env, env.mines)
            assert len(laid) == mines
            assert (row, col) not in laid
            assert not terminated or info["success"]
            near = around(rows, cols, row, col)
            free = rows * cols - 1 - len(near)
            assert len(laid & near) == max(0, mines - free)


def test_every_cell_is_mined_alike():
    env = Minesweeper(6, 6, 9)
    env.reset(seed=0)
    counts = dict.fromkeys(((r, c) for r in range(2, 6) for c in range(2, 6)), 0)
    for _ in range(2000):
        env.reset()
        env.step(r"\boxed{reveal 0 0}")
        for cell in cells_of(env, env.mines) & set(counts):
            counts[cell] += 1
    assert all(450 < n < 680 for n in counts.values())  # 2000 * 9 / 32


def test_a_mine_ends_the_game_at_zero():
    env = start("*.. ... ...")
    _, reward, terminated, truncated, info = env.step(r"\boxed{reveal 0 0}")
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)
    assert "*" in info["suffix"]


@pytest.mark.parametrize(
    "move", ["reveal 3 0", "reveal 0 -1", "flag 9 9", "dig 0 0", "reveal 2 2", "flag 2 2", "reveal 0 1"]
)
def test_invalid_moves(move):
    env = start("*.. *.. **.")
    env.step(r"\boxed{reveal 2 2}")
    env.step(r"\boxed{flag 0 1}")
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{move}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["invalid_action"]


@pytest.mark.parametrize(
    "box", ["reveal 1 2", " Reveal (1, 2). ", r"\text{reveal 1 2}", r"\text{reveal}\ 1\ 2", "reveal: 1 2"]
)
def test_spellings_of_a_move(box):
    word, row, col = Minesweeper.read(box)
    assert (word.strip(":"), row, col) == ("reveal", 1, 2)


@pytest.mark.parametrize("box", ["", "reveal", "reveal 1", "1 2", "reveal 1 2 3", "1 2 3", "reveal a b"])
def test_texts_without_a_move(box):
    assert Minesweeper.read(box) is None


def test_the_likelihoods_are_exact():
    """Against counting every layout of a small board."""
    for seed in range(25):
        env = Minesweeper(4, 4, 4, max_turns=100)
        env.reset(seed=seed)
        env.step(r"\boxed{reveal 0 0}")
        while env.playing:
            cell, chance = env.safest()
            width = env.field.width
            revealed = cells_of(env, env.revealed)
            hidden = [c for c in cells_of(env, env.field.all) if c not in revealed]
            mines = cells_of(env, env.mines)
            layouts = [
                set(layout)
                for layout in combinations(hidden, 4)
                if all(len(around(4, 4, *c) & set(layout)) == len(around(4, 4, *c) & mines) for c in revealed)
            ]
            odds = {c: sum(c in layout for layout in layouts) / len(layouts) for c in hidden}
            assert odds[cell // width, cell % width] == pytest.approx(chance)
            assert chance == pytest.approx(min(odds.values()))
            env.step(env.solve())


@pytest.mark.parametrize(("level", "least"), [(0, 0.6), (3, 0.6)])
def test_the_solver_wins_where_no_guess_is_needed(level, least):
    env = Minesweeper(**LEVELS[level])
    sure = won = 0
    for seed in range(60):
        env.reset(seed=seed)
        total, guessed, ended = 0.0, False, False
        while not ended:
            chance = env.safest()[1]
            guessed = guessed or chance > 0
            _, reward, terminated, truncated, info = env.step(env.solve())
            total += reward
            ended = terminated or truncated
            assert chance > 0 or not terminated or info["success"]
        sure += not guessed
        won += info["success"]
        if not guessed:
            assert (total, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert sure > 20
    assert won > 60 * least


def test_the_solver_removes_a_flag_before_it_reveals():
    env = start("*.... ..... ..... ..... .....")
    env.step(r"\boxed{flag 4 4}")
    env.step(r"\boxed{reveal 2 2}")
    while env.playing:
        info = env.step(env.solve())[4]
        assert "invalid_action" not in info
    assert info["success"]


def test_random_level():
    env = Minesweeper(None, None, None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(60):
        env.reset()
        seen.add((env.rows, env.cols, env.num_mines, env.max_turns))
    assert seen == {(n, n, n * n // 5, n * n) for n in (5, 6, 7, 8)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 3, "cols": 3, "num_mines": 9}, "num_mines must be a whole number from 1 to 8, got 9"),
        ({"num_mines": 0}, "num_mines"),
        ({"num_mines": 10**9}, "num_mines"),
        ({"rows": 1}, "rows must be a whole number from 2 to 100"),
        ({"cols": 10**6}, "cols"),
        ({"rows": None, "max_turns": -1}, "max_turns"),
    ],
)
def test_impossible_boards(options, message):
    with pytest.raises(ValueError, match=message):
        Minesweeper(**options)


def test_the_solver_copes_with_a_large_board():
    env = Minesweeper(16, 30, 99, max_turns=1000)
    for seed in range(2):
        env.reset(seed=seed)
        while env.playing:
            info = env.step(env.solve())[4]
            assert "invalid_action" not in info
