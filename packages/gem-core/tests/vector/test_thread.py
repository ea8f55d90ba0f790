from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import pytest
from vector_toys import Awaiting, Counter, HungToMake, SlowToMake, Unmakeable

from gem.vector import VectorEnv, make_vec


def vector(source: Any = Counter, n: int = 4, **options: Any) -> VectorEnv:
    return make_vec(source, num_envs=n, async_mode=True, **options)


def test_waiting_environments_wait_at_the_same_time() -> None:
    with vector(n=64) as vec:
        start = time.monotonic()
        vec.reset(seed=0, options={"sleep": 0.2})
        vec.step(["sleep"] * 64)
        assert time.monotonic() - start < 0.25 * 64 / 4  # one after the other they take 16 s


def test_environments_are_made_at_the_same_time() -> None:
    start = time.monotonic()
    with vector(SlowToMake, n=50):
        assert time.monotonic() - start < 5.0  # one after the other they take 10 s


def test_quick_steps_stay_in_the_callers_thread() -> None:
    with vector(n=64, limit=1000) as vec:
        vec.reset(seed=0)
        # A machine that is busy with other things may make a batch look slow, but not every one.
        batches = [{i["thread"] for i in vec.step(["go"] * 64)[4]} for _ in range(100)]
        assert {threading.get_ident()} in batches


def test_threads_are_fewer_than_waiting_environments() -> None:
    with vector(n=300, num_workers=20) as vec:
        vec.reset(seed=0)
        before = threading.active_count()
        infos = vec.step(["sleep"] * 300)[4]
        assert len({i["thread"] for i in infos}) <= 21  # the pool's and the caller's
        assert threading.active_count() <= before + 20


def test_awaiting_environments_share_one_thread() -> None:
    with vector(Awaiting, n=2000) as vec:
        vec.reset(seed=0)
        infos = vec.step(["go"] * 2000)[4]
        assert len({i["thread"] for i in infos}) == 1
        assert infos[0]["thread"] != threading.get_ident()


def test_so_do_those_in_wrappers_that_observe() -> None:
    names = ["concat_with_action", "episode_tracking"]
    with make_vec(Awaiting, num_envs=200, backend="thread", wrappers=names) as vec:
        begun, _ = vec.reset(seed=0)
        observations, _, _, _, infos = vec.step(["go"] * 200)
        assert len({i["thread"] for i in infos}) == 1
        assert all(i["step_counter"] == 1 for i in infos)
        assert observations[3].startswith(f"{begun[3]}go\ngo 1 ")


def test_recv_does_not_wait_for_the_slowest() -> None:
    with vector(n=3) as vec:
        vec.reset(seed=0)
        vec.send(["hang", "go", "go"])
        got = set()
        while len(got) < 2:
            got.update(vec.recv(timeout=10).indices.tolist())
        assert got == {1, 2}
        start = time.monotonic()
        results = vec.recv(timeout=0.1)
        assert time.monotonic() - start < 5.0
        assert len(results.indices) == len(results.observations) == 0
        vec.close(timeout=0.5)


@pytest.mark.parametrize("action", ["hang", "spin"])
def test_one_that_hangs_is_replaced(action: str) -> None:
    with vector(n=3, step_timeout=0.8) as vec:
        vec.reset(seed=0)
        start = time.monotonic()
        observations, rewards, _, truncated, infos = vec.step(["go", action, "go"])
        assert time.monotonic() - start < 10.0
        assert [o.split()[0] for o in observations] == ["go", "start", "go"]
        assert truncated.tolist() == [False, True, False]
        assert rewards[1] == 0.0
        assert infos[1]["error"].startswith("environment 1 (Counter) failed in step: no answer within 0.8 s")
        assert [o.split()[1] for o in vec.step(["go"] * 3)[0]] == ["2", "1", "2"]


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_one_that_hangs_in_the_other_modes(mode: str) -> None:
    with vector(n=2, step_timeout=0.8, autoreset=mode) as vec:
        vec.reset(seed=0)
        observations, _, _, truncated, infos = vec.step(["spin", "go"])
        assert observations[0] == ""
        assert truncated.tolist() == [True, False]
        assert "no answer" in infos[0]["error"]
        if mode == "disabled":
            vec.reset(indices=[0])
            assert vec.step({0: "go"})[0][0].startswith("go 1")
        else:
            assert vec.step({0: "go"})[0][0].startswith("start")


def test_hung_environments_do_not_use_up_the_pool() -> None:
    with vector(n=4, step_timeout=0.8, num_workers=1) as vec:
        vec.reset(seed=0)
        for _ in range(2):
            *_, truncated, _ = vec.step(["spin", "go", "spin", "go"])
            assert truncated.tolist() == [True, False, True, False]


def test_a_spinning_thread_is_ended() -> None:
    with vector(n=1, step_timeout=0.8) as vec:
        vec.reset(seed=0)
        vec.step(["spin"])
        deadline = time.monotonic() + 10.0
        while sum(t.name == "gem-step" for t in threading.enumerate()) > 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert sum(t.name == "gem-step" for t in threading.enumerate()) <= 2


def test_hanging_reset_is_reported() -> None:
    with vector(n=2, reset_timeout=0.8) as vec:
        _, infos = vec.reset(seed=0, options=[{"hang": True}, None])
        assert "failed in reset: no answer within 0.8 s" in infos[0]["error"]
        assert "error" not in infos[1]
        assert [o.split()[0] for o in vec.step(["go", "go"])[0]] == ["start", "go"]


def test_making_that_hangs_is_an_error() -> None:
    with pytest.raises(TimeoutError, match=r"making environment 0 \(HungToMake\): no answer within 0.05 s"):
        vector(HungToMake, n=1, reset_timeout=0.05)


def test_awaiting_one_that_blocks_the_others_is_replaced() -> None:
    with make_vec(Awaiting, num_envs=3, backend="thread", step_timeout=0.8) as vec:
        vec.reset(seed=0)
        assert "no answer within 0.8 s" in vec.step(["go", "block", "go"])[4][1]["error"]
        for _ in range(2):  # on a loop of their own
            assert not any("error" in info for info in vec.step(["go", "go", "go"])[4])


@pytest.mark.parametrize("action", ["halt", "quit"])
def test_what_awaiting_ones_do_to_their_loop_stops_nobody(action: str) -> None:
    with make_vec(Awaiting, num_envs=3, backend="thread") as vec:
        vec.reset(seed=0)
        for _ in range(2):
            assert vec.step(["go", action, "go"])[1].tolist() == [0.5] * 3


def test_a_cancelled_error_of_the_environment_itself_is_a_failure() -> None:
    with make_vec(Awaiting, num_envs=2, backend="thread") as vec:
        vec.reset(seed=0)
        assert "CancelledError" in vec.step(["go", "cancelled"])[4][1]["error"]


def test_awaiting_one_that_hangs_is_replaced() -> None:
    with vector(Awaiting, n=2, step_timeout=0.8) as vec:
        vec.reset(seed=0)
        observations, _, _, truncated, infos = vec.step(["hang", "go"])
        assert truncated.tolist() == [True, False]
        assert "no answer" in infos[0]["error"]
        assert observations[0].startswith("start")
        assert vec.step(["go", "go"])[0][0].startswith("go 1")


@pytest.mark.parametrize(("source", "action"), [(Counter, "hang"), (Counter, "spin"), (Awaiting, "hang")])
def test_close_with_steps_that_hang(source: Any, action: str) -> None:
    vec = vector(source, n=2)
    vec.reset(seed=0)
    vec.send([action, action])
    start = time.monotonic()
    vec.close(*([] if action == "hang" and source is Counter else [0.5]))
    assert time.monotonic() - start < 5.0


def test_what_making_raises_comes_out() -> None:
    with pytest.raises(LookupError, match="no such data set"):
        vector(Unmakeable)


def test_environments_may_run_event_loops_of_their_own_inside_one() -> None:
    import asyncio

    async def main() -> list[str]:
        with vector(n=2) as vec:
            vec.reset(seed=0)
            return [i.get("error", "") for i in vec.step(["loop", "loop"])[4]]

    assert asyncio.run(main()) == ["", ""]


def test_interrupt_from_the_keyboard_loses_no_outcome() -> None:
    class Interrupted(Counter):
        def do_interrupt(self) -> None:
            raise KeyboardInterrupt

    with vector(Interrupted, n=3) as vec:
        vec.reset(seed=0)
        with pytest.raises(KeyboardInterrupt):
            vec.step(["go", "interrupt", "go"])
        results = vec.recv(min_ready=3)
        assert sorted(results.indices.tolist()) == [0, 1, 2]
        assert vec.step(["go"] * 3)[0][1].split()[0] in ("go", "start")


def test_process_ends_though_a_step_hangs() -> None:
    program = """
        from vector_toys import Counter
        from gem.vector import make_vec
        vec = make_vec(Counter, num_envs=2, async_mode=True)
        vec.reset()
        vec.send(["hang", "go"])
        vec.recv()
        print("done")
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")
