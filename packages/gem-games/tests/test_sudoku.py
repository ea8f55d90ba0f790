from random import Random

import pytest

from gem_games.sudoku import Sudoku, generate


def rows_columns_boxes(scale):
    side = {4: 2, 9: 3}[scale]
    for i in range(scale):
        yield [(i, j) for j in range(scale)]
        yield [(j, i) for j in range(scale)]
        yield [(i // side * side + j // side, i % side * side + j % side) for j in range(scale)]


def count_solutions(scale, cells, limit=2):
    """By plain backtracking, apart from the code under test."""
    board = {divmod(i, scale): n for i, n in enumerate(cells)}
    units = list(rows_columns_boxes(scale))
    peers = {cell: {c for unit in units if cell in unit for c in unit} - {cell} for cell in board}

    def search():
        empty = [c for c, n in board.items() if not n]
        if not empty:
            return 1
        options = {c: set(range(1, scale + 1)) - {board[p] for p in peers[c]} for c in empty}
        cell = min(empty, key=lambda c: len(options[c]))
        found = 0
        for number in options[cell]:
            board[cell] = number
            found += search()
            board[cell] = 0
            if found >= limit:
                break
        return found

    return search()


@pytest.mark.parametrize(
    ("scale", "clues", "boards"), [(4, 10, 50), (4, 6, 30), (4, 4, 5), (9, 50, 50), (9, 32, 10), (9, 26, 3)]
)
def test_puzzles_have_the_clues_and_exactly_one_solution(scale, clues, boards):
    for seed in range(boards):
        answer, cells = generate(scale, clues, Random(seed))
        for unit in rows_columns_boxes(scale):
            assert sorted(answer[r * scale + c] for r, c in unit) == list(range(1, scale + 1))
        assert sum(map(bool, cells)) == clues
        assert all(n in (0, a) for n, a in zip(cells, answer, strict=True))
        assert count_solutions(scale, cells) == 1


def test_grids_differ():
    assert len({generate(9, 50, Random(seed))[0] for seed in range(50)}) == 50


@pytest.mark.parametrize("scale", [4, 9])
def test_the_board_shows_the_cells_and_follows_the_moves(scale):
    env = Sudoku(clues={4: 10, 9: 50}[scale], scale=scale)
    _, info = env.reset(seed=3)
    while env.playing:
        shown = [line.replace("|", " ").split()[1:] for line in info["suffix"].split("\n")[1:-1] if "-" not in line]
        assert [n for row in shown for n in row] == [str(n or ".") for n in env.cells]
        info = env.step(env.solve())[4]


def test_moves_and_rewards():
    env = Sudoku(clues=10, scale=4, max_turns=15)
    env.reset(seed=0)
    cell = env.cells.index(0)
    row, column, right = cell // 4 + 1, cell % 4 + 1, env.answer[cell]
    for move, reason in [
        (f"{row} {column} {right % 4 + 1}", "does not belong"),
        ("0 1 1", "go from 1 to 4"),
        ("1 1 5", "go from 1 to 4"),
        ("-1 1 1", "go from 1 to 4"),
        ("1 " + "9" * 5000 + " 1", "go from 1 to 4"),
    ]:
        _, reward, terminated, truncated, info = env.step(f"\\boxed{{{move}}}")
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert reason in info["invalid_action"]
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{({row}, {column}, {right})}}")
    assert reward == pytest.approx(1 / 6)
    assert (terminated, truncated) == (False, False)
    assert "invalid_action" not in info
    assert "filled already" in env.step(f"\\boxed{{{row} {column} {right}}}")[4]["invalid_action"]


def test_the_limit_cuts_off():
    env = Sudoku(clues=10, scale=4, max_turns=1)
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(env.solve())
    assert (reward, terminated, truncated, info["success"]) == (pytest.approx(1 / 6), False, True, False)


@pytest.mark.parametrize("box", ["", "1 2", "1 2 3 4", "a b c", "1 2 x"])
def test_texts_without_a_move(box):
    assert Sudoku.read(box) is None


@pytest.mark.parametrize(("scale", "clues", "turns"), [(4, 10, 15), (9, 50, 50), (9, 30, 51)])
def test_the_solver_wins(assert_solved, scale, clues, turns):
    assert_solved(Sudoku(clues, turns, scale), range(20))


def test_random_level():
    env = Sudoku(None, None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(20):
        env.reset()
        seen.add((env.scale, env.clues, env.max_turns))
    assert seen == {(4, 10, 15), (9, 50, 50)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": 6}, "scale must be one of 4, 9, got 6"),
        ({"scale": 9, "clues": 81}, "clues must be a whole number from 24 to 80"),
        ({"scale": 4, "clues": 3}, "clues must be a whole number from 4 to 15"),
        ({"clues": -1}, "clues"),
        ({"max_turns": 0}, "max_turns"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        Sudoku(**options)
