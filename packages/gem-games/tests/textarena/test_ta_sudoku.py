import random

import pytest
from ta_games import copy_of
from textarena.envs.Sudoku import env as module

import gem
from gem_games.textarena.sudoku import remover


@pytest.fixture
def own():
    return copy_of(module)


@pytest.mark.parametrize(("clues", "seeds"), [(60, 3), (40, 3), (28, 2)])
def test_it_empties_the_cells_that_textarenas_own_empties(clues, seeds, own):
    game = own.SudokuEnv()
    for seed in range(seeds):
        own.random = rng = random.Random(seed)
        grid = game._generate_full_grid()
        state = rng.getstate()
        expected = game._remove_cells(grid, clues)
        rng.setstate(state)
        assert remover(rng)(game, grid, clues) == expected
        assert sum(number != 0 for line in expected for number in line) >= clues


def test_it_stands_for_textarenas_own():
    with gem.make("ta:Sudoku-v0-hard") as env:
        assert module.SudokuEnv._remove_cells.__module__ == "gem_games.textarena.sudoku"
        observation, _ = env.reset(seed=0)
        assert "Game Board" in observation
        assert observation == env.reset(seed=0)[0] != env.reset(seed=1)[0]
