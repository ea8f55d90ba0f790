"""Judging programs against tests: time of a verdict, isolated, beside the published package (which is not isolated).

python benchmarks/code_judging.py --published PATH/TO/PYTHON
"""

from __future__ import annotations

import time
from collections.abc import Callable

from _harness import Clock, Contender, Numbers, Row, main

TESTS = {"inputs": [f"{n}\n" for n in range(12)], "outputs": [f"{2 * n}\n" for n in range(12)]}
RIGHT = "```python\nn = int(input())\nprint(2 * n)\n```"
NAME_ERROR = "```python\nn = int(input())\nprint(undefined_name)\n```"
ENDLESS = "```python\nwhile True:\n    pass\n```"
ROWS = [{"problem": "Double the number.", "tests": TESTS}]


def judged(judge: Callable[[str], object], close: Callable[[], object], repeats: int, endless: bool) -> Numbers:
    judge(RIGHT)  # warm: interpreters and pools are started once
    judge(NAME_ERROR)
    numbers: Numbers = {}
    begin = time.perf_counter()
    for _ in range(repeats):
        judge(NAME_ERROR)
    numbers["name_error_wall"] = (time.perf_counter() - begin) / repeats
    if endless:
        begin = time.perf_counter()
        judge(ENDLESS)
        numbers["endless_wall"] = time.perf_counter() - begin
    clock = Clock()
    begin = time.perf_counter()
    for _ in range(repeats):
        judge(RIGHT)
    numbers["right_wall"] = (time.perf_counter() - begin) / repeats
    close()  # so that the processor time of what served the runs is counted
    numbers["right_cpu"] = clock.cpu / repeats
    return numbers


def _ours(repeats: int, endless: bool) -> Numbers:
    from gem_code.env import CodeEnv
    from gem_code.judge import executor

    env = CodeEnv(dataset=ROWS, timeout=10.0)

    def judge(response: str) -> None:
        env.reset()
        env.step(response)

    return judged(judge, lambda: executor("isolated", 1024).close(), repeats, endless)


def ours() -> Numbers:
    return _ours(20, endless=False)


def ours_endless() -> Numbers:
    return _ours(1, endless=True)


def ours_started() -> Numbers:
    """Start-up and end of the warm interpreters alone, which ``right_cpu`` includes."""
    return _ours(0 + 1, endless=False)


def _published(repeats: int, endless: bool) -> Numbers:
    from datasets import Dataset

    from gem.envs.code_env import CodeEnv

    env = CodeEnv(dataset=Dataset.from_list(ROWS), dataset_name="taco")

    def judge(response: str) -> None:
        env.reset()
        env.step(response)

    return judged(judge, lambda: None, repeats, endless)


def published() -> Numbers:
    return _published(3, endless=False)


def published_endless() -> Numbers:
    return _published(1, endless=True)


def report(medians: dict[str, Numbers]) -> list[Row]:
    many, once = medians["ours"], medians["ours_started"]
    # 20 verdicts against 1: the difference is what 19 verdicts cost, start-up left out
    cpu = (many["right_cpu"] * 20 - once["right_cpu"]) / 19
    endless = medians["ours_endless"]["endless_wall"]
    rows = [
        Row("12 tests, right program: CPU a verdict", f"{cpu * 1000:.1f} ms"),
        Row("NameError: wall time to the verdict", f"{many['name_error_wall'] * 1000:.1f} ms"),
        Row("endless loop at limit 10 s: wall time", f"{endless:.1f} s", "about one limit", endless < 13),
    ]
    if "published" in medians:
        theirs = medians["published"]
        ratio, speed = theirs["right_cpu"] / cpu, theirs["name_error_wall"] / many["name_error_wall"]
        rows += [
            Row("published: CPU a verdict", f"{theirs['right_cpu'] * 1000:.0f} ms"),
            Row("times less CPU", f"{ratio:.1f}", "8", ratio >= 8),
            Row("published: NameError", f"{theirs['name_error_wall'] * 1000:,.0f} ms"),
            Row("times quicker", f"{speed:.0f}", "100", speed >= 100),
            Row("published: endless loop", f"{medians['published_endless']['endless_wall']:.1f} s"),
        ]
    return rows


CONTENDERS = {
    "ours": Contender(ours),
    "ours_started": Contender(ours_started),
    "ours_endless": Contender(ours_endless),
    "published": Contender(published, published=True),
    "published_endless": Contender(published_endless, published=True),
}

if __name__ == "__main__":
    main("Judging programs", CONTENDERS, report, repeats=1)
