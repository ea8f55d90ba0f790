"""What every backend must do, tested on each."""

from __future__ import annotations

import asyncio
import os
import random
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from vector_toys import Awaiting, Counter, HungClose, Noted, Pair

import gem
from gem.vector import AutoresetMode, VectorEnv, make_vec

BACKENDS = ["sync", "thread", "process"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def vector(backend: str, n: int = 2, source: Any = Counter, **options: Any) -> VectorEnv:
    if backend == "process":
        options.setdefault("num_workers", 2)
        options.setdefault("start_method", "fork")
    return make_vec(source, num_envs=n, backend=backend, **options)


# -- shapes -------------------------------------------------------------------------------------------


def test_step_returns_lists_and_arrays(backend: str) -> None:
    with vector(backend, 3) as vec:
        observations, infos = vec.reset(seed=0)
        assert len(observations) == len(infos) == vec.num_envs == len(vec) == 3
        observations, rewards, terminated, truncated, infos = vec.step(["go", "go", "truncate"])
        assert [o.split()[0] for o in observations] == ["go", "go", "start"]
        assert rewards.dtype == np.float64
        assert rewards.tolist() == [0.5] * 3
        assert terminated.dtype == truncated.dtype == np.bool_
        assert terminated.tolist() == [False] * 3
        assert truncated.tolist() == [False, False, True]
        assert infos[0]["correct"] is True


def test_arrays_belong_to_the_caller(backend: str) -> None:
    with vector(backend) as vec:
        vec.reset(seed=0)
        first = vec.step(["go", "go"])
        first[1][:] = 7.0
        second = vec.step(["go", "go"])
        assert first[1].tolist() == [7.0, 7.0]
        assert second[1].tolist() == [0.5, 0.5]


def test_partial_batch_keeps_the_order_given(backend: str) -> None:
    with vector(backend, 4) as vec:
        vec.reset(seed=0)
        observations, rewards, *_ = vec.step({3: "c", 1: "a"})
        assert [o.split()[0] for o in observations] == ["c", "a"]
        assert rewards.shape == (2,)
        assert vec.step({})[0] == []
        _, infos = vec.reset(indices=[2, 0])
        assert len(infos) == 2


def test_partial_batch_leaves_the_others_alone(backend: str) -> None:
    with vector(backend, 2) as vec:
        vec.reset(seed=0)
        vec.step({0: "a"})
        observations = vec.step(["a", "a"])[0]
        assert [o.split()[1] for o in observations] == ["2", "1"]


# -- seeds --------------------------------------------------------------------------------------------


def test_integer_seed_counts_up(backend: str) -> None:
    with vector(backend, 3) as vec:
        counted, _ = vec.reset(seed=np.int64(5))
        listed, _ = vec.reset(seed=[5, np.int32(6), 7])
        single, _ = vec.reset(seed=5, indices=[2])
    assert counted == listed
    assert single == counted[2:]


def test_seed_of_the_vector_serves_the_first_reset_only(backend: str) -> None:
    with vector(backend, seed=3) as vec, vector(backend, seed=3) as other:
        first, _ = vec.reset()
        second, _ = vec.reset()
        assert first != second
        assert other.reset(seed=3)[0] == first
        assert other.reset()[0] == second  # the generator went on; its first seed is spent


@pytest.mark.parametrize(
    ("seed", "error"), [("x", TypeError), ([1], TypeError), (-1, ValueError), ([1, -2], ValueError), (1.5, TypeError)]
)
def test_bad_seeds(seed: Any, error: type[Exception]) -> None:
    with vector("sync") as vec, pytest.raises(error, match="seed"):
        vec.reset(seed=seed)


def test_global_generators_are_left_alone(backend: str) -> None:
    random.seed(123)
    np.random.seed(123)
    expected = random.Random(123).random()
    with vector(backend) as vec:
        vec.reset(seed=1)
        vec.step(["go", "go"])
    assert random.random() == expected
    assert np.random.random() == np.random.RandomState(123).random()


def test_environments_share_no_random_state(backend: str) -> None:
    with vector(backend, 2) as vec:
        vec.reset(seed=[1, 1])
        alone = vec.step({0: "go"})[0]
        vec.reset(seed=[1, 1])
        vec.reset(seed=[2], indices=[1])
        assert vec.step({0: "go"})[0] == alone


def test_options_reach_reset(backend: str) -> None:
    with vector(backend) as vec:
        assert [i["options"] for i in vec.reset(options={"idx": 4})[1]] == [{"idx": 4}] * 2
        assert [i["options"] for i in vec.reset(options=[{"idx": 4}, None])[1]] == [{"idx": 4}, {}]
        with pytest.raises(TypeError, match="1 options for 2"):
            vec.reset(options=[{}])


# -- autoreset ----------------------------------------------------------------------------------------


def test_same_step_returns_the_new_episode_and_keeps_the_last(backend: str) -> None:
    with vector(backend, limit=2) as vec:
        vec.reset(seed=0)
        vec.step(["go", "go"])
        observations, rewards, terminated, _, infos = vec.step(["go", "go"])
        assert all(o.startswith("start") for o in observations)
        assert terminated.tolist() == [True, True]
        assert rewards.tolist() == [0.5, 0.5]
        assert [i["final_obs"].split()[:2] for i in infos] == [["go", "2"]] * 2
        assert all(i["final_info"]["correct"] for i in infos)
        assert "final_obs" not in vec.step(["go", "go"])[4][0]


def test_next_step_ignores_one_action(backend: str) -> None:
    with vector(backend, limit=1, autoreset=AutoresetMode.NEXT_STEP) as vec:
        vec.reset(seed=0)
        observations, _, terminated, _, _ = vec.step(["go", "go"])
        assert observations[0].startswith("go 1")
        assert terminated.all()
        observations, rewards, terminated, truncated, _ = vec.step(["ignored", "ignored"])
        assert all(o.startswith("start") for o in observations)
        assert not rewards.any()
        assert not (terminated | truncated).any()
        assert vec.step(["go", "go"])[2].all()


def test_disabled_leaves_the_reset_to_the_caller(backend: str) -> None:
    with vector(backend, limit=1, autoreset="disabled") as vec:
        vec.reset(seed=0)
        assert vec.step({0: "go"})[2].all()
        with pytest.raises(gem.ResetNeeded, match="environment 0"):
            vec.step(["go", "go"])
        vec.reset(indices=[0])
        assert vec.step(["go", "go"])[2].all()


def test_step_before_reset(backend: str) -> None:
    with vector(backend) as vec:
        with pytest.raises(gem.ResetNeeded, match="environment 0, 1"):
            vec.step(["go", "go"])
        vec.reset(indices=[1])
        vec.step({1: "go"})


# -- the caller's mistakes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        (["go"], TypeError, "1 actions for 2 environments"),
        (["go"] * 3, TypeError, "3 actions for 2"),
        ("go", TypeError, "one action for each"),
        (["go", None], TypeError, "environment 1 must be a str, got None"),
        ([b"go", "go"], TypeError, "environment 0 must be a str"),
        ({2: "go"}, IndexError, "no environment 2"),
        ({-1: "go"}, IndexError, "no environment -1"),
        ({"a": "go"}, TypeError, "index is an integer"),
        ({0: None}, TypeError, "environment 0 must be a str"),
    ],
)
def test_bad_actions_are_the_callers_error_and_step_nothing(
    backend: str, actions: Any, error: type[Exception], message: str
) -> None:
    with vector(backend) as vec:
        vec.reset(seed=0)
        with pytest.raises(error, match=message):
            vec.step(actions)
        assert [o.split()[1] for o in vec.step(["go", "go"])[0]] == ["1", "1"]


def test_strings_of_other_types_are_actions(backend: str) -> None:
    with vector(backend) as vec:
        vec.reset(seed=0)
        assert vec.step(np.array(["go", "stay"]))[0][1].startswith("stay")


def test_after_close(backend: str) -> None:
    vec = vector(backend)
    vec.close()
    vec.close()
    for call in (vec.reset, lambda: vec.step(["a", "a"]), vec.recv, lambda: vec.send(["a", "a"])):
        with pytest.raises(gem.GemError, match="closed"):
            call()


# -- failures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["raise", "exit", "none", "three", "info", "flag", "unspeakable"])
def test_one_that_fails_takes_nothing_with_it(backend: str, action: str) -> None:
    with vector(backend, 3, label="") as vec:
        vec.reset(seed=0)
        observations, rewards, terminated, truncated, infos = vec.step(["go", action, "go"])
        assert [o.split()[0] for o in observations] == ["go", "start", "go"]
        assert rewards.tolist() == [0.5, 0.0, 0.5]
        assert terminated.tolist() == [False] * 3
        assert truncated.tolist() == [False, True, False]
        error = infos[1]["error"]
        assert error.startswith("environment 1 (Counter) failed in step: ")
        assert "\n" not in error
        assert infos[1]["final_obs"] == ""
        assert infos[1]["final_info"]["error"] == error
        assert "error" not in infos[0]
        if action == "raise":
            assert "ValueError: a bad move" in error
            assert "in do_raise" in infos[1]["final_info"]["traceback"]
        assert [o.split()[1] for o in vec.step(["go"] * 3)[0]] == ["2", "1", "2"]


def test_failure_with_autoreset_in_the_next_step(backend: str) -> None:
    with vector(backend, autoreset="next_step") as vec:
        vec.reset(seed=0)
        observations, _, _, truncated, infos = vec.step(["go", "raise"])
        assert observations[1] == ""
        assert truncated.tolist() == [False, True]
        assert "ValueError" in infos[1]["error"]
        assert vec.step(["go", "go"])[0][1].startswith("start")


def test_failure_with_autoreset_disabled(backend: str) -> None:
    with vector(backend, autoreset="disabled") as vec:
        vec.reset(seed=0)
        assert "ValueError" in vec.step(["go", "raise"])[4][1]["error"]
        with pytest.raises(gem.ResetNeeded):
            vec.step({1: "go"})
        vec.reset(indices=[1])
        assert vec.step({1: "go"})[0][0].startswith("go 1")


def test_failing_reset_is_reported_and_tried_again(backend: str) -> None:
    with vector(backend) as vec:
        observations, infos = vec.reset(seed=0, options=[None, {"fail": True}])
        assert observations[1] == ""
        assert "failed in reset: RuntimeError: no reset today" in infos[1]["error"]
        observations, _, _, truncated, infos = vec.step(["go", "go"])
        assert observations[0].startswith("go 1")
        assert observations[1].startswith("start")
        assert not truncated.any()


def test_replacement_of_a_seeded_environment_is_reproducible(backend: str) -> None:
    seen = []
    for _ in range(2):
        with vector(backend) as vec:
            vec.reset(seed=9)
            seen.append([vec.step(["go", "raise"])[0][1], vec.step(["go", "raise"])[0][1]])
    assert seen[0] == seen[1]
    assert seen[0][0] != seen[0][1]


def test_broken_instance_is_closed(backend: str, tmp_path: Any) -> None:
    notes = tmp_path / "notes"
    with vector(backend, 1, Noted, path=str(notes)) as vec:
        vec.reset(seed=0)
        vec.step(["raise"])
        assert notes.read_text().split() == ["made", "closed", "made"]
    assert notes.read_text().split() == ["made", "closed", "made", "closed"]


# -- send and recv ------------------------------------------------------------------------------------


def test_send_and_recv_hand_out_everything_once(backend: str) -> None:
    with vector(backend, 4) as vec:
        vec.reset(seed=0)
        vec.send(["a", "b", "c", "d"])
        got: dict[int, str] = {}
        while len(got) < 4:
            results = vec.recv()
            assert results.rewards.shape == (len(results.indices),)
            got.update(zip(results.indices.tolist(), results.observations, strict=True))
        assert [got[i].split()[0] for i in range(4)] == ["a", "b", "c", "d"]
        with pytest.raises(gem.GemError, match="nothing to receive"):
            vec.recv()


def test_recv_waits_for_as_many_as_asked(backend: str) -> None:
    with vector(backend, 4) as vec:
        vec.reset(seed=0)
        vec.send({0: "a", 2: "b", 3: "sleep"})
        assert sorted(vec.recv(min_ready=99).indices.tolist()) == [0, 2, 3]


def test_sending_twice_is_the_callers_error(backend: str) -> None:
    with vector(backend) as vec:
        vec.reset(seed=0)
        vec.send(["a"], indices=[1])
        with pytest.raises(gem.GemError, match="environment 1 is still busy"):
            vec.send(["a", "a"])
        assert vec.step({0: "b"})[0][0].startswith("b 1")  # beside what is under way
        assert vec.recv().indices.tolist() == [1]


def test_resets_can_be_sent_too(backend: str) -> None:
    with vector(backend, autoreset="disabled") as vec:
        vec.send_reset(seed=1)
        results = vec.recv(min_ready=2)
        assert sorted(results.indices.tolist()) == [0, 1]
        assert not results.rewards.any()
        vec.step(["a", "a"])


# -- the same everywhere ------------------------------------------------------------------------------


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    seed=st.integers(0, 2**40),
    actions=st.lists(st.lists(st.sampled_from(["go", "truncate", "raise"]), min_size=3, max_size=3), max_size=8),
    mode=st.sampled_from(["same_step", "next_step"]),
)
def test_same_seed_and_actions_same_episodes_in_every_backend(seed: int, actions: list[list[str]], mode: str) -> None:
    def play(backend: str) -> list[Any]:
        with vector(backend, 3, limit=3, autoreset=mode) as vec:
            seen: list[Any] = [vec.reset(seed=seed)[0]]
            for batch in actions:
                observations, rewards, terminated, truncated, infos = vec.step(batch)
                finals = [i.get("final_obs") for i in infos]
                seen.append((observations, rewards.tolist(), terminated.tolist(), truncated.tolist(), finals))
            return seen

    inline = play("sync")
    assert play("thread") == inline
    assert play("process") == inline


def test_multi_agent_environments(backend: str) -> None:
    with vector(backend, 2, Pair) as vec:
        observations, _ = vec.reset(seed=0)
        assert observations == [{"a": "a0", "b": "b0"}] * 2
        both = [{"a": "x", "b": "y"}] * 2
        observations, rewards, terminated, truncated, _ = vec.step(both)
        assert rewards == [{"a": 1.0, "b": 1.0}] * 2
        assert observations[1] == {"a": "a1", "b": "b1"}
        assert vec.step(both)[2] == [{"a": True, "b": False}] * 2  # not over: b plays on
        observations, _, terminated, truncated, infos = vec.step([{"b": "y"}] * 2)
        assert terminated == [{"b": True}] * 2
        assert truncated == [{"b": False}] * 2
        assert observations == [{"a": "a0", "b": "b0"}] * 2
        assert infos[0]["final_obs"] == {"b": "b3"}
        observations, rewards, _, truncated, infos = vec.step([{"a": "x", "b": "y"}, {"a": "raise", "b": "y"}])
        assert rewards == [{"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}]
        assert truncated[1] == {"a": True, "b": True}
        assert "ValueError: a bad move" in infos[1]["error"]
        assert observations[1] == {"a": "a0", "b": "b0"}
        assert infos[1]["final_obs"] == {"a": "", "b": ""}
        vec.send_reset(indices=[0])
        assert vec.recv()[1:5] == ([{"a": "a0", "b": "b0"}], [{"a": 0.0, "b": 0.0}], *[[{"a": False, "b": False}]] * 2)


def test_one_agent_and_several_do_not_mix(backend: str) -> None:
    told = r"environment 1 \(Pair\) has several agents and environment 0 \(Counter\) has one: make a vector of each"
    with pytest.raises(ValueError, match=told):
        make_vec([Counter, Pair], backend=backend, start_method="fork" if backend == "process" else None)


def test_multi_agent_environments_with_autoreset_disabled(backend: str) -> None:
    with vector(backend, 1, Pair, autoreset="disabled") as vec:
        vec.reset(seed=0)
        vec.step([{"a": "x", "b": "y"}])
        vec.step([{"a": "x", "b": "y"}])
        vec.step([{"b": "y"}])
        with pytest.raises(gem.ResetNeeded):
            vec.step([{"a": "x", "b": "y"}])
        vec.reset()
        vec.step([{"a": "x", "b": "y"}])
        vec.step([{"a": "x", "b": "y"}])  # a has left
        observations, rewards, terminated, truncated, _ = vec.step([{"b": "raise"}])
        assert (observations, rewards) == ([{"b": ""}], [{"b": 0.0}])
        assert (terminated, truncated) == ([{"b": False}], [{"b": True}])
        with pytest.raises(gem.ResetNeeded):
            vec.step([{"b": "y"}])


@pytest.mark.parametrize("action", ["numbers", "flag"])
def test_several_agents_in_a_malformed_outcome(backend: str, action: str) -> None:
    with vector(backend, 1, Pair) as vec:
        vec.reset(seed=0)
        _, _, _, truncated, infos = vec.step([{"a": action, "b": "y"}])
        assert truncated == [{"a": True, "b": True}]
        assert "step must return five dictionaries keyed by agent" in infos[0]["error"]


def test_environments_that_await_step_in_every_backend(backend: str) -> None:
    with vector(backend, 3, Awaiting, limit=2) as vec, vector("sync", 3, limit=2) as plain:
        assert vec.reset(seed=4)[0] == plain.reset(seed=4)[0]
        for actions in (["go"] * 3, ["go"] * 3, ["go", "raise", "go"], ["go"] * 3):
            assert vec.step(actions)[0] == plain.step(actions)[0]


# -- circumstances ------------------------------------------------------------------------------------


def test_ten_thousand_resets(backend: str) -> None:
    with vector(backend, 50) as vec:
        for k in range(200):
            vec.reset(seed=k)
        assert len(set(vec.reset()[0])) == 50


def test_two_vectors_in_one_process(backend: str) -> None:
    with vector(backend) as one, vector(backend) as two:
        one.reset(seed=1)
        two.reset(seed=1)
        one.send(["go", "go"])
        other = two.step(["go", "go"])
        results = one.recv(min_ready=2)
        order = np.argsort(results.indices).tolist()
        assert [results.observations[k] for k in order] == other[0]


def test_inside_a_running_event_loop(backend: str) -> None:
    async def main() -> Any:
        with vector(backend, 2, Awaiting) as vec:
            vec.reset(seed=0)
            return vec.step(["go", "go"])[1].tolist()

    assert asyncio.run(main()) == [0.5, 0.5]


def test_close_is_bounded_by_its_timeout(backend: str) -> None:
    vec = vector(backend, 3, HungClose)
    vec.reset(seed=0)
    start = time.monotonic()
    vec.close(timeout=1.0)
    assert time.monotonic() - start < 5.0


def test_a_copy_in_a_forked_process_leaves_the_vector_alone(backend: str) -> None:
    with vector(backend) as vec:
        vec.reset(seed=0)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if backend != "sync":  # environments in line are copied with it
                    with pytest.raises(gem.GemError, match="make a new one after a fork"):
                        vec.step(["go", "go"])
                vec.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert vec.step(["go", "go"])[1].tolist() == [0.5, 0.5]


def test_forgotten_vectors_are_cleaned_up(backend: str) -> None:
    import gc

    vec = vector(backend)
    vec.reset(seed=0)
    del vec
    gc.collect()
