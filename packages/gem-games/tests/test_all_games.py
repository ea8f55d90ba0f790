"""What holds for every game, over every id."""

import inspect
import json
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

import gem
from gem.parsing import last_boxed
from gem_games.base import Game
from gem_games.plugin import gem_env_specs

SPECS = {spec.id: spec for spec in gem_env_specs()}
EASY = [env_id for env_id in SPECS if env_id.endswith("-easy")]
ENVS = {env_id: gem.make(env_id) for env_id in SPECS}

#: Fragments of moves of all games, and of nonsense.
WORDS = (
    *(
        "up",
        "left",
        "reveal",
        "flag",
        "crane",
        "cat",
        "A",
        "C",
        "to",
        "0",
        "1",
        "2",
        "3",
        "-1",
        "10",
        "²",
        "７",
        "٣",
        "½",
    ),
    *("x", "\\text{", "}", "$", ",", ".", "\\", "(", "1e9", "é", "−", "nan", "9" * 5000, "\x00", "\ud800", "\n", " "),
)
words = st.sampled_from(WORDS)
boxes = st.lists(words, max_size=6).map(lambda parts: "\\boxed{" + " ".join(parts) + "}")
responses = st.one_of(boxes, st.text(max_size=40), st.lists(boxes, max_size=3).map(" so ".join), st.just("\\boxed{"))


@pytest.mark.parametrize("env_id", EASY)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 5), st.lists(responses, max_size=8))
def test_no_text_raises_and_every_step_is_sound(env_id, seed, actions):
    env = ENVS[env_id]
    _, info = env.reset(seed=seed)
    total = 0.0
    for action in actions:
        if not env.playing:
            break
        turn = env.turn
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        assert env.turn == turn + 1
        assert isinstance(observation, str)
        assert observation
        assert type(reward) is float
        assert not (terminated and truncated)
        assert ("success" in info) == (terminated or truncated) == (not env.playing)
        assert isinstance(info["suffix"], str)
        assert json.dumps(info)
        if last_boxed(action) is None:
            assert (reward, terminated) == (-0.1, True)
    assert -0.1 - 1e-9 <= total <= 1 + 1e-9


@pytest.mark.parametrize("env_id", EASY)
@pytest.mark.parametrize("part", ["a", "1 ", "9", "up ", "A C ", "{", "\\text{", "reveal 1 1 ", "["])
def test_a_huge_response_gets_a_short_answer(env_id, part):
    env = ENVS[env_id]
    for action in ("\\boxed{" + part * 20_000 + "}", "\\boxed{reveal" + part * 20_000 + " 1 1}", part * 20_000):
        env.reset(seed=0)
        observation, _, _, _, info = env.step(action)
        assert len(observation) + len(info.get("invalid_action", "")) < 400


@pytest.mark.parametrize("env_id", SPECS)
def test_random_actions_are_always_read(env_id):
    env = ENVS[env_id]
    state = random.getstate()
    for seed in range(20):
        env.reset(seed=seed)
        for _ in range(10):
            action = env.sample_random_action()
            assert type(env).read(last_boxed(action)) is not None, action
    assert random.getstate() == state


@pytest.mark.parametrize("env_id", EASY)
def test_random_actions_are_read_outside_an_episode_too(env_id, play):
    env = gem.make(env_id)
    assert type(env).read(last_boxed(env.sample_random_action())) is not None
    env.reset(seed=0)
    play(env, getattr(env, "sample_random_action" if type(env).solution is Game.solution else "solve"))
    assert type(env).read(last_boxed(env.sample_random_action())) is not None


@pytest.mark.parametrize("env_id", SPECS)
def test_random_play_ends_in_time_with_a_total_in_range(env_id, play):
    env = ENVS[env_id]
    for seed in range(10):
        env.reset(seed=seed)
        total, terminated, truncated, info = play(env, env.sample_random_action)
        assert terminated != truncated
        assert env.turn <= env.max_turns
        assert truncated <= (env.turn == env.max_turns)
        assert 0 <= total <= 1 + 1e-9
        assert info["success"] <= (abs(total - 1) < 1e-9)
        with pytest.raises(gem.ResetNeeded):
            env.step("\\boxed{1}")


@pytest.mark.parametrize("env_id", SPECS)
def test_a_state_is_restored_in_the_middle_of_an_episode(env_id):
    env = ENVS[env_id]
    env.reset(seed=3)
    for _ in range(3):
        if env.playing:
            env.step(env.sample_random_action())
    state = env.get_state()

    def go_on():
        steps = []
        while env.playing:
            steps.append(env.step(env.sample_random_action()))
        return [*steps, env.reset()]

    first = go_on()
    env.set_state(state)
    assert go_on() == first
    twin = env.spawn(same_state=False)
    twin.set_state(state)
    env.set_state(state)
    assert env.sample_random_action() == twin.sample_random_action()


@pytest.mark.parametrize("env_id", SPECS)
def test_a_snapshot_is_apart_from_the_episode(env_id):
    """Every attribute is immutable or a flat container, which is what a snapshot copies."""
    env = ENVS[env_id]
    env.reset(seed=1)
    for _ in range(2):
        if env.playing:
            env.step(env.sample_random_action())
    immutable = (str, bytes, int, float, bool, tuple, frozenset, type(None))
    for name, value in env.get_state().items():
        if isinstance(value, (list, set)):
            assert all(isinstance(item, immutable) for item in value), name
        elif isinstance(value, dict):
            assert all(isinstance(item, immutable) for pair in value.items() for item in pair), name
        else:
            assert isinstance(value, (bytearray, *immutable)) or name == "field", name


@pytest.mark.parametrize("env_id", SPECS)
def test_a_format_error_may_be_survived(env_id):
    env = gem.make(env_id, format_error="continue")
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step("I do not know.")
    assert (reward, terminated, truncated) == (-0.1, False, env.max_turns == 1)
    assert info["invalid_action"]


@pytest.mark.parametrize("env_id", EASY)
def test_every_game_is_a_documented_class_that_names_its_options(env_id):
    game = type(ENVS[env_id])
    assert issubclass(game, Game)
    for option in inspect.signature(game).parameters:
        assert f"    {option}: " in game.__doc__, option


def test_making_a_game_loads_little():
    code = (
        "import sys, gem\n"
        f"for env_id in {EASY!r}: gem.make(env_id).reset(seed=0)\n"
        "heavy = {'numpy', 'socket', 'ssl', 'urllib.request', 'torch', 'textarena', 'nltk'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
