"""The optimum is worked out, not written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from toys import Guess

from gem import EnvSpec
from gem.registry import register, unregister
from gem_rl.optimum import best_turns, binary_search_turns


@cache
def best_total(count: int) -> int:
    """Guesses of the best strategy summed over all numbers, by trying every first guess."""
    if count == 0:
        return 0
    return count + min(best_total(first) + best_total(count - 1 - first) for first in range(count))


@pytest.mark.parametrize("count", range(1, 70))
def test_no_strategy_is_better_and_one_is_as_good(count: int) -> None:
    assert binary_search_turns(count) == pytest.approx(best_total(count) / count)


def test_eight_numbers_take_2_625_guesses() -> None:
    assert binary_search_turns(8) == 2.625


@pytest.fixture
def game_id() -> Iterator[str]:
    kwargs = {"min_number": 1, "max_number": 8, "max_turns": 8}
    register(EnvSpec(id="game:GuessTheNumber-v0-here", entry_point=Guess, kwargs=kwargs))
    yield "game:GuessTheNumber-v0-here"
    unregister("game:GuessTheNumber-v0-here")


def test_options_count(small: Callable[..., Any], game_id: str) -> None:
    assert best_turns(small(env=game_id)) == 2.625
    assert best_turns(small(env=game_id, env_options={"max_number": 3})) == pytest.approx(5 / 3)


def test_unknown_where_turns_run_out_or_the_game_is_another(small: Callable[..., Any], game_id: str) -> None:
    assert best_turns(small(env=game_id, env_options={"max_turns": 3})) is None
    assert best_turns(small(env=game_id, env_options={"max_number": None})) is None
    assert best_turns(small()) is None
