from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from gem_games.mastermind import LEVELS, Mastermind, pegs


def start(code, **options):
    env = Mastermind(len(code), **options)
    env.reset(seed=0)
    env.code = code
    env.numbers = frozenset(code)
    return env


codes = st.integers(1, 6).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(1, 4), min_size=n, max_size=n).map(tuple)] * 2)
)


@given(codes)
def test_pegs_agree_with_the_definition(pair):
    guess, code = pair
    black = len([1 for i in range(len(code)) if guess[i] == code[i]])
    common = sum((Counter(guess) & Counter(code)).values())
    assert pegs(guess, code) == (black, common - black)


@given(codes)
def test_play_gives_the_same_pegs(pair):
    guess, code = pair
    if guess == code:
        return
    env = start(code, num_numbers=4, duplicate_numbers=True)
    black, white = pegs(guess, code)
    assert f"{black} black and {white} white" in env.step(f"\\boxed{{{' '.join(map(str, guess))}}}")[0]


@pytest.mark.parametrize("guess", [*list(permutations(range(1, 7), 3))[::7], (1, 1, 2), (4, 4, 4)])
def test_codes_without_duplicates_give_the_same_pegs(guess):
    env = start((4, 2, 6))
    black, white = pegs(guess, (4, 2, 6))
    if black < 3:
        assert f"{black} black and {white} white" in env.step(f"\\boxed{{{' '.join(map(str, guess))}}}")[0]


def test_reward_is_for_new_black_pegs():
    env = start((1, 2, 3, 4))
    assert env.step(r"\boxed{1 2 5 6}")[1] == 0.5
    assert env.step(r"\boxed{1 5 6 2}")[1] == 0.0
    assert env.step(r"\boxed{1 2 3 5}")[1] == 0.25
    _, reward, terminated, truncated, info = env.step(r"\boxed{1, 2, 3, 4}")
    assert (reward, terminated, truncated, info["success"]) == (0.25, True, False, True)


def test_partial_reward_is_kept_at_the_limit_without_success():
    env = start((1, 2, 3, 4), max_turns=1)
    _, reward, terminated, truncated, info = env.step(r"\boxed{1 2 4 3}")
    assert (reward, terminated, truncated, info["success"]) == (0.5, False, True, False)


@pytest.mark.parametrize(
    "guess", ["1 2 3", "1 2 3 4 5", "0 1 2 3", "1 2 3 7", "-1 2 3 4", "1 2 3 " + "9" * 5000, "4 3 2 1"]
)
def test_invalid_guesses(guess):
    env = start((1, 2, 3, 4))
    env.step(r"\boxed{4 3 2 1}")
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{guess}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["invalid_action"]


@pytest.mark.parametrize(
    "box", ["1 2 3 4", " 1,2, 3 ,4 ", "[1, 2, 3, 4]", r"$1\ 2\ 3\ 4$", r"\text{1 2 3 4}.", "(1;2;3;4)"]
)
def test_spellings_of_a_guess(box):
    assert Mastermind.read(box) == ((1, 2, 3, 4), "1 2 3 4")


@pytest.mark.parametrize("box", ["", "red blue", "1 2 x 4", "1.5 2"])
def test_texts_without_a_guess(box):
    assert Mastermind.read(box) is None


@pytest.mark.parametrize(
    "options", [(2, 6, False, 10), (4, 6, False, 20), (4, 8, False, 30), (3, 4, True, 12), (6, 2, True, 20)]
)
def test_the_solver_wins(assert_solved, options):
    assert_solved(Mastermind(*options), range(60))


@pytest.mark.parametrize("duplicates", [False, True])
def test_codes_follow_the_options(duplicates):
    env = Mastermind(3, 4, duplicates, 5)
    env.reset(seed=0)
    seen = set()
    for _ in range(2000):
        env.reset()
        assert set(env.code) <= {1, 2, 3, 4}
        seen.add(env.code)
    assert len(seen) == (64 if duplicates else 24)


def test_random_level(play):
    env = Mastermind(None, None, max_turns=None)
    env.reset(seed=0)
    seen = set()
    for _ in range(100):
        prompt, _ = env.reset()
        seen.add((env.code_length, env.num_numbers, env.max_turns, env.duplicate_numbers))
        assert f"{env.max_turns} guesses" in prompt
        play(env, env.sample_random_action)
    assert seen == {tuple(level.values()) for level in LEVELS}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"code_length": 5, "num_numbers": 4}, "num_numbers must be a whole number from 5 to"),
        ({"code_length": 0}, "code_length must be a whole number from 1"),
        ({"code_length": None, "num_numbers": 1}, "num_numbers"),
        ({"duplicate_numbers": 1}, "duplicate_numbers must be one of True, False, got 1"),
        ({"max_turns": "9"}, "max_turns"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        Mastermind(**options)
