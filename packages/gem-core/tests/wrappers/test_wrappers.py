"""What holds for every wrapper."""

from __future__ import annotations

import copy
import pickle

import pytest

import gem
from gem import wrappers


def joined(summary, messages):
    return summary + "".join(m["content"] for m in messages)


@pytest.fixture(
    params=[
        "latest",
        "concat",
        "concat_with_action",
        "concat_chat",
        "concat_chat_on_reset",
        "messages",
        {"name": "messages", "keep_suffix": False},
        {"name": "window", "turns": 2},
        {"name": "window", "turns": 2, "form": "messages"},
        {"name": "summary", "summarise": joined, "turns": 2, "keep": 1},
        "episode_tracking",
        {"name": "turn_limit", "max_turns": 6},
        {"name": "reward_scale", "scale": 2.0},
        "reward_clip",
    ],
    ids=str,
)
def env(request, scripted, chatml):
    steps = [(f"Turn {n}.", 2.0, False, False, {"suffix": f"S{n}"}) for n in range(9)]
    (wrap,) = wrappers.get_wrapper_fns([request.param], tokenizer=chatml())
    return wrap(scripted(steps))


def rest(env):
    return [env.step(action) for action in "xyz"]


def test_reset_keywords_pass_through(env):
    env.reset(seed=1, options={"a": 2}, idx=0)
    assert env.reset_with == {"seed": 1, "options": {"a": 2}, "idx": 0}


def test_attributes_are_the_inner_environments_live(env):
    env.reset(seed=1)
    env.step("a")
    assert env.turn == env.unwrapped.turn == 1
    env.unwrapped.turn = 5
    assert env.turn == 5
    assert env.rng is env.unwrapped.rng


def test_a_state_is_returned_to(env):
    env.reset(seed=1)
    env.step("a")
    env.step("b")
    state = env.get_state()
    expected = rest(env)
    env.reset(seed=2)
    env.set_state(state)
    assert rest(env) == expected
    env.set_state(state)  # playing on did not change the state that was saved
    assert rest(env) == expected


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alone(env, twin_of):
    env.reset(seed=1)
    env.step("a")
    twin = twin_of(env)
    expected = rest(env)
    assert rest(twin) == expected
    assert twin.unwrapped is not env.unwrapped


def test_spawn(env):
    env.reset(seed=1)
    env.step("a")
    fresh = env.spawn()
    assert type(fresh) is type(env)
    assert fresh.reset(seed=1) == env.spawn().reset(seed=1)
    same = env.spawn(same_state=True)
    assert rest(same) == rest(env)


def test_wrapping_imports_nothing_heavy(site):
    done = site.python(
        """
        import sys, gem
        from gem.wrappers import apply_wrappers
        apply_wrappers(gem.Env(), "concat,messages,episode_tracking").reset(seed=1)
        assert "numpy" not in sys.modules and "pluggy" not in sys.modules
        """
    )
    assert done.returncode == 0, done.stderr


def test_close_reaches_the_environment(env):
    env.close()
    env.close()
    assert env.unwrapped.closed == 2


def test_step_returns_what_an_environment_returns(env):
    observation, info = env.reset()
    assert isinstance(observation, (str, wrappers.Messages))
    observation, reward, terminated, truncated, info = env.step("a")
    assert isinstance(reward, float)
    assert isinstance(terminated, bool)
    assert isinstance(truncated, bool)
    assert info["suffix"] == "S0"


@pytest.mark.parametrize("backend", ["sync", "thread"])
def test_in_a_vector(env, backend):
    with gem.make_vec([env.spawn, env.spawn], backend=backend, autoreset="disabled") as vec:
        observations, _ = vec.reset(seed=0)
        alone = env.spawn()
        assert observations == [alone.reset(seed=0)[0]] * 2
        expected = alone.step("a")
        stepped = vec.step(["a", "a"])
        assert stepped[0] == [expected[0]] * 2
        assert list(stepped[1]) == [expected[1]] * 2
