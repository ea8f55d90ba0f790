"""Stepping in line and on threads: environments that cost nothing, and GuessTheNumber.

Against the published package, against a bare Python loop over the same environments, and against what a list of results
and numpy alone cost. Steps per CPU second, median of runs taken in turn.

    python benchmarks/vector_inline.py --published PYTHON [--json FILE]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import Any

from _harness import Clock, Contender, Numbers, Row, main

GUESS = "game:GuessTheNumber-v0-hard"


def actions(n: int) -> list[list[str]]:
    """Fifty batches of guesses that differ from each other; episodes of every length come about."""
    return [[f"My guess: \\boxed{{{(7 * k + 13 * i) % 50 + 1}}}" for i in range(n)] for k in range(50)]


def null_class() -> type[Any]:
    import gem

    class Null(gem.Env):
        """Does nothing."""

        def reset(self, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
            return "", {}

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            return "", 0.0, False, False, {}

    return Null


def rate(n: int, steps: int, step: Callable[[list[str]], Any]) -> Numbers:
    batches = actions(n)
    for batch in batches[:5]:
        step(batch)
    clock = Clock()
    for _, batch in zip(range(steps), cycle(batches), strict=False):
        step(batch)
    cpu, wall = clock.cpu, clock.wall
    return {"per_cpu_second": n * steps / cpu, "per_second": n * steps / wall}


def ours(source: str, n: int, steps: int, **options: Any) -> Numbers:
    import gem

    with gem.make_vec(null_class() if source == "null" else source, num_envs=n, **options) as vec:
        vec.reset(seed=0)
        return rate(n, steps, vec.step)


def published(source: str, n: int, steps: int, async_mode: bool = False) -> Numbers:
    if source == "null":
        from gem.vector.sync_vector_env import SyncVectorEnv

        vec = SyncVectorEnv(env_ids=["null"] * n, env_fns=[null_class()] * n)
    else:
        import gem

        vec = gem.make_vec([source] * n, vec_kwargs=[{} for _ in range(n)], async_mode=async_mode)
    vec.reset(seed=0)
    return rate(n, steps, vec.step)


def bare(source: str, n: int, steps: int) -> Numbers:
    """Step each environment, reset it when it ended, keep nothing."""
    import gem

    envs = [null_class()() if source == "null" else gem.make(source) for _ in range(n)]
    for i, env in enumerate(envs):
        env.reset(seed=i)

    def step(batch: list[str]) -> None:
        for env, action in zip(envs, batch, strict=True):
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()

    return rate(n, steps, step)


def collecting(source: str, n: int, steps: int) -> Numbers:
    """The same, with the results in five lists."""
    import gem

    envs = [gem.make(source) for _ in range(n)]
    for i, env in enumerate(envs):
        env.reset(seed=i)

    def step(batch: list[str]) -> Any:
        observations, rewards, terminations, truncations, infos = [], [], [], [], []
        for env, action in zip(envs, batch, strict=True):
            observation, reward, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                observation, info = env.reset()
            observations.append(observation)
            rewards.append(reward)
            terminations.append(terminated)
            truncations.append(truncated)
            infos.append(info)
        return observations, rewards, terminations, truncations, infos

    return rate(n, steps, step)


def floor(n: int, steps: int) -> Numbers:
    """A list of results and the arrays that a vector returns."""
    import numpy as np

    envs = [null_class()() for _ in range(n)]

    def step(batch: list[str]) -> Any:
        results = [env.step(action) for env, action in zip(envs, batch, strict=True)]
        return (
            results,
            np.array([r[1] for r in results]),
            np.array([r[2] for r in results]),
            np.array([r[3] for r in results]),
        )

    return rate(n, steps, step)


NULL = ((64, 8000), (4096, 125))
CONTENDERS = {
    **{f"floor, null x {n}": Contender(partial(floor, n, k)) for n, k in NULL},
    **{f"ours, null x {n}": Contender(partial(ours, "null", n, k)) for n, k in NULL},
    **{f"published, null x {n}": Contender(partial(published, "null", n, k // 4), published=True) for n, k in NULL},
    "bare loop": Contender(partial(bare, GUESS, 64, 3000)),
    "collecting loop": Contender(partial(collecting, GUESS, 64, 3000)),
    "ours, sync": Contender(partial(ours, GUESS, 64, 3000)),
    "ours, thread": Contender(partial(ours, GUESS, 64, 3000, backend="thread")),
    "ours, thread with a time limit": Contender(partial(ours, GUESS, 64, 3000, backend="thread", step_timeout=10.0)),
    "published, bare loop": Contender(partial(bare, GUESS, 64, 1000), published=True),
    "published, sync": Contender(partial(published, GUESS, 64, 1000), published=True),
    "published, thread": Contender(partial(published, GUESS, 64, 300, async_mode=True), published=True),
}


def report(medians: dict[str, Numbers]) -> list[Row]:
    cpu = {name: numbers["per_cpu_second"] for name, numbers in medians.items()}
    rows = [Row(name, f"{value / 1e3:.0f} k steps per CPU second") for name, value in cpu.items()]
    for n, _ in NULL:
        if f"published, null x {n}" in cpu:
            ratio = cpu[f"ours, null x {n}"] / cpu[f"published, null x {n}"]
            rows.append(Row(f"null x {n}: ours / published", f"{ratio:.1f}", "4", ratio >= 4))
        ratio = cpu[f"ours, null x {n}"] / cpu[f"floor, null x {n}"]
        rows.append(Row(f"null x {n}: ours / list and numpy alone", f"{ratio:.2f}"))
    for against in ("bare loop", "collecting loop"):
        for backend, asked in (("sync", 0.85), ("thread", 0.6), ("thread with a time limit", None)):
            ratio = cpu[f"ours, {backend}"] / cpu[against]
            held = None if asked is None else ratio >= asked
            rows.append(Row(f"GuessTheNumber x 64: {backend} / {against}", f"{ratio:.2f}", str(asked or ""), held))
    for backend in ("sync", "thread"):
        if "published, bare loop" in cpu:
            ratio = cpu[f"published, {backend}"] / cpu["published, bare loop"]
            rows.append(Row(f"the same, published: {backend} / bare loop", f"{ratio:.2f}"))
    return rows


if __name__ == "__main__":
    main("Vector execution of steps that cost little", CONTENDERS, report)
