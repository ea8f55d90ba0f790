import pytest

from gem_games.guess_the_number import GuessTheNumber


def start(target, **options):
    env = GuessTheNumber(**options)
    env.reset(seed=0)
    env.target = target
    return env


def test_higher_lower_and_win():
    env = start(5, min_number=1, max_number=10, max_turns=4)
    observation, reward, terminated, truncated, info = env.step(r"\boxed{3}")
    assert "higher than 3" in observation
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info == {"suffix": "Your guess:"}
    assert "lower than 9" in env.step(r"\boxed{9}")[0]
    _, reward, terminated, truncated, info = env.step(r"maybe \boxed{3}, no: \boxed{5}")
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)


def test_a_win_on_the_last_turn_is_a_win():
    env = start(5, max_turns=1)
    _, reward, terminated, truncated, info = env.step(r"\boxed{5}")
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)


@pytest.mark.parametrize(("last", "credit"), [(5, 1 - 2 / 9), (1, 1 - 6 / 9), (10, 1 - 3 / 9), (11, 0.0), (-7, 0.0)])
def test_at_the_turn_limit_the_distance_counts_and_is_no_success(last, credit):
    env = start(7, min_number=1, max_number=10, max_turns=2)
    env.step(r"\boxed{1}")
    _, reward, terminated, truncated, info = env.step(rf"\boxed{{{last}}}")
    assert reward == pytest.approx(credit)
    assert (terminated, truncated, info["success"]) == (False, True, False)


@pytest.mark.parametrize("move", ["0", "11", "-7", "3", "9" * 5000, "-" + "9" * 5000])
def test_out_of_range_and_repeated_guesses_are_invalid_moves(move):
    env = start(5, min_number=1, max_number=10)
    env.step(r"\boxed{3}")
    _, reward, terminated, truncated, info = env.step(rf"\boxed{{{move}}}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert "guessed before" in info["invalid_action"] or "outside 1 to 10" in info["invalid_action"]


def test_zero_and_negative_numbers_are_numbers():
    env = start(0, min_number=-5, max_number=10)
    assert "higher than -3" in env.step(r"\boxed{-3}")[0]
    assert env.step(r"\boxed{0}")[1] == 1.0


@pytest.mark.parametrize("box", [" 7 ", "$7$", r"\text{7}", "7.", "+7", "007", "７", r"\,7\,", "(7)"])
def test_decorated_numbers_are_read(box):
    assert GuessTheNumber.read(box) == 7


@pytest.mark.parametrize("box", ["", "seven", "7 8", "7.5", "²", "1e3", "--7"])
def test_other_texts_are_not(box):
    assert GuessTheNumber.read(box) is None


@pytest.mark.parametrize(("low", "high", "turns"), [(1, 10, 4), (1, 50, 7), (1, 8, 8), (-20, 20, 6)])
def test_bisection_always_wins(low, high, turns):
    env = GuessTheNumber(low, high, turns)
    for target in range(low, high + 1):
        env.reset()
        env.target = target
        total, ended = 0.0, False
        while not ended:
            _, reward, terminated, truncated, _ = env.step(env.solve())
            total += reward
            ended = terminated or truncated
        assert total == 1.0


def test_numbers_are_uniform():
    env = GuessTheNumber(3, 7)
    env.reset(seed=1)
    counts = dict.fromkeys(range(3, 8), 0)
    for _ in range(5000):
        env.reset()
        counts[env.target] += 1
    assert all(850 < n < 1150 for n in counts.values())


def test_random_level_draws_from_its_ranges():
    env = GuessTheNumber(None, None, None)
    env.reset(seed=2)
    seen = set()
    for _ in range(3000):
        prompt, _ = env.reset()
        low, high, span = env.min_number, env.max_number, env.max_number - env.min_number
        assert 1 <= low <= 10
        assert 5 <= span <= 50
        assert (env.max_turns - 2) ** 2 < span <= (env.max_turns - 1) ** 2
        assert low <= env.target <= high
        assert f"from {low} to {high}" in prompt
        assert f"{env.max_turns} guesses" in prompt
        seen.add((low, span))
    assert len(seen) > 400


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_number": 5, "max_number": 5}, "max_number must be a whole number from 6"),
        ({"min_number": "1"}, "min_number must be a whole number"),
        ({"max_number": 2.5}, "max_number must be a whole number"),
        ({"max_turns": 0}, "max_turns must be a whole number of at least 1, got 0"),
        ({"max_turns": True}, "max_turns"),
        ({"min_number": None, "max_number": -3}, "max_number"),
        ({"format_error": "retry"}, "format_error must be one of 'terminate', 'continue'"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        GuessTheNumber(**options)
