from collections import Counter

import pytest
from hypothesis import given, strategies as st

from gem_games.wordle import Wordle, mark
from gem_games.words import words


def start(word, **options):
    env = Wordle(len(word), **options)
    env.reset(seed=0)
    env.word = word
    return env


def reference(guess, word):
    """Marks by the definition: letter by letter, the greens first, then yellows from the left."""
    left = Counter(word)
    marks = {}
    for i, letter in enumerate(guess):
        if word[i] == letter:
            marks[i] = "G"
            left[letter] -= 1
    for i, letter in enumerate(guess):
        if i not in marks:
            marks[i] = "Y" if left[letter] > 0 else "X"
            left[letter] -= left[letter] > 0
    return "".join(marks[i] for i in range(len(guess)))


@given(st.integers(3, 7).flatmap(lambda n: st.tuples(*[st.text("abcd", min_size=n, max_size=n)] * 2)))
def test_marks_agree_with_the_definition(pair):
    assert mark(*pair) == reference(*pair)


@pytest.mark.parametrize(
    ("guess", "word", "marks"),
    [
        ("crane", "crate", "GGGXG"),
        ("speed", "abide", "XXYXY"),
        ("speed", "erase", "YXYYX"),
        ("allee", "apple", "GYXXG"),
        ("geese", "crane", "XXXXG"),
    ],
)
def test_known_marks(guess, word, marks):
    assert mark(guess, word) == marks


def test_reward_half_for_greens_half_for_the_word():
    env = start("crate")
    observation, reward, *_ = env.step(r"\boxed{crane}")
    assert "CRANE is marked GGGXG" in observation
    assert reward == pytest.approx(0.4)
    assert env.step(r"\boxed{trace}")[1] == 0.0
    assert env.step(r"\boxed{irate}")[1] == pytest.approx(0.1)
    _, reward, terminated, truncated, info = env.step(r"\boxed{CRATE}")
    assert (terminated, truncated, info["success"]) == (True, False, True)
    assert reward == pytest.approx(0.5)


def test_a_first_guess_that_wins_gets_it_all():
    assert start("crate").step(r"\boxed{crate}")[1] == 1.0


@pytest.mark.parametrize("guess", ["cat", "cranes", "crane", "zzzzz"])
def test_invalid_guesses(guess):
    env = start("crate")
    env.step(r"\boxed{crane}")
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{guess}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["invalid_action"]


def test_any_letters_where_words_need_not_be_real():
    env = start("crate", only_real_words=False)
    assert "ZZZZE is marked XXXXG" in env.step(r"\boxed{zzzze}")[0]


def test_words_beyond_the_common_ones_may_be_guessed():
    env = start("crate")
    assert "grate" not in words(5)
    assert "invalid_action" not in env.step(r"\boxed{grate}")[4]


@pytest.mark.parametrize("box", ["crane", " CRANE. ", r"\text{Crane}", "'crane'", "c r a n e", "$crane$"])
def test_spellings_of_a_guess(box):
    assert Wordle.read(box) == "crane"


@pytest.mark.parametrize("box", ["", "cr4ne", "crâne", "12345"])
def test_texts_without_a_guess(box):
    assert Wordle.read(box) is None


@pytest.mark.parametrize(("length", "step"), [(3, 1), (4, 15), (5, 25), (7, 80)])
def test_the_solver_finds_every_word_within_the_turns(play, length, step):
    env = Wordle(length, max_turns=5 * length)
    for word in words(length)[::step]:
        env.reset()
        env.word = word
        total, terminated, _, info = play(env)
        assert (total, terminated, info["success"]) == (1.0, True, True), word


def test_the_solver_wins_from_seeds(assert_solved):
    assert_solved(Wordle(5, max_turns=25), range(20))


def test_random_level():
    env = Wordle(None, max_turns=None)
    env.reset(seed=0)
    seen = set()
    for _ in range(60):
        prompt, _ = env.reset()
        assert len(env.word) == env.word_length
        assert f"{env.max_turns} guesses" in prompt
        seen.add((env.word_length, env.max_turns))
    assert seen == {(3, 15), (4, 20), (5, 25)}


def test_secrets_are_common_words():
    env = Wordle(3)
    env.reset(seed=0)
    seen = set()
    for _ in range(3000):
        env.reset()
        seen.add(env.word)
    assert seen == set(words(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"word_length": 2}, "word_length must be a whole number from 3 to 7, got 2"),
        ({"word_length": 8}, "word_length"),
        ({"word_length": None, "max_turns": 0}, "max_turns"),
        ({"only_real_words": "yes"}, "only_real_words"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        Wordle(**options)
