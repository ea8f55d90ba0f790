"""CodeEnv: which block runs, rewards, reasons, rows that cannot be judged."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.testing import EnvSuite
from gem_code.env import CodeEnv

TESTS = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}
ADD = "a, b = map(int, input().split())\nprint(a + b)"


def block(code: str, info: str = "python") -> str:
    return f"```{info}\n{code}\n```"


def step(response: str, tests: Any = TESTS, **options: Any) -> tuple[float, str, dict[str, Any]]:
    with CodeEnv(dataset=[{"problem": "Add.", "tests": tests}], **options) as env:
        env.reset()
        _, reward, terminated, truncated, info = env.step(response)
    assert (terminated, truncated) == (True, False)
    assert info["success"] is (info["reason"] == "correct")
    return reward, info["reason"], info


@pytest.mark.parametrize(
    "response",
    [
        block(ADD),
        block(ADD, "py"),
        block(ADD, "python3"),
        block(ADD, 'python title="a.py"'),
        block(ADD, ""),
        block("print('no')") + "\nNo:\n" + block(ADD),
        f"<python>{ADD}</python>",
        f"```python\n{ADD}",
        f"<think>{block('print(0)')}</think>{block(ADD)}",
        block(ADD) + "\nIt prints:\n" + block("3", "text"),
        f"````python\ns = '''\n```\ninner\n```\n'''\n{ADD}\n````",
    ],
)
def test_the_last_block_of_python_runs(response: str) -> None:
    assert step(response)[:2] == (1.0, "correct")


@pytest.mark.parametrize("response", ["", "print(3)", block("int main(){}", "cpp"), f"<think>{block(ADD)}</think>"])
def test_without_a_program(response: str) -> None:
    reward, reason, info = step(response)
    assert (reward, reason, info["passed"], info["total"]) == (-0.1, "no_answer", 0, 2)


def test_rewards() -> None:
    half = "a, b = map(int, input().split())\nprint(a + b if a == 1 else 0)"
    assert step(block(half))[:2] == (0.0, "wrong")
    reward, reason, info = step(block(half), partial_credit=True)
    assert (reward, reason, info["metrics"]) == (0.5, "wrong", {"pass_rate": 0.5})


def test_calls() -> None:
    tests = {"fn_name": "f", "inputs": [[1, 2]], "outputs": [3]}
    assert step(block("def f(a, b):\n    return a + b"), tests)[:2] == (1.0, "correct")


@pytest.mark.parametrize("tests", [{"inputs": [], "outputs": []}, None, "{", {"inputs": ["1"], "outputs": []}])
def test_a_row_without_tests_is_a_data_error_never_a_reward(tests: Any) -> None:
    env = CodeEnv(dataset=[{"problem": "Add.", "tests": tests}])
    with pytest.raises(gem.DataError, match=r"row 0 of the data set in memory: 'tests' is .*, expected tests"):
        env.reset()


def test_the_longest_tests_count() -> None:
    tests = {"inputs": [f"{10**n} 0\n" for n in range(20)], "outputs": [f"{10**n}\n" for n in range(20)]}
    assert step(block(ADD), tests)[2]["total"] == 12
    assert step(block(ADD), tests, max_tests=None)[2]["total"] == 20


def test_a_plain_subprocess_by_explicit_choice() -> None:
    assert step(block(ADD), sandbox_type="subprocess")[:2] == (1.0, "correct")
    with pytest.raises(ValueError, match="sandbox_type must be 'isolated' or 'subprocess', got 'docker'"):
        step(block(ADD), sandbox_type="docker")


@pytest.mark.parametrize("option", ["max_tests", "max_workers", "memory_mb", "timeout"])
def test_options_that_cannot_be(option: str) -> None:
    with pytest.raises(ValueError, match=option):
        CodeEnv(dataset=[{"problem": "Add.", "tests": TESTS}], **{option: 0})


def test_the_reference_solution_of_every_sample_row_passes() -> None:
    env = gem.make("code:sample")
    solutions = env.table.column("solution")
    for idx, solution in enumerate(solutions):
        env.reset(idx=idx)
        *_, info = env.step(block(solution))
        assert info["reason"] == "correct", (idx, info)


def test_no_program_that_ignores_its_input_passes_a_sample_row() -> None:
    for tests in gem.make("code:sample").table.column("tests"):
        assert any(output != tests["outputs"][0] for output in tests["outputs"]), tests


class TestConforms(EnvSuite):
    env_ids = ["code:sample"]
