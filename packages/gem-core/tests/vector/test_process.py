from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from vector_processes import alive, script
from vector_toys import Awaiting, Counter, Unmakeable

import gem
from gem.vector import VectorEnv, make_vec


@pytest.fixture(params=["spawn", "fork"])
def start_method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def vector(source: Any = Counter, n: int = 4, **options: Any) -> VectorEnv:
    options = {"num_workers": 2, "start_method": "fork", **options}
    return make_vec(source, num_envs=n, backend="process", **options)


def test_slices_of_neighbours_in_workers(start_method: str) -> None:
    with vector(n=5, start_method=start_method) as vec:
        vec.reset(seed=0)
        pids = [i["pid"] for i in vec.step(["go"] * 5)[4]]
        assert len(set(pids)) == 2
        assert pids == sorted(pids, key=pids.index)
        assert os.getpid() not in pids
        with pytest.raises(gem.GemError, match="other processes"):
            _ = vec.envs


def test_a_worker_killed_in_the_middle_of_a_step(start_method: str) -> None:
    with vector(start_method=start_method) as vec:
        vec.reset(seed=0)
        observations, rewards, _, truncated, infos = vec.step(["kill", "sleep", "go", "go"])
        assert truncated.tolist() == [True, True, False, False]
        assert rewards.tolist() == [0.0, 0.0, 0.5, 0.5]
        assert [o.split()[0] for o in observations] == ["start", "start", "go", "go"]
        for i in (0, 1):
            assert infos[i]["error"].startswith(
                f"environment {i} (Counter) failed in step: its worker process was killed"
            )
            assert "SIGKILL" in infos[i]["error"]
        assert [o.split()[1] for o in vec.step(["go"] * 4)[0]] == ["1", "1", "2", "2"]


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_a_worker_killed_between_two_steps(mode: str) -> None:
    with vector(n=2, autoreset=mode) as vec:
        vec.reset(seed=0)
        pids = [i["pid"] for i in vec.step(["go", "go"])[4]]
        os.kill(pids[1], signal.SIGKILL)
        seen = [vec.step({1: "go"}) for _ in range(1)]
        observations, _, _, truncated, infos = seen[0]
        assert truncated.tolist() == [True]
        assert "SIGKILL" in infos[0]["error"]
        assert observations[0] == "" if mode != "same_step" else observations[0].startswith("start")
        if mode == "disabled":
            vec.reset(indices=[1])
        assert vec.step(["go", "go"])[0][0].split()[1] == "2"


def test_what_replaces_a_killed_worker_is_reproducible() -> None:
    seen = []
    for _ in range(2):
        with vector(n=2) as vec:
            vec.reset(seed=5)
            seen.append(vec.step(["kill", "go"])[0][0] + vec.step(["kill", "go"])[0][0])
    assert seen[0] == seen[1]


def test_a_worker_that_dies_in_a_reset() -> None:
    class DiesInReset(Counter):
        def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            if options:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().reset(seed)

    with vector(DiesInReset, n=2) as vec:
        _, infos = vec.reset(seed=0, options=[{"die": True}, None])
        assert "failed in reset: its worker process was killed by SIGKILL" in infos[0]["error"]
        assert "error" not in infos[1]
        assert vec.step(["go", "go"])[0][0].startswith("start")


def test_an_environment_that_cannot_be_made_again_is_reported_and_tried_again(tmp_path: Path) -> None:
    flag = tmp_path / "broken"

    def source() -> gem.Env:
        if flag.exists():
            raise OSError("no room")
        return Counter()

    with vector(source, n=2) as vec:
        vec.reset(seed=0)
        flag.touch()
        *_, infos = vec.step(["kill", "go"])
        assert "SIGKILL" in infos[0]["error"]
        *_, truncated, infos = vec.step(["go", "go"])
        assert truncated.tolist() == [True, False]
        assert "OSError: no room" in infos[0]["error"]
        flag.unlink()
        assert vec.step(["go", "go"])[0][0].startswith("start")


def test_a_worker_that_cannot_be_started_again_is_reported_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from gem.vector.process import _Worker

    with vector(n=2) as vec:
        vec.reset(seed=0)

        def refuse(worker: _Worker, timeout: float | None, inbox: object) -> dict[int, bool]:
            raise gem.GemError("no processes left")

        with monkeypatch.context() as patched:
            patched.setattr(_Worker, "wait_until_ready", refuse)
            *_, truncated, infos = vec.step(["kill", "go"])
            assert truncated.tolist() == [True, False]
            assert "SIGKILL" in infos[0]["error"]
            *_, infos = vec.step(["go", "go"])
            assert "could not be started again: no processes left" in infos[0]["error"]
            assert "error" not in infos[1]
        assert vec.step(["go", "go"])[0][0].startswith("start")
        assert vec.step(["go", "go"])[0][0].startswith("go 1")


def test_what_a_killed_worker_had_started_goes_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    class Starts(Counter):
        def do_start(self) -> None:
            child = subprocess.Popen(["sleep", "600"])
            note.write_text(str(child.pid))

    with vector(Starts, n=1, num_workers=1) as vec:
        vec.reset(seed=0)
        vec.step(["start"])
        assert alive(int(note.read_text()))
        vec.step(["kill"])
        deadline = time.monotonic() + 10.0
        while alive(int(note.read_text())) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not alive(int(note.read_text()))


@pytest.mark.parametrize("action", ["hang", "spin"])
def test_one_that_hangs_leaves_its_neighbours_alone(action: str) -> None:
    with vector(n=2, num_workers=1, step_timeout=0.8) as vec:
        vec.reset(seed=0)
        pid = vec.step(["go", "go"])[4][0]["pid"]
        observations, _, _, truncated, infos = vec.step([action, "go"])
        assert truncated.tolist() == [True, False]
        assert "no answer within 0.8 s" in infos[0]["error"]
        assert observations[1].split()[1] == "2"
        assert vec.step(["go", "truncate"])[4][1]["final_info"]["pid"] == pid


def test_a_reset_that_hangs_is_reported() -> None:
    with vector(n=2, num_workers=1, reset_timeout=0.8) as vec:
        observations, infos = vec.reset(seed=0, options=[None, {"hang": True}])
        assert observations[0].startswith("start")
        assert "failed in reset: no answer within 0.8 s" in infos[1]["error"]
        assert vec.step(["go", "go"])[0][1].startswith("start")


def test_a_worker_in_which_nothing_runs_is_killed_and_replaced() -> None:
    with vector(n=2, num_workers=2, step_timeout=0.8) as vec:
        vec.reset(seed=0)
        start = time.monotonic()
        *_, truncated, infos = vec.step(["stop", "go"])
        assert time.monotonic() - start < 20.0
        assert truncated.tolist() == [True, False]
        assert "did not respond and was killed" in infos[0]["error"]
        vec.step(["go", "go"])


def test_large_observations_and_actions(start_method: str) -> None:
    with vector(n=2, start_method=start_method, num_workers=1) as vec:
        vec.reset(seed=0)
        action = "y" * 20_000_000
        observations = vec.step(["big", action])[0]
        assert len(observations[0]) == 50_000_000
        assert observations[1].startswith(action)


def test_an_outcome_that_cannot_be_sent() -> None:
    with vector(n=2, num_workers=1) as vec:
        vec.reset(seed=0)
        observations, _, _, truncated, infos = vec.step(["lambda", "go"])
        assert truncated.tolist() == [True, False]
        assert "failed in sending its outcome" in infos[0]["error"]
        assert observations[0].startswith("start")


def test_an_outcome_that_cannot_be_read() -> None:
    class Poison(Exception):
        def __reduce__(self) -> Any:
            return (eval, ("1/0",))

    class Poisonous(Counter):
        def do_poison(self) -> Any:
            return "", 0.0, False, False, {"e": Poison()}

    with vector(Poisonous, n=2) as vec:
        vec.reset(seed=0)
        *_, truncated, infos = vec.step(["poison", "go"])
        assert truncated.tolist() == [True, False]
        assert "failed in receiving its outcome: ZeroDivisionError" in infos[0]["error"]


def test_an_action_that_cannot_be_sent_is_the_callers_error() -> None:
    with vector(n=2) as vec, pytest.raises(TypeError, match="must pickle"):
        vec.reset(options={"f": lambda: None})


def test_what_making_raises_comes_out(start_method: str) -> None:
    with pytest.raises(LookupError, match="no such data set") as caught:
        vector(Unmakeable, start_method=start_method)
    assert "In a worker process" in caught.value.__notes__[0]


def test_closures_travel_by_fork() -> None:
    label = "closed over "

    class Local(Counter):
        def __init__(self) -> None:
            super().__init__(label=label)

    gem.register("vector-test:Local", Local)
    try:
        with make_vec("vector-test:Local", num_envs=2, backend="process", num_workers=2) as vec:
            assert vec.reset(seed=0)[0][0].startswith("closed over start")
    finally:
        from gem.registry import unregister

        unregister("vector-test:Local")


def test_closures_under_spawn_work_or_are_refused_at_creation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(
        gem.GemError, match="define it in a module, pip install cloudpickle, or use start_method='fork'"
    ):
        vector(lambda: Counter(), start_method="spawn")
    gem.register("vector-test:Lambda", lambda: Counter())
    try:
        with pytest.raises(gem.GemError, match="define it in a module"):
            make_vec("vector-test:Lambda", num_envs=2, backend="process", start_method="spawn")
    finally:
        from gem.registry import unregister

        unregister("vector-test:Lambda")


def test_unknown_start_method() -> None:
    with pytest.raises(ValueError, match="'spawn' or 'fork', got 'thread'"):
        vector(start_method="thread")


def test_awaiting_environments_await_in_workers() -> None:
    with vector(Awaiting, n=100, num_workers=2) as vec:
        vec.reset(seed=0)
        infos = vec.step(["go"] * 100)[4]
        assert len({(i["pid"], i["thread"]) for i in infos}) == 2


def test_close_with_steps_that_hang(start_method: str) -> None:
    vec = vector(start_method=start_method)
    vec.reset(seed=0)
    pids = [i["pid"] for i in vec.step(["go"] * 4)[4]]
    vec.send(["hang", "spin", "stop", "go"])
    start = time.monotonic()
    vec.close()
    assert time.monotonic() - start < 5.0
    assert not any(alive(pid) for pid in pids)


# -- whole programs ------------------------------------------------------------------------------------

MAIN = """
    import gem, os, sys, time
    from gem.vector import make_vec
    from vector_toys import Counter

    class Mine(Counter):
        pass

    gem.register("mine:Env", lambda: Mine(label="mine "))
    gem.register("mine:Class", Mine)
"""


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.parametrize("cloudpickle", [True, False])
def test_environments_of_the_script_itself(tmp_path: Path, method: str, cloudpickle: bool) -> None:
    ended = script(
        tmp_path,
        MAIN
        + f"""
    if __name__ == "__main__":
        if not {cloudpickle}:
            sys.modules["cloudpickle"] = None
        with make_vec("mine:Class", num_envs=2, backend="process", start_method="{method}", num_workers=2) as vec:
            vec.reset(seed=0)
            print(len({{i["pid"] for i in vec.step(["go", "go"])[4]}} - {{os.getpid()}}))
    """,
    )
    assert (ended.stdout, ended.stderr) == ("2\n", "")


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    ended = script(
        tmp_path,
        MAIN
        + """
    sys.modules["cloudpickle"] = None
    make_vec("mine:Class", num_envs=2, backend="process", start_method="spawn", num_workers=1)
    """,
    )
    assert ended.returncode == 1
    assert "if __name__ == '__main__'" in ended.stderr.strip().splitlines()[-1] + ended.stderr


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_survives_the_vector(tmp_path: Path, method: str, how: signal.Signals) -> None:
    program = tmp_path / "main.py"
    program.write_text(
        textwrap.dedent(
            MAIN
            + f"""
    if __name__ == "__main__":
        vec = make_vec(Counter, num_envs=4, backend="process", start_method="{method}", num_workers=2)
        vec.reset(seed=0)
        print(*{{i["pid"] for i in vec.step(["go"] * 4)[4]}}, flush=True)
        vec.step(["hang", "spin", "hang", "spin"])
    """
        )
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(
        [sys.executable, str(program)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        time.sleep(0.1)
        process.send_signal(how)
        process.wait(timeout=20)
    assert len(pids) == 2
    deadline = time.monotonic() + 15.0
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(alive(pid) for pid in pids)
