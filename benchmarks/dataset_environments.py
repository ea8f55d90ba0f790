"""Resets of data set environments: question answering over 70,000 rows, and reasoning-gym against itself.

python benchmarks/dataset_environments.py --published PATH/TO/PYTHON
"""

from __future__ import annotations

import statistics
import time

from _harness import Clock, Contender, Numbers, Row, main

ROWS = 70_000
RESETS = 60_000


def rows() -> list[dict[str, str]]:
    return [{"question": f"Who wrote book number {n}?", "answer": f"author {n}"} for n in range(ROWS)]


def ours_qa() -> Numbers:
    from datasets import Dataset

    from gem_qa.env import QaEnv

    return _qa(lambda data: QaEnv(dataset=data), Dataset.from_list(rows()), RESETS)


def published_qa() -> Numbers:
    from datasets import Dataset, disable_progress_bars

    from gem.envs.qa_env import QaEnv

    disable_progress_bars()
    return _qa(lambda data: QaEnv(dataset=data, load_from_cache_file=False), Dataset.from_list(rows()), RESETS // 20)


def _qa(make, data, resets: int) -> Numbers:  # type: ignore[no-untyped-def]
    clock = Clock()
    env = make(data)
    first = clock.cpu
    clock = Clock()
    make(data)
    second = clock.cpu
    env.reset()
    clock = Clock()
    for _ in range(resets):
        env.reset()
    return {"first_s": first, "second_s": second, "resets": resets / clock.cpu}


def reasoning() -> Numbers:
    """Both sides in one process, in turn: the ratio matters, not the rates."""
    import reasoning_gym

    from gem_reasoning.env import ReasoningGymEnv

    size = 300
    numbers: Numbers = {}
    for name in ("chain_sum", "basic_arithmetic", "letter_counting", "leg_counting", "gcd"):
        env, dataset = ReasoningGymEnv(name, size=10**9), reasoning_gym.create_dataset(name, size=10**9, seed=42)
        costs: tuple[list[float], list[float]] = [], []
        for turn in range(40):
            begin = time.process_time()
            for idx in range(turn * size, (turn + 1) * size):
                dataset[idx]
            costs[0].append(time.process_time() - begin)
            env._next = turn * size
            begin = time.process_time()
            for _ in range(size):
                env.reset()
            costs[1].append(time.process_time() - begin)
        numbers[name] = statistics.median(costs[0]) / statistics.median(costs[1])
    return numbers


def prefetch() -> Numbers:
    """How long a reset keeps the trainer waiting, which is busy elsewhere for 0.3 s between two."""
    from gem_reasoning.env import ReasoningGymEnv

    waits = {}
    for ahead in (True, False):
        env = ReasoningGymEnv("zebra_puzzles", prefetch=ahead)
        for _ in range(3):
            env.reset()
        time.sleep(3.0)
        waited = 0.0
        for _ in range(6):
            time.sleep(0.3)
            begin = time.perf_counter()
            env.reset()
            waited += time.perf_counter() - begin
        waits["ahead_ms" if ahead else "in_line_ms"] = waited / 6 * 1000
    return waits


def report(medians: dict[str, Numbers]) -> list[Row]:
    qa, gym, ahead = medians["ours_qa"], medians["reasoning"], medians["prefetch"]
    out = [
        Row("QA: resets a CPU second", f"{qa['resets']:,.0f}"),
        Row("QA: construction over 70,000 rows, first and second", f"{qa['first_s']:.3f} s, {qa['second_s']:.3f} s"),
    ]
    if "published_qa" in medians:
        theirs = medians["published_qa"]
        ratio = qa["resets"] / theirs["resets"]
        out += [
            Row("QA, published: resets a CPU second", f"{theirs['resets']:,.0f}"),
            Row("QA: times the published", f"{ratio:.0f}", "20", ratio >= 20),
            Row("QA, published: construction", f"{theirs['first_s']:.1f} s, {theirs['second_s']:.1f} s"),
        ]
    worst = min(gym, key=lambda name: gym[name])
    out.append(
        Row(
            f"reasoning-gym: reset against the library ({worst}, the worst)",
            f"{gym[worst]:.2f}",
            "0.95",
            gym[worst] >= 0.95,
        )
    )
    shown = f"{ahead['ahead_ms']:.1f} ms, {ahead['in_line_ms']:.1f} ms"
    out.append(Row("zebra puzzles: wait for a reset, made ahead and in line", shown))
    return out


CONTENDERS = {
    "ours_qa": Contender(ours_qa),
    "published_qa": Contender(published_qa, published=True),
    "reasoning": Contender(reasoning),
    "prefetch": Contender(prefetch),
}

if __name__ == "__main__":
    main("Data set environments", CONTENDERS, report, repeats=3)
