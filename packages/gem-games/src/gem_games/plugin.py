"""The ids of this package: one entry a game. Imports nothing but ``gem``; a class is imported when first made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gem import EnvSpec, hookimpl


def game(module: str, name: str, description: str, options: str, **levels: tuple[Any, ...]) -> Iterator[EnvSpec]:
    """The ids of the game ``gem_games.<module>:<name>``.

    Args:
        options: names of the constructor options that a level sets, separated by blanks.
        **levels: level -> a value for each; ``None`` is drawn at each reset.
    """
    for level, values in levels.items():
        kwargs = dict(zip(options.split(), values, strict=True))
        yield EnvSpec(
            id=f"game:{name}-v0-{level.replace('_', '-')}",
            entry_point=f"gem_games.{module}:{name}",
            kwargs=kwargs,
            description=description,
            max_turns=kwargs.get("max_turns"),
            reward_range=(-0.1, 1.0),
            tags=("game", level),
        )


@hookimpl
def gem_env_specs() -> Iterator[EnvSpec]:
    # fmt: off
    yield from game("guess_the_number", "GuessTheNumber", "find a hidden number from higher and lower",
                    "min_number max_number max_turns", easy=(1, 10, 4), hard=(1, 50, 7), random=(None,) * 3)
    yield from game("mastermind", "Mastermind", "find a code of numbers from black and white pegs",
                    "code_length num_numbers max_turns duplicate_numbers",
                    easy=(2, 6, 10, False), hard=(4, 8, 30, False), random=(None, None, None, False))
    yield from game("wordle", "Wordle", "find a word from marks on the letters of your guesses",
                    "word_length max_turns only_real_words",
                    easy=(3, 15, True), hard=(5, 25, True), random=(None, None, True))
    yield from game("sudoku", "Sudoku", "fill a grid so that rows, columns and boxes hold each number once",
                    "scale clues max_turns", easy=(4, 10, 15), hard=(9, 50, 50), random=(None,) * 3)
    yield from game("minesweeper", "Minesweeper", "reveal every cell without a mine",
                    "rows cols num_mines max_turns", easy=(5, 5, 5, 25), hard=(8, 8, 12, 64), random=(None,) * 4)
    yield from game("fifteen_puzzle", "FifteenPuzzle", "slide numbered tiles into order",
                    "num_rows max_turns", easy=(2, 10), hard=(4, 50), random=(None, None))
    yield from game("tower_of_hanoi", "TowerofHanoi", "move a tower disk by disk, never a larger onto a smaller",
                    "num_disks max_turns", easy=(3, 10), hard=(5, 35), random=(None, None))
    yield from game("game_2048", "Game2048", "slide and merge equal tiles up to a target",
                    "target_tile max_turns",
                    easy=(64, 50), hard=(512, 50), extreme_hard=(2048, 100), random=(None, None))
    yield from game("sokoban", "Sokoban", "push every box onto a target",
                    "dim_room num_boxes max_turns", easy=([6, 6], 2, 20), hard=([8, 8], 4, 50), random=(None,) * 3)
    yield from game("hangman", "Hangman", "find a hidden word letter by letter",
                    "word_length hardcore max_turns",
                    easy=(3, False, 10), hard=(7, False, 20), random=(None, False, None))
    yield from game("crosswords", "Crosswords", "fill crossing words letter by letter, from clues",
                    "hardcore max_turns num_words", easy=(False, 30, 3), hard=(True, 40, 3), random=(None,) * 3)
    yield from game("word_search", "WordSearch", "find the words hidden in a grid of letters",
                    "num_words max_turns hardcore", easy=(5, 20, False), hard=(5, 20, True), random=(None,) * 3)
    yield from game("wiki_game", "WikiGame", "come to a page of an encyclopedia by following links",
                    "max_turns", easy=(30,), hard=(15,))
    # fmt: on
