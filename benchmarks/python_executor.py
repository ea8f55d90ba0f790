"""What it costs to run a model's Python: the isolated executor against the published package's, in one run.

    python benchmarks/python_executor.py --published /path/to/python-with-gem-llm [--json FILE]

CPU is that of this process and of everything it started (``getrusage``), start-up excluded by measuring two
run lengths. Rounds of both packages alternate, and the ratio is that of the medians, so that a busy machine
slows both alike. The published package runs without isolation here, its quicker mode.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = {
    "print": "print(1+1)",
    "numpy": "import numpy as np\nx = np.arange(10.0)\nprint(float((x @ x).sum()))",
    "lacks an import": "print(sqrt(16) + np.array([1, 2]).sum())",
}
#: What is asked: (measure, program, at least this many times less or more)
TARGETS = {"print": 8.0, "numpy": 20.0, "lacks an import": 50.0, "8 threads": 6.0}


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def ours(code: str, runs: int, threads: int = 1) -> dict[str, float]:
    """CPU and wall seconds a run; interpreters are started and warmed before the clock, and ended before it is read."""
    from gem_tools.python import Executor

    def go(count: int) -> tuple[float, float]:
        before = cpu()
        with Executor(timeout=20.0, slots=1 if threads == 1 else None) as executor:
            for _ in range(6 * executor.slots):
                _check(executor.run(code))
            _threads(lambda: executor.run(code), executor.slots, 4)
            began = time.perf_counter()
            _threads(lambda: _check(executor.run(code)), threads, count // threads)
            wall = time.perf_counter() - began
        return cpu() - before, wall

    base, _ = go(0)
    total, wall = go(runs)
    return {"cpu": max(total - base, 1e-9) / runs, "wall": wall / runs}


def _check(result) -> None:
    if not result.ok:
        raise RuntimeError(f"the program failed: {result.stderr or result.message}")


def published_main() -> None:
    """Runs inside the published package's interpreter."""
    from gem.utils.sandbox import run_python

    code, runs, threads = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    run_python("print(1)", "none")
    before, began = cpu(), time.perf_counter()

    def one() -> None:
        ok, _, err = run_python(code, "none")
        if not ok:
            raise RuntimeError(err)

    _threads(one, threads, runs // threads)
    print(json.dumps({"cpu": (cpu() - before) / runs, "wall": (time.perf_counter() - began) / runs}))


def published(python: str, code: str, runs: int, threads: int = 1) -> dict[str, float]:
    environment = {**os.environ, "PATH": f"{Path(python).parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:  # it leaves its own folders in the working directory
        done = subprocess.run(
            [python, str(Path(__file__).resolve()), "--inside", code, str(runs), str(threads)],
            capture_output=True, text=True, check=True, cwd=folder, env=environment,
        )  # fmt: skip
    return json.loads(done.stdout)


def _threads(work: Callable[[], object], threads: int, each: int) -> None:
    errors: list[BaseException] = []

    def loop() -> None:
        try:
            for _ in range(each):
                work()
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=loop) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]


def leaks(runs: int) -> dict[str, float]:
    """Descriptors, processes and slots before and after many runs from eight threads."""
    from gem_tools.python import Executor

    def state(executor) -> tuple[int, int, str]:
        inside = "import os; print(os.listdir('/tmp'), os.listdir('/dev/shm'), len(os.listdir('/proc/self/fd')))"
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
        return len(os.listdir("/proc/self/fd")), len(children.read_text().split()), executor.run(inside).stdout

    with Executor(timeout=20.0) as executor:
        _threads(lambda: executor.run("pass"), 8, 4)
        before, began = state(executor), time.perf_counter()
        _threads(lambda: _check(executor.run("open('x', 'w').write('y')")), 8, runs // 8)
        wall = time.perf_counter() - began
        after = state(executor)
    if before != after:
        raise RuntimeError(f"{runs} runs left something: {before} -> {after}")
    return {"runs": runs, "wall": wall}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--published", help="python of an environment with gem-llm 0.1.0; made when not given")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--leak-runs", type=int, default=10_000)
    parser.add_argument("--json", help="write the figures here as well")
    options = parser.parse_args()
    made = None
    if options.published is None:
        made = tempfile.mkdtemp()
        subprocess.run([sys.executable, "-m", "venv", made], check=True)
        subprocess.run([f"{made}/bin/pip", "install", "-q", "gem-llm==0.1.0", "numpy", "pandas"], check=True)
        options.published = f"{made}/bin/python"
    rows = []
    try:
        for name, code in PROGRAMS.items():
            theirs_runs = {"print": 40}.get(name, 4)
            pairs = [(published(options.published, code, theirs_runs), ours(code, 300)) for _ in range(options.rounds)]
            row = {"what": name, "target": TARGETS[name]}
            for i, who in enumerate(("published", "ours")):
                for what in ("cpu", "wall"):
                    row[f"{who} {what} ms"] = statistics.median(p[i][what] for p in pairs) * 1e3
            # an import was the complaint in wall time, the rest in CPU
            row["ratio cpu"] = row["published cpu ms"] / row["ours cpu ms"]
            row["ratio wall"] = row["published wall ms"] / row["ours wall ms"]
            rows.append(row)
        code = PROGRAMS["print"]
        pairs = [(published(options.published, code, 160, 8), ours(code, 1600, 8)) for _ in range(options.rounds)]
        theirs, mine = (statistics.median(1 / p[i]["wall"] for p in pairs) for i in (0, 1))
        threads = {"published": theirs, "ours": mine, "ratio": mine / theirs, "target": TARGETS["8 threads"]}
        leak = leaks(options.leak_runs)
    finally:
        if made is not None:
            shutil.rmtree(made)
    print("| program | published CPU ms | ours CPU ms | times less | asked | published wall ms | ours wall ms |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['what']} | {row['published cpu ms']:.1f} | {row['ours cpu ms']:.2f} | {row['ratio cpu']:.1f} | "
            f"{row['target']:g} | {row['published wall ms']:.0f} | {row['ours wall ms']:.2f} |"
        )
    print(
        f"\n8 threads, runs a second: published {threads['published']:.0f}, ours {threads['ours']:.0f}, "
        f"{threads['ratio']:.1f} times (asked {threads['target']:g})"
    )
    print(f"{leak['runs']} runs from 8 threads left no process, descriptor or file ({leak['wall']:.0f} s)")
    figures = {
        "programs": rows,
        "threads": threads,
        "leaks": leak,
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
    }
    print(json.dumps(figures))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        published_main()
    else:
        main()
