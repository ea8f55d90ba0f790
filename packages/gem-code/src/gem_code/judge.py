"""Running a program against tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gem_code.compare import same_output, same_value
from gem_code.program_tests import ProgramTest
from gem_tools.python import Case, ExecutionResult, Executor

Reason = Literal["correct", "wrong", "error", "timeout"]

#: Output kept of each run: a right answer may be long.
OUTPUT_KB = 16 * 1024


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a program fared."""

    reason: Reason
    passed: int
    #: Tests there are, run or not.
    total: int
    #: On the first test that failed: one line.
    detail: str = ""


@lru_cache(maxsize=8)
def executor(backend: Literal["isolated", "subprocess"], memory_mb: int) -> Executor:
    """The executor of this process, shared by its environments."""
    return Executor(backend, memory_mb=memory_mb, output_kb=OUTPUT_KB, supply_imports=True)


def judge(
    program: str,
    tests: Sequence[ProgramTest],
    runner: Executor,
    *,
    timeout: float,
    workers: int = 1,
    run_all: bool = False,
    tolerance: float = 1e-6,
) -> Judgement:
    """Run ``program`` on every test, up to the first it fails (with ``run_all``, on all of them)."""
    cases = [
        Case(stdin=test.input) if test.function is None else Case(function=test.function, args=test.input)
        for test in tests
    ]
    verdicts: dict[int, str] = {}

    def failed(index: int, result: ExecutionResult) -> bool:
        verdicts[index] = _fault(result, tests[index], tolerance)
        return bool(verdicts[index]) and not run_all

    results = runner.run_many(program, cases, timeout=timeout, until=failed, workers=workers)
    # Runs beside the one that failed may have ended too; the first failure in order is the one that is told.
    faults = [index for index in sorted(verdicts) if verdicts[index]]
    passed = sum(1 for index in range(len(results)) if not verdicts[index])
    if not faults:
        return Judgement("correct", passed, len(tests))
    first = faults[0]
    result = results[first]
    reason: Reason = "timeout" if result.reason in ("timeout", "cpu") else "wrong" if result.ok else "error"
    return Judgement(reason, passed, len(tests), f"test {first + 1} of {len(tests)}: {verdicts[first]}")


def _fault(result: ExecutionResult, test: ProgramTest, tolerance: float) -> str:
    """What is wrong with a run, in one line; empty when nothing is."""
    if not result.ok:
        if result.message:
            return result.message
        lines = result.stderr.strip().splitlines()
        return lines[-1][:300] if lines else f"the program ended with status {result.exit_code}"
    if test.function is not None:
        if not result.has_value:
            return "the function returned something that JSON cannot write"
        return "" if same_value(result.value, test.output, tolerance) else "the function returned a wrong value"
    return "" if same_output(result.stdout, test.output, tolerance) else "the output is wrong"
