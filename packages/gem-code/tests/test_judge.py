"""Programs against tests, run for real in the isolated executor."""

from __future__ import annotations

import pytest

from gem_code.judge import executor, judge
from gem_code.program_tests import ProgramTest, read_tests
from gem_tools.python import Executor

DOUBLE = [ProgramTest(f"{n}\n", f"{2 * n}\n") for n in range(12)]


@pytest.fixture(scope="module")
def runner() -> Executor:
    return executor("isolated", 512)


def reason(program: str, tests: list[ProgramTest], runner: Executor, **options: object) -> str:
    return judge(program, tests, runner, **{"timeout": 10.0, **options}).reason  # type: ignore[arg-type]


def test_a_right_program_passes_all(runner: Executor) -> None:
    verdict = judge("print(2 * int(input()))", DOUBLE, runner, timeout=10, workers=5)
    assert (verdict.reason, verdict.passed, verdict.total, verdict.detail) == ("correct", 12, 12, "")


@pytest.mark.parametrize(
    "program",
    [
        "import sys\nn=int(input())\nprint(n*2)\nsys.exit()",
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(1 << 26)\n"
        "def main():\n    print(int(input()) * 2)\nt = threading.Thread(target=main)\nt.start()\nt.join()",
        "print(int(input()) * 2)  # never call os.kill",
        "if __name__ == '__main__':\n    print(int(input()) * 2)",
        "import sys\nsys.stdout.buffer.write(str(int(sys.stdin.buffer.readline()) * 2).encode())",
    ],
)
def test_idioms_of_competitions_run(program: str, runner: Executor) -> None:
    assert reason(program, DOUBLE[:2], runner) == "correct"


def test_large_integers(runner: Executor) -> None:
    wanted = 2**20000
    digits = []
    while wanted:
        wanted, digit = divmod(wanted, 10)
        digits.append(str(digit))
    assert reason("print(2**20000)", [ProgramTest("", "".join(reversed(digits)))], runner) == "correct"


def test_the_first_failure_is_told_and_ends_the_judging(runner: Executor) -> None:
    verdict = judge("n = int(input())\nprint(2 * n if n < 3 else 0)", DOUBLE, runner, timeout=10)
    assert (verdict.reason, verdict.passed) == ("wrong", 3)
    assert verdict.detail == "test 4 of 12: the output is wrong"


def test_all_run_when_all_shall(runner: Executor) -> None:
    verdict = judge(
        "n = int(input())\nprint(2 * n if n % 2 else 0)", DOUBLE, runner, timeout=10, run_all=True, workers=4
    )
    assert (verdict.reason, verdict.passed, verdict.total) == ("wrong", 7, 12)  # the odd ones and 0


def test_faults_have_reasons(runner: Executor) -> None:
    error = judge("print(foo)", DOUBLE, runner, timeout=10)
    assert (error.reason, error.passed) == ("error", 0)
    assert error.detail == "test 1 of 12: NameError: name 'foo' is not defined"
    assert judge("print(", DOUBLE, runner, timeout=10).detail.startswith("test 1 of 12: SyntaxError")
    late = judge("while True: pass", DOUBLE, runner, timeout=0.5)
    assert late.reason == "timeout"
    assert "timed out after 0.5 seconds" in late.detail
    assert reason("import os\nos._exit(3)", DOUBLE, runner) == "error"
    assert reason("x = bytearray(10**10)", DOUBLE, runner) == "error"


def test_calls(runner: Executor) -> None:
    tests = read_tests({"fn_name": "f", "inputs": [[1, 2], [3, 4]], "outputs": [3, 7]})
    assert reason("def f(a, b): return a + b", tests, runner) == "correct"
    assert reason("class Solution:\n    def f(self, a, b): return a + b", tests, runner) == "correct"
    assert reason("def f(a, b): return a - b", tests, runner) == "wrong"
    assert reason("def g(): pass", tests, runner) == "error"
    assert reason("def f(a, b): return object()", tests, runner) in ("wrong", "error")
    assert (
        reason(
            "def f(a, b): return (a, b)", read_tests({"fn_name": "f", "inputs": [[1, 2]], "outputs": [[1, 2]]}), runner
        )
        == "correct"
    )


@pytest.mark.parametrize(
    ("program", "given", "wanted"),
    [
        ("import numpy as np\ndef f(a): return np.int64(a)", [3], 3),
        ("import numpy as np\ndef f(a): return np.array([a, a])", [3], [3, 3]),
        ("def f(a): return ((a, 1),)", [3], [[3, 1]]),
        ("def f(a): return a + 'x'", ["y"], ["yx"]),
        ("f = lambda a: sum(a)", [[1, 2]], 3),
        ("class Solution:\n    def f(self, a: List[int]) -> int: return sum(a)", [[1, 2]], 3),
        ("class Solution:\n    @staticmethod\n    def f(a): return sum(a)", [[1, 2]], 3),
        ("def f(a):\n    print('debugging')\n    return a", [3], 3),
        ("def f(a): return {1: a}", [1], {"1": 1}),
        ("def f(a): return a / 3", [1], 0.333333333),
        ("def f(a): return a > 1", [3], "True"),
    ],
)
def test_functions_as_they_are_written(program: str, given: list[object], wanted: object, runner: Executor) -> None:
    tests = read_tests({"fn_name": "f", "inputs": [given], "outputs": [wanted]})
    assert judge(program, tests, runner, timeout=10).reason == "correct"


@pytest.mark.parametrize(
    ("program", "wanted", "verdict"),
    [
        ("import sys\nprint(1)\nsys.exit(0)", "1", "correct"),
        ("import sys\nprint(1)\nsys.exit(1)", "1", "error"),
        ("import sys\nsys.stdout.write('1\\r\\n2')", "1\n2\n", "correct"),
        ("import sys\nprint('x', file=sys.stderr)\nprint(1)", "1", "correct"),
        ("print(input() + input())", "1", "error"),
        ("print('x' * 3_000_000)", "x" * 3_000_000, "correct"),
        ("print('x' * 3_000_000)", "x" * 2_999_999, "wrong"),
        ("print(1e5)", "100000.000", "correct"),
        ("print(float('nan'))", "0.5", "wrong"),
        ("", "1", "wrong"),
    ],
)
def test_programs_as_they_are_written(program: str, wanted: str, verdict: str, runner: Executor) -> None:
    assert reason(program, [ProgramTest("1\n", wanted)], runner, timeout=5.0) == verdict


def test_endless_forking_is_ended(runner: Executor) -> None:
    assert reason("import os\nwhile True: os.fork()", DOUBLE, runner, timeout=2.0) in ("timeout", "error")


def test_endless_printing_is_ended(runner: Executor) -> None:
    assert reason("while True: print('x' * 10000)", DOUBLE, runner, timeout=1.0) in ("timeout", "error")
