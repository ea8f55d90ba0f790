import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import gem_games
from gem_games.crosswords import SHORTEST, Crosswords, clues, generate


def runs(cells):
    """Words that can be read in a grid: two letters in line or more, with first cell and direction."""
    found = {}
    for down in (False, True):
        step = (1, 0) if down else (0, 1)
        for row, column in cells:
            if (row - step[0], column - step[1]) in cells:
                continue
            word, at = "", (row, column)
            while at in cells:
                word += cells[at]
                at = (at[0] + step[0], at[1] + step[1])
            if len(word) > 1:
                found[row, column, down] = word
    return found


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 12), st.booleans(), st.integers(1, 120))
def test_grids_hold_crossing_words_and_nothing_else(seed, count, hardcore, turns):
    entries = generate(count, hardcore, turns, random.Random(seed))
    assert len({entry.word for entry in entries}) == count
    cells = {}
    for entry in entries:
        assert clues(hardcore)[entry.word] == entry.clue
        for cell, letter in zip(entry.cells(), entry.word, strict=True):
            assert cells.setdefault(cell, letter) == letter
    assert runs(cells) == {(entry.row, entry.column, entry.down): entry.word for entry in entries}
    assert (min(row for row, _ in cells), min(column for _, column in cells)) == (0, 0)
    # All in one piece: each further word shares a cell with the words before.
    assert len(cells) <= sum(len(entry.word) for entry in entries) - (count - 1)
    assert len(cells) <= turns or max(len(entry.word) for entry in entries) <= SHORTEST


def start(**options):
    env = Crosswords(**options)
    return env, env.reset(seed=0)[1]["suffix"]


def test_the_drawn_grid_and_the_clues():
    env, suffix = start(num_words=4)
    head, *lines = suffix.split("\n")
    assert head.split() == [str(column) for column in range(env.columns)]
    for row in range(env.rows):
        label, *marks = lines[row].split()
        assert label == str(row)
        assert [mark == "_" for mark in marks] == [(row, column) in env.answer for column in range(env.columns)]
    listed = lines[env.rows : -1]
    assert len(listed) == 4
    for line in listed:
        place, clue = line.split(": ", 1)
        way, _, _, row, _, column, length, _ = place.replace(",", "").split()
        word = "".join(
            env.answer[int(row) + i * (way == "down"), int(column) + i * (way == "across")] for i in range(int(length))
        )
        assert clues(False)[word] == clue


def test_right_wrong_and_filled_cells():
    env, _ = start()
    (row, column), letter = next(iter(env.answer.items()))
    wrong = "a" if letter != "a" else "b"
    observation, reward, _, _, info = env.step(f"\\boxed{{{row} {column} {wrong}}}")
    assert (reward, "invalid_action" in info) == (0.0, False)
    assert f"{wrong.upper()} is wrong" in observation
    _, reward, terminated, _, info = env.step(f"\\boxed{{{row} {column} {letter}}}")
    assert (reward, terminated) == (pytest.approx(1 / len(env.answer)), False)
    assert info["suffix"].split("\n")[row + 1].split()[column + 1] == letter.upper()
    for again in (letter, wrong):
        _, reward, _, _, info = env.step(f"\\boxed{{{row} {column} {again}}}")
        assert (reward, info["invalid_action"]) == (0.0, f"row {row}, column {column} is filled already")


def test_every_letter_is_drawn_at_its_place():
    env, _ = start(num_words=12)
    filled = {}
    while env.playing:
        row, column, letter = env.read(env.solution())
        _, _, _, _, info = env.step(env.solve())
        filled[row, column] = letter.upper()
        lines = info["suffix"].split("\n")
        for (r, c), expected in filled.items():
            assert lines[r + 1].split()[c + 1] == expected


@pytest.mark.parametrize("move", ["-1 0 a", "0 -1 a", "99 0 a", "0 99 z", "9" * 5000 + " 0 a"])
def test_places_outside_are_invalid(move):
    env, _ = start()
    _, reward, terminated, _, info = env.step(f"\\boxed{{{move}}}")
    assert (reward, terminated) == (0.0, False)
    assert "rows go from 0 to" in info["invalid_action"]


def test_places_between_words_are_invalid():
    env, _ = start()
    row, column = next((r, c) for r in range(env.rows) for c in range(env.columns) if (r, c) not in env.answer)
    _, reward, _, _, info = env.step(f"\\boxed{{{row} {column} a}}")
    assert (reward, info["invalid_action"]) == (0.0, f"row {row}, column {column} is no cell of a word")


@pytest.mark.parametrize(
    "box", ["0 1 e", "0, 1, E", "[0 1 E]", "(0, 1) 'e'", r"\text{0 1 E}", "$0\\;1\\;E$", " 0  1  e. ", "٠ ١ e"]
)
def test_spellings_of_a_move(box):
    assert Crosswords.read(box) == (0, 1, "e")


@pytest.mark.parametrize("box", ["", "0 1", "0 1 2", "0 1 ee", "e 0 1", "0 1 é", "0 1 e 2", "² 1 e", "0 1 ß"])
def test_texts_without_a_move(box):
    assert Crosswords.read(box) is None


@pytest.mark.parametrize(
    ("hardcore", "turns", "count"), [(False, 30, 3), (True, 40, 3), (False, 20, 3), (True, 20, 3), (False, 100, 5)]
)
def test_the_solver_fills_the_grid_within_the_turns(assert_solved, hardcore, turns, count):
    assert_solved(Crosswords(hardcore, turns, count), range(40))


def test_random_level():
    env = Crosswords(None, None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(20):
        env.reset()
        seen.add((env.hardcore, env.max_turns, env.num_words))
    assert seen == {(False, 20, 3), (True, 20, 3)}


@pytest.mark.parametrize("hardcore", [False, True])
def test_the_clues(hardcore):
    found = clues(hardcore)
    assert len(found) >= 150
    assert not set(found) & set(clues(not hardcore))
    for word, clue in found.items():
        assert word.isascii()
        assert word.isalpha()
        assert word.islower()
        assert 3 <= len(word) <= 10
        assert word not in clue.lower().replace(",", " ").split()
    assert len(set(found.values())) == len(found)


def test_the_clues_name_their_source_and_are_read_when_asked_for():
    for name in ("clues", "clues_hardcore"):
        first = Path(gem_games.__path__[0], "data", f"{name}.txt").read_text("ascii").split("\n")[0]
        assert "Written for GEM; licence: Apache-2.0" in first
    code = "import gem_games.crosswords as c; c.Crosswords(); assert not c.clues.cache_info().currsize; print('ok')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "ok\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_words": 0}, "num_words must be a whole number from 1 to 12, got 0"),
        ({"num_words": 13}, "num_words"),
        ({"max_turns": 0}, "max_turns"),
        ({"hardcore": 1}, "hardcore"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        Crosswords(**options)
