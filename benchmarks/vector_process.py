"""Steps that compute for 5 ms: processes against in line, two workers on two processors.

Wall time says little on a machine that is busy with other things; so beside it stands what the CPU time of vector and
workers allows on two processors that are free.

python benchmarks/vector_process.py [--json FILE]
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any

from _harness import Clock, Contender, Numbers, Row, main

N = 16
STEPS = 20


def computing(seconds: float = 0.005) -> Any:
    """An environment whose step takes this much CPU time."""
    import gem

    class Computing(gem.Env):
        def reset(self, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
            return "", {}

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            end = time.thread_time() + seconds
            total = 0
            while time.thread_time() < end:
                total += sum(range(500))
            return "", float(total > 0), False, False, {"pid": os.getpid(), "cpu": time.process_time()}

    return Computing()


def ours(**options: Any) -> Numbers:
    import gem

    with gem.make_vec(computing, num_envs=N, **options) as vec:
        vec.reset(seed=0)
        first = vec.step([""] * N)[4]
        clock = Clock()
        own = time.process_time()
        for _ in range(STEPS):
            last = vec.step([""] * N)[4]
        wall, own = clock.wall, time.process_time() - own
    # A worker's clock is read in each of its steps; the latest of each batch counts.
    before = {i["pid"]: i["cpu"] for i in sorted(first, key=lambda i: i["cpu"])}
    after = {i["pid"]: i["cpu"] for i in sorted(last, key=lambda i: i["cpu"])}
    workers = sum(after[pid] - before[pid] for pid in after if pid != os.getpid())
    return {"per_second": N * STEPS / wall, "cpu_a_step_ms": 1000 * (own + workers) / N / STEPS}


def idle() -> Numbers:
    """How many of two processors this machine has to give: two bare processes that compute."""
    start = os.times()
    began = time.perf_counter()
    children = []
    for _ in range(2):
        pid = os.fork()
        if not pid:
            end = time.perf_counter() + 1.0
            while time.perf_counter() < end:
                sum(range(500))
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    now = os.times()
    return {"processors": (now.children_user - start.children_user) / (time.perf_counter() - began)}


CONTENDERS = {
    "in line": Contender(partial(ours, backend="sync")),
    "two processes, spawn": Contender(partial(ours, backend="process", num_workers=2, start_method="spawn")),
    "two processes, fork": Contender(partial(ours, backend="process", num_workers=2, start_method="fork")),
    "threads": Contender(partial(ours, backend="thread")),
    "two bare processes": Contender(idle),
}


def report(medians: dict[str, Numbers]) -> list[Row]:
    rows = [
        Row(name, f"{m['per_second']:.0f} steps/s, {m['cpu_a_step_ms']:.2f} ms CPU a step")
        for name, m in medians.items()
        if "per_second" in m
    ]
    rows.append(Row("processors to be had now", f"{medians['two bare processes']['processors']:.2f}"))
    for name in ("two processes, spawn", "two processes, fork"):
        ratio = medians[name]["per_second"] / medians["in line"]["per_second"]
        rows.append(Row(f"{name} / in line, by the clock", f"{ratio:.2f}", "1.8", ratio >= 1.8))
        ratio = 2 * medians["in line"]["cpu_a_step_ms"] / medians[name]["cpu_a_step_ms"]
        rows.append(Row(f"{name} / in line, by CPU time", f"{ratio:.2f}", "1.8", ratio >= 1.8))
    return rows


if __name__ == "__main__":
    main("Vector execution of steps that compute", CONTENDERS, report, repeats=3)
