"""Steps that wait: 64, 512 and 4,096 environments, log-normal waits of mean 50 ms and sigma 1.

``send`` and ``recv`` never wait for the slowest. Work-conserving is what as many loops reach that each wait for their
own environment alone: environments over the mean wait that was drawn. Where that is more than one interpreter steps in
a second of its CPU time, this is the limit, and the table says so; a bare event loop and bare threads over the same
waits show what of it is Python's own. Then the reset of 64 environments that take 50 ms, and memory.

    python benchmarks/vector_waiting.py --published PYTHON [--json FILE]
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from functools import partial
from math import log
from typing import Any

from _harness import Clock, Contender, Numbers, Row, main, resident_megabytes

SECONDS = 3.0
SIZES = (64, 512, 4096)
ASKED = {64: 0.95, 512: 0.9, 4096: 0.8}


class Waits:
    """Log-normal waits as actions, and the sum of those drawn."""

    def __init__(self, mean: float = 0.05, sigma: float = 1.0) -> None:
        self._random = random.Random(0)
        self._mu, self._sigma = log(mean) - sigma * sigma / 2, sigma
        self.total, self.count = 0.0, 0

    def draw(self) -> str:
        wait = self._random.lognormvariate(self._mu, self._sigma)
        self.total += wait
        self.count += 1
        return repr(wait)


def waiting_class(awaits: bool) -> type[Any]:
    import gem

    class Waiting(gem.Env):
        """Waits as long as the action says."""

        def reset(self, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
            if options:
                time.sleep(options["wait"])
            return "", {}

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            time.sleep(float(action))
            return "", 0.0, False, False, {}

    class Awaiting(Waiting):
        async def astep(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            await asyncio.sleep(float(action))
            return "", 0.0, False, False, {}

    return Awaiting if awaits else Waiting


def result(done: int, waits: Waits, n: int, clock: Clock, before: float = 0.0, **more: float) -> Numbers:
    cpu, wall = clock.cpu, clock.wall
    conserving = n / (waits.total / waits.count)
    return {
        "per_second": done / wall,
        "conserving": conserving,
        "share": done / wall / conserving,
        "per_cpu_second": done / cpu,
        "processors": cpu / wall,
        "megabytes": resident_megabytes() - before,
        **more,
    }


def ours(n: int, awaits: bool) -> Numbers:
    import gem

    environment = waiting_class(awaits)
    with gem.make_vec(environment, num_envs=64, async_mode=True) as vec:
        vec.reset()
        start = time.perf_counter()
        vec.reset(options={"wait": 0.05})
        reset = time.perf_counter() - start
    before = resident_megabytes()
    waits = Waits()
    with gem.make_vec(environment, num_envs=n, async_mode=True) as vec:
        vec.reset()
        vec.send([waits.draw() for _ in range(n)])
        warm, done, clock = time.perf_counter() + 1.0, 0, Clock()
        while clock.wall < SECONDS:
            ready = vec.recv().indices.tolist()
            done += len(ready)
            vec.send([waits.draw() for _ in ready], ready)
            if warm and time.perf_counter() > warm:  # threads are there now
                warm, done, clock = 0.0, 0, Clock()
        return result(done, waits, n, clock, before, threads=threading.active_count(), reset=reset)


def bare_loop(n: int) -> Numbers:
    """As many tasks of an event loop that do nothing but wait."""
    waits = Waits()
    done = 0

    async def task() -> None:
        nonlocal done
        while True:
            await asyncio.sleep(float(waits.draw()))
            done += 1

    async def run() -> Numbers:
        nonlocal done
        tasks = [asyncio.create_task(task()) for _ in range(n)]
        await asyncio.sleep(1.0)
        done, clock = 0, Clock()
        await asyncio.sleep(SECONDS)
        numbers = result(done, waits, n, clock)
        for one in tasks:
            one.cancel()
        return numbers

    return asyncio.run(run())


def bare_threads(n: int) -> Numbers:
    """As many threads that do nothing but wait."""
    waits = Waits()
    counts = [0] * n
    over = False

    def wait(i: int) -> None:
        while not over:
            time.sleep(float(waits.draw()))
            counts[i] += 1

    threads = [threading.Thread(target=wait, args=(i,), daemon=True) for i in range(n)]
    for thread in threads:
        thread.start()
    time.sleep(1.0)
    before, clock = sum(counts), Clock()
    time.sleep(SECONDS)
    numbers = result(sum(counts) - before, waits, n, clock)
    over = True
    return numbers


def published(n: int) -> Numbers:
    """Whole batches, each as long as its slowest step."""
    from gem.vector.async_vector_env import AsyncVectorEnv

    environment = waiting_class(False)
    before = resident_megabytes()
    vec = AsyncVectorEnv(env_ids=["waiting"] * n, env_fns=[environment] * n)
    vec.reset()
    waits = Waits()
    done, clock = 0, Clock()
    while clock.wall < SECONDS:
        vec.step([waits.draw() for _ in range(n)])
        done += n
    return result(done, waits, n, clock, before, threads=threading.active_count())


CONTENDERS = {
    **{f"ours, awaiting x {n}": Contender(partial(ours, n, True)) for n in SIZES},
    **{f"ours, blocking x {n}": Contender(partial(ours, n, False)) for n in SIZES},
    **{f"bare event loop x {n}": Contender(partial(bare_loop, n)) for n in SIZES},
    **{f"bare threads x {n}": Contender(partial(bare_threads, n)) for n in SIZES[:2]},
    **{f"published x {n}": Contender(partial(published, n), published=True) for n in SIZES},
}


def report(medians: dict[str, Numbers]) -> list[Row]:
    rows = []
    for name, m in medians.items():
        n = int(name.rpartition(" ")[2])
        what = f"{m['per_second']:,.0f}/s of {m['conserving']:,.0f}: {m['share']:.2f}"
        what += f"; {m['per_cpu_second']:,.0f} per CPU second, {m['processors']:.2f} processors"
        asked, held = "", None
        if name.startswith("ours"):
            asked, held = str(ASKED[n]), m["share"] >= ASKED[n]
            if not held and m["conserving"] > m["per_cpu_second"]:
                # More than one processor's worth of Python: the interpreter lock does not let it be used.
                asked, held = f"the CPU's limit: {m['per_cpu_second'] / m['conserving']:.2f}", None
        rows.append(Row(name, what, asked, held))
    for kind in ("awaiting", "blocking"):
        m = medians[f"ours, {kind} x 4096"]
        rows.append(Row(f"threads, {kind} x 4096", f"{m['threads']:.0f}", "< 4096", m["threads"] < 4096))
        rows.append(Row(f"memory, {kind} x 4096", f"{m['megabytes']:.0f} MB", "100 MB", m["megabytes"] < 100))
        reset = medians[f"ours, {kind} x 64"]["reset"]
        rows.append(Row(f"reset of 64 that take 50 ms, {kind}", f"{reset:.3f} s", "0.1 s", reset < 0.1))
    if "published x 4096" in medians:
        rows.append(Row("threads, published x 4096", f"{medians['published x 4096']['threads']:.0f}"))
    return rows


if __name__ == "__main__":
    main("Vector execution of steps that wait", CONTENDERS, report, repeats=3)
