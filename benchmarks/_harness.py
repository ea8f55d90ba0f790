"""What the benchmarks share: contenders measured in turn, each run in a process of its own; a table and JSON.

A benchmark file defines contenders, functions that return named numbers, and a ``report`` that sets them side by side.
The file runs itself again as ``--contender NAME`` for each measurement, with the interpreter of the published package
for contenders marked ``published``. Only the standard library may be imported at its top.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: What a contender measured: name -> number.
Numbers = dict[str, float]


@dataclass
class Contender:
    """One side of a comparison."""

    run: Callable[[], Numbers]
    #: Whether it runs on the published package.
    published: bool = False


@dataclass
class Row:
    """One line of the table."""

    what: str
    measured: str
    asked: str = ""
    held: bool | None = None


class Clock:
    """CPU seconds of this process and of its children that ended, and wall seconds, since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = self._now(), time.perf_counter()

    @staticmethod
    def _now() -> float:
        usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    @property
    def cpu(self) -> float:
        return self._now() - self._cpu

    @property
    def wall(self) -> float:
        return time.perf_counter() - self._wall


def resident_megabytes() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main(
    title: str, contenders: dict[str, Contender], report: Callable[[dict[str, Numbers]], list[Row]], repeats: int = 5
) -> None:
    """Run a benchmark file: measure every contender ``repeats`` times in turn, print medians and what they mean."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--published", metavar="PYTHON", help="interpreter in whose environment gem-llm is installed")
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--json", metavar="FILE", help="write numbers there")
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contender:
        print(json.dumps(contenders[arguments.contender].run()))
        return

    chosen = {name: c for name, c in contenders.items() if arguments.published or not c.published}
    if len(chosen) < len(contenders):
        print("without --published PYTHON: python -m venv V && V/bin/pip install gem-llm==0.1.0\n")
    runs: dict[str, list[Numbers]] = {name: [] for name in chosen}
    for _ in range(arguments.repeats):  # in turn, so that a busy moment of the machine hits every contender
        for name, contender in chosen.items():
            runs[name].append(_measure(name, arguments.published if contender.published else sys.executable))
    medians = {
        name: {key: statistics.median(run[key] for run in several) for key in several[0]}
        for name, several in runs.items()
    }
    rows = report(medians)
    _print(title, rows)
    if arguments.json:
        result = {"title": title, "medians": medians, "runs": runs, "rows": [vars(row) for row in rows]}
        Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")


def _measure(name: str, python: str) -> Numbers:
    # numpy's OpenBLAS starts threads that spin for a while before they sleep: CPU time that is no contender's.
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run([python, sys.argv[0], "--contender", name], capture_output=True, text=True, env=environ)
    if ended.returncode:
        raise SystemExit(f"{name} failed:\n{ended.stderr}")
    numbers: Numbers = json.loads(ended.stdout.strip().splitlines()[-1])
    return numbers


def _print(title: str, rows: list[Row]) -> None:
    cells = [("", "measured", "asked", "")]
    cells += [(r.what, r.measured, r.asked, {True: "held", False: "NOT HELD", None: ""}[r.held]) for r in rows]
    widths = [max(len(line[k]) for line in cells) for k in range(4)]
    print(title)
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
