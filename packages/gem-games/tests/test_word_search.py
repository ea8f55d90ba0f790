import random

import pytest
from hypothesis import given, settings, strategies as st

from gem_games.word_search import WordSearch, generate


def lines_of(side, letters):
    """Every row and column, forwards and backwards."""
    rows = [letters[at : at + side] for at in range(0, side * side, side)]
    columns = ["".join(row[column] for row in rows) for column in range(side)]
    return rows + columns, [line[::-1] for line in rows + columns]


def box(move):
    return "\\boxed{" + " ".join(map(str, move)) + "}"


def occurrences(word, lines):
    return sum(line[at:].startswith(word) for line in lines for at in range(len(line)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 20), st.booleans())
def test_every_word_is_in_the_grid_exactly_once(seed, count, hardcore):
    side, letters, placed = generate(count, hardcore, random.Random(seed))
    assert len(letters) == side * side
    assert letters.isascii()
    assert letters.isalpha()
    assert letters.isupper()
    assert len({word for word, _, _ in placed}) == count
    forwards, backwards = lines_of(side, letters)
    for word, start, step in placed:
        assert letters[start : start + step * len(word) : step] == word
        assert step == side or start // side == (start + len(word) - 1) // side
        assert occurrences(word, forwards) == 1
        assert occurrences(word, backwards) == (word == word[::-1])


def test_hardcore_grids_are_larger_and_their_words_longer():
    easy = [generate(5, False, random.Random(seed)) for seed in range(20)]
    hard = [generate(5, True, random.Random(seed)) for seed in range(20)]
    assert max(len(word) for _, _, placed in easy for word, _, _ in placed) <= 7
    assert min(len(word) for _, _, placed in hard for word, _, _ in placed) >= 7
    assert sum(side for side, _, _ in easy) < sum(side for side, _, _ in hard)


def test_the_drawn_grid_shows_each_letter_at_its_place():
    env = WordSearch(True)
    env.reset(seed=3)
    head, *rows = env.board().split("\n")[: env.side + 1]
    assert head.split() == [str(column) for column in range(env.side)]
    for number, row in enumerate(rows):
        label, *letters = row.split()
        assert label == str(number)
        assert "".join(letters) == env.letters[number * env.side : (number + 1) * env.side]
        for column in range(env.side):
            assert row[5 + 3 * column] == letters[column]


def test_finding_words_either_way():
    env = WordSearch(False, 20, 2)
    _, info = env.reset(seed=0)
    (first, word), (back, same), *_ = env.places.items()
    assert word == same
    assert first == back[2:] + back[:2]
    assert word in info["suffix"].split("To find:")[1]
    observation, reward, terminated, truncated, info = env.step(box(back))
    assert f"you found {word}" in observation
    assert (reward, terminated, truncated) == (0.5, False, False)
    grid, left = info["suffix"].split("To find:")
    assert grid.count("[") == grid.count("]") == len(word)
    assert word not in left
    _, reward, _, _, info = env.step(box(first))
    assert (reward, info["invalid_action"]) == (0.0, f"{word} was found before")
    _, reward, terminated, truncated, info = env.step(env.solve())
    assert (reward, terminated, truncated, info["success"]) == (0.5, True, False, True)


def test_marks_stand_around_the_word():
    env = WordSearch()
    env.reset(seed=1)
    for move, word in list(env.places.items()):
        env.found.discard(word)
        env._mark(move)
        row, column, last_row, last_column = move
        lines = env.board().split("\n")
        for r in range(min(row, last_row), max(row, last_row) + 1):
            for c in range(min(column, last_column), max(column, last_column) + 1):
                assert lines[r + 1][4 + 3 * c : 7 + 3 * c] == f"[{env.letters[r * env.side + c]}]"


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("0 0 0 99", "rows and columns go from 0 to"),
        ("-1 0 3 0", "rows and columns go from 0 to"),
        ("0 0 1 1", "across or down"),
        ("0 0 0 " + "9" * 5000, "rows and columns go from 0 to"),
    ],
)
def test_invalid_guesses(move, reason):
    env = WordSearch()
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{move}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert reason in info["invalid_action"]


def test_a_wrong_guess_is_no_invalid_move_but_its_repetition_is():
    env = WordSearch()
    env.reset(seed=0)
    observation, reward, _, _, info = env.step(r"\boxed{0 0 0 0}")
    assert (reward, "invalid_action" in info) == (0.0, False)
    assert "none of the words runs from 0 0 to 0 0" in observation
    assert env.step(r"\boxed{0 0 0 0}")[4]["invalid_action"] == "this was guessed before"


def test_a_win_on_the_last_turn():
    env = WordSearch(False, 2, 1)
    env.reset(seed=0)
    env.step(r"\boxed{0 0 0 0}")
    _, reward, terminated, truncated, info = env.step(env.solve())
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3 4",
        "1, 2, 3, 4",
        "[1 2 3 4]",
        "(1, 2), (3, 4)",
        r"\text{1 2 3 4}",
        "$1\\ 2\\ 3\\ 4$",
        "1 2 3 4.",
        "١ ٢ ٣ ٤",
    ],
)
def test_spellings_of_a_guess(text):
    assert WordSearch.read(text) == (1, 2, 3, 4)


@pytest.mark.parametrize("text", ["", "1 2 3", "1 2 3 4 5", "a b c d", "1.5 2 3 4", "² 1 1 1", "crane"])
def test_texts_without_a_guess(text):
    assert WordSearch.read(text) is None


@pytest.mark.parametrize("hardcore", [False, True])
def test_the_solver_finds_all_words(assert_solved, hardcore):
    assert_solved(WordSearch(hardcore), range(30))
    assert_solved(WordSearch(hardcore, 20, 20), range(3))


def test_random_level():
    env = WordSearch(None, None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(20):
        env.reset()
        seen.add((env.hardcore, env.max_turns, env.num_words))
    assert seen == {(False, 20, 5), (True, 20, 5)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_words": 0}, "num_words must be a whole number from 1 to 20, got 0"),
        ({"num_words": 21}, "num_words"),
        ({"max_turns": -1}, "max_turns"),
        ({"hardcore": "yes"}, "hardcore"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        WordSearch(**options)
