"""The interface: randomness, state, copies, and wrappers that are transparent."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import gem
from gem.env import Env, Wrapper


class Counter(Env):
    """Counts its steps; the observation is a random number."""

    def __init__(self, limit: int = 3, label: str = "a") -> None:
        self.limit = limit
        self.label = label
        self.turn_count = 0
        self.history: list[str] = []
        self.closed = 0

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, idx: int | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.turn_count = 0
        self.history = []
        return str(self.rng.random()), {"idx": idx, "options": options}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.turn_count += 1
        self.history.append(action)
        return str(self.rng.random()), 1.0, self.turn_count >= self.limit, False, {}

    def close(self) -> None:
        self.closed += 1


class Doubler(Wrapper):
    """Doubles the reward, after a fixed bonus."""

    def __init__(self, env: Env, bonus: float = 0.0) -> None:
        super().__init__(env)
        self.bonus = bonus
        self.total = 0.0

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        self.total += reward
        return observation, 2 * reward + self.bonus, terminated, truncated, info


def wrapped(**kwargs: Any) -> Doubler:
    return Doubler(Wrapper(Counter(**kwargs)), bonus=0.5)


# -- randomness ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 3, 2**40, 2**200, np.int64(3), np.uint8(7), np.int32(0)])
def test_seeds_of_any_integer_type_and_size(seed: Any) -> None:
    first = Counter().reset(seed=seed)[0]
    assert Counter().reset(seed=int(seed))[0] == first
    assert wrapped().reset(seed=seed)[0] == first


def test_large_seeds_differ_in_all_their_bits() -> None:
    seeds = [0, 2**40, 2**64, 2**200, 2**200 + 1]
    env = Counter()
    assert len({env.reset(seed=seed)[0] for seed in seeds}) == len(seeds)
    assert len({(env.reset(seed=seed), env.np_random.integers(2**60))[1] for seed in seeds}) == len(seeds)


@pytest.mark.parametrize("seed", [1.0, "1", b"1", [1], True, np.float64(1), np.bool_(True)])
def test_a_seed_of_another_type_is_a_type_error(seed: Any) -> None:
    for env in (Counter(), wrapped()):
        with pytest.raises(TypeError, match="seed must be an integer, got"):
            env.reset(seed=seed)


@pytest.mark.parametrize("options", [3, "idx", [("idx", 0)], True])
def test_reset_options_are_a_dictionary(options: Any) -> None:
    class Passing(Env):
        def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
            super().reset(seed=seed, options=options)
            return "", {}

    env = Wrapper(Passing())
    env.reset(options={})
    with pytest.raises(TypeError, match=r"^reset options must be a dict, got "):
        env.reset(options=options)


def test_a_negative_seed_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="seed must be non-negative, got -1"):
        Counter().reset(seed=-1)


@given(st.integers(0, 2**130))
def test_the_same_seed_gives_the_same_numbers(seed: int) -> None:
    a, b = Counter(), wrapped()
    assert a.reset(seed=seed)[0] == b.reset(seed=seed)[0]
    assert a.np_random.integers(2**60) == b.np_random.integers(2**60)
    assert a.step("x")[0] == b.step("x")[0]
    assert a.reset()[0] == b.reset()[0]


def test_environments_share_no_random_state_and_leave_the_global_one_alone() -> None:
    a, b = Counter(), Counter()
    a.reset(seed=1)
    alone = a.step("x")[0]
    python, array = random.getstate(), np.random.get_state()
    a.reset(seed=1)
    b.reset(seed=2)
    b.np_random.random()
    assert a.step("x")[0] == alone
    assert random.getstate() == python
    assert np.array_equal(np.random.get_state()[1], array[1])


def test_unseeded_instances_differ() -> None:
    assert Counter().reset()[0] != Counter().reset()[0]


def test_reseeding_restarts_the_numpy_generator_too() -> None:
    env = Counter()
    env.reset(seed=5)
    first = env.np_random.random()
    env.np_random.random()
    env.reset(seed=5)
    assert env.np_random.random() == first


def test_an_unseeded_numpy_generator_still_follows_the_instance() -> None:
    env = Counter()
    env.rng.seed(9)
    other = Counter()
    other.rng.seed(9)
    assert env.np_random.random() == other.np_random.random()


# -- construction -------------------------------------------------------------------------------------


def test_an_environment_without_a_constructor_takes_no_options() -> None:
    class Bare(Env):
        pass

    with pytest.raises(TypeError, match="max_trun"):
        Bare(max_trun=3)


def test_a_mixin_after_env_is_initialised_too() -> None:
    class Mixin:
        def __init__(self) -> None:
            self.mixed = True

    class Both(Env, Mixin):
        def __init__(self) -> None:
            super().__init__()

    assert Both().mixed


def test_what_is_not_implemented_says_so() -> None:
    class Bare(Env):
        pass

    with pytest.raises(NotImplementedError, match="Bare must implement step"):
        Bare().step("x")
    with pytest.raises(NotImplementedError, match="Bare has no random actions"):
        Bare().sample_random_action()
    assert Bare().reset(seed=1) == ("", {})


def test_context_manager_closes_and_close_may_be_repeated() -> None:
    with wrapped() as env:
        inner = env.unwrapped
    assert inner.closed == 1
    env.close()
    Env().close()
    Env().close()


def test_repr_names_the_id_and_the_wrapping() -> None:
    env = wrapped()
    assert repr(env) == "<Doubler<Wrapper<Counter>>>"
    env.spec = gem.EnvSpec(id="toy:Counter-v0", entry_point=Counter)
    assert repr(env) == "<Doubler<Wrapper<Counter toy:Counter-v0>>>"
    assert env.env_id == env.unwrapped.env_id == "toy:Counter-v0"


# -- state --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Counter, wrapped])
def test_set_state_goes_back_to_the_very_moment(make: Any) -> None:
    env = make(limit=9)
    env.reset(seed=4)
    env.np_random.random()
    env.step("a")
    state = env.get_state()
    future = [env.step("b"), env.step("c"), env.np_random.random(), list(env.history)]
    for _ in range(2):  # a snapshot is not used up, and what happens afterwards does not change it
        env.set_state(state)
        assert env.history == ["a"]
        assert [env.step("b"), env.step("c"), env.np_random.random(), list(env.history)] == future
    fresh = make(limit=9)
    fresh.set_state(state)
    assert [fresh.step("b"), fresh.step("c"), fresh.np_random.random(), list(fresh.history)] == future


@given(st.lists(st.sampled_from(["step", "reset", "draw", "numpy"]), max_size=8), st.integers(0, 2**64))
def test_state_after_any_history(history: list[str], seed: int) -> None:
    env = wrapped(limit=100)
    env.reset(seed=seed)
    for what in history:
        if what == "step":
            env.step("x")
        elif what == "reset":
            env.reset()
        elif what == "draw":
            env.rng.random()
        else:
            env.np_random.random()
    state, total = env.get_state(), env.total
    expected = (env.step("y"), env.np_random.random(), env.reset()[0])
    env.set_state(state)
    assert env.total == total
    assert (env.step("y"), env.np_random.random(), env.reset()[0]) == expected


def test_state_excludes_are_kept_by_reference() -> None:
    class WithData(Counter):
        state_excludes = (*Env.state_excludes, "data")

        def __init__(self, data: Any) -> None:
            super().__init__()
            self.data = data

    env = WithData(threading.Lock())  # cannot be copied
    env.reset(seed=1)
    state = env.get_state()
    assert "data" not in state
    data = env.data
    env.set_state(state)
    assert env.data is data


@pytest.mark.parametrize("wrap", [False, True])
def test_an_attribute_that_cannot_be_copied_is_named(wrap: bool) -> None:
    env: Any = wrapped() if wrap else Counter()
    env.lock = threading.Lock()
    with pytest.raises(gem.StateNotSupported, match=r"\.lock cannot be copied .* state_excludes"):
        env.get_state()


@pytest.mark.parametrize("state", [None, [], {"env": {}}, "x"])
def test_a_foreign_state_is_a_type_error(state: Any) -> None:
    with pytest.raises(TypeError, match="set_state takes what get_state"):
        wrapped().set_state(state)
    if not isinstance(state, dict):
        with pytest.raises(TypeError, match="set_state takes what get_state"):
            Counter().set_state(state)


@pytest.mark.parametrize("make", [Counter, wrapped])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_and_pickles_go_on_alike_and_alone(make: Any, duplicate: Any) -> None:
    env = make(limit=9)
    duplicate(env)  # before reset
    env.reset(seed=4)
    env.step("a")
    twin = duplicate(env)
    assert type(twin) is type(env)
    assert twin.step("b") == env.step("b")
    twin.step("c")
    assert env.history == ["a", "b"]
    assert twin.spawn().limit == 9


def test_spawn_keeps_constructor_arguments_and_takes_overrides() -> None:
    env = Counter(7, label="b")
    env.spec = gem.EnvSpec(id="toy:Counter-v0", entry_point=Counter, kwargs={"limit": 7, "label": "b"})
    sibling = env.spawn(label="c")
    assert (sibling.limit, sibling.label) == (7, "c")
    assert sibling.spec.kwargs == {"limit": 7, "label": "c"}
    outer = wrapped(limit=7)
    outer.reset(seed=1)
    outer.step("x")
    twin = outer.spawn(same_state=True)
    assert twin.unwrapped is not outer.unwrapped
    assert (twin.bonus, twin.total, twin.limit, twin.turn_count) == (0.5, 1.0, 7, 1)
    assert twin.step("y") == outer.step("y")
    assert outer.spawn(limit=2).limit == 2
    assert Doubler(env=Counter(limit=4), bonus=1.0).spawn().limit == 4


# -- wrappers -----------------------------------------------------------------------------------------


def test_attributes_are_read_live() -> None:
    env = wrapped()
    env.reset()
    env.step("a")
    assert env.turn_count == env.unwrapped.turn_count == 1
    env.unwrapped.turn_count = 5
    assert env.turn_count == 5
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = env.nothing_of_the_kind


def test_extra_reset_keywords_pass_through_every_wrapper() -> None:
    assert wrapped().reset(seed=1, idx=3)[1]["idx"] == 3
    assert wrapped().reset(options={"a": 1})[1]["options"] == {"a": 1}
    with pytest.raises(TypeError, match="nonsense"):
        wrapped().reset(nonsense=1)


def test_an_environment_whose_reset_takes_a_seed_only_can_be_wrapped() -> None:
    class Old(Env):
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
            return "old", {}

    assert Wrapper(Old()).reset(seed=1)[0] == "old"


def test_a_wrapper_delegates_the_whole_interface() -> None:
    class Acting(Counter):
        def sample_random_action(self) -> str:
            return self.rng.choice("abc")

    env = Doubler(Acting())
    env.reseed(3)
    assert env.rng is env.unwrapped.rng
    assert env.np_random is env.unwrapped.np_random
    assert env.sample_random_action() in "abc"
    env.spec = spec = gem.EnvSpec(id="toy:A-v0", entry_point=Acting)
    assert env.unwrapped.spec is spec


def test_a_wrapper_that_forgot_its_base_constructor_does_not_recurse() -> None:
    class Forgetful(Wrapper):
        def __init__(self, env: Env) -> None:
            pass

    with pytest.raises(AttributeError, match="'Forgetful' object has no attribute 'env'"):
        Forgetful(Counter()).reset()
