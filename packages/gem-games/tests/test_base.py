import copy
import json
import pickle

import pytest

import gem
from gem_games.base import clean, number, numbers
from gem_games.guess_the_number import GuessTheNumber


@pytest.fixture
def env():
    env = GuessTheNumber(1, 10, 3)
    env.reset(seed=0)
    env.target = 10
    return env


@pytest.mark.parametrize("text", ["", "5", r"\boxed{}", r"\boxed{5", r"\boxed{five}"])
def test_a_format_error_ends_the_episode(env, text):
    _, reward, terminated, truncated, info = env.step(text)
    assert (reward, terminated, truncated) == (-0.1, True, False)
    assert info["success"] is False
    assert "\\boxed{...}" in info["invalid_action"]
    with pytest.raises(gem.ResetNeeded):
        env.step(r"\boxed{5}")


def test_a_format_error_may_be_survived():
    env = GuessTheNumber(1, 10, 2, format_error="continue")
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step("hm")
    assert (reward, terminated, truncated) == (-0.1, False, False)
    assert "success" not in info
    assert info["suffix"]
    _, reward, terminated, truncated, info = env.step("hm")
    assert (reward, terminated, truncated) == (-0.1, False, True)
    assert info["success"] is False


@pytest.mark.parametrize("action", [None, b"\\boxed{5}", 5, [], ("a",), object()])
def test_what_is_not_text_is_refused_and_costs_no_turn(env, action):
    with pytest.raises(TypeError, match="an action is a str"):
        env.step(action)
    assert env.turn == 0
    env.step(r"\boxed{10}")
    with pytest.raises(TypeError, match="an action is a str"):
        env.step(action)


def test_reset_options_are_a_dictionary(env):
    env.reset(options={})
    with pytest.raises(TypeError, match="reset options must be a dict, got 3"):
        env.reset(options=3)


def test_step_before_reset_and_after_the_end(env):
    with pytest.raises(gem.ResetNeeded):
        GuessTheNumber().step(r"\boxed{5}")
    with pytest.raises(gem.ResetNeeded):
        GuessTheNumber().solve()
    env.step(r"\boxed{10}")
    with pytest.raises(gem.ResetNeeded):
        env.step(r"\boxed{10}")
    env.reset()
    env.step(r"\boxed{5}")


def test_an_invalid_first_move_says_why(env):
    _, reward, terminated, truncated, info = env.step(r"\boxed{99}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["invalid_action"] == "99 is outside 1 to 10"
    assert info["suffix"]


def test_an_invalid_last_move_is_cut_off_and_says_why(env):
    for _ in range(3):
        _, reward, terminated, truncated, info = env.step(r"\boxed{99}")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["invalid_action"]
    assert info["success"] is False


def test_long_responses_are_read_too(env):
    observation, *_ = env.step("I think. " * 10_000 + r"\boxed{4}")
    assert "higher than 4" in observation


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), lambda env: env.spawn(same_state=True)]
)
def test_copies_play_on_alike_and_apart(env, copied):
    twin = copied(env)
    assert twin.step(r"\boxed{4}") == env.step(r"\boxed{4}")
    assert twin.reset() == env.reset()
    assert twin.target == env.target
    twin.step(rf"\boxed{{{twin.target}}}")
    assert env.playing


def test_a_state_can_be_restored_twice(env):
    state = env.get_state()
    first = [env.step(r"\boxed{4}"), env.step(r"\boxed{5}"), env.reset(), env.target]
    env.set_state(state)
    assert env.guesses == set()
    again = [env.step(r"\boxed{4}"), env.step(r"\boxed{5}"), env.reset(), env.target]
    assert first == again
    env.set_state(state)
    assert env.guesses == set()


def test_info_is_json(env):
    assert json.loads(json.dumps(env.step(r"\boxed{4}")[4]))


@pytest.mark.parametrize(
    ("box", "words"),
    [
        (" 7 ", "7"),
        (r"\text{reveal 1 2}", "reveal 1 2"),
        (r"\textbf{A},\ C", "a c"),
        (r"$(1,\,2)$", "1 2"),
        ("[1, 2; 3]", "1 2 3"),
        ("Up.", "up"),
        ("\u22125", "-5"),
        ("`crane`", "crane"),
        (r"\mathrm{up}", "up"),
    ],
)
def test_clean(box, words):
    assert clean(box) == words


def test_number_saturates():
    assert number("9" * 18) == 10**18 - 1
    assert number("9" * 19) == 10**18
    assert number("-" + "9" * 5000) == -(10**18)
    assert number("0" * 30 + "7") == 7
    assert number("-" + "0" * 30 + "7") == -7


def test_numbers():
    assert numbers(["1", "-2"]) == (1, -2)
    assert numbers(["1", "x"]) is None
    assert numbers([]) is None
