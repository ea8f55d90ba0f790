"""``code:*``: a problem, one program, tests."""

from __future__ import annotations

from typing import Any, Literal

from gem.dataset import DatasetEnv, Grade
from gem.parsing import code_blocks, strip_think
from gem_code.judge import executor, judge
from gem_code.program_tests import BadTests, ProgramTest, read_tests, select

FORMAT_ERROR_REWARD = -0.1

#: Spellings of the backends: ours, and the published ones that mean the same.
_BACKENDS: dict[str, Literal["isolated", "subprocess"]] = {
    "isolated": "isolated",
    "bwrap": "isolated",
    "bubblewrap": "isolated",
    "subprocess": "subprocess",
    "none": "subprocess",
}


class CodeEnv(DatasetEnv):
    """A programming problem; the last block of Python in the response runs against its tests.

    Reward 1 when all tests pass, 0 when one fails, -0.1 where there is no program.

    Args:
        dataset_name, split, dataset, question_key, seed, shuffle, shard: see :class:`gem.dataset.DatasetEnv`.
        test_key: column of the tests, see :func:`gem_code.program_tests.read_tests`.
        max_tests: of more tests than this, those with the longest inputs count; ``None``: all.
        max_workers: tests that run at once, as far as there are cores.
        timeout: seconds for one test.
        memory_mb: memory for one test.
        sandbox_type: ``"isolated"`` (bubblewrap), or ``"subprocess"``: limits only, for programs you trust.
        partial_credit: the reward is the share of tests passed, and all of them run.
        tolerance: for decimal fractions in the right output, see :func:`gem_code.compare.same_output`.
        strip_think: leave out ``<think>`` blocks when looking for the program.

    ``info`` after a step: ``success``, ``correct``, ``reason`` (``correct``, ``wrong``, ``error``, ``timeout``,
    ``no_answer``), ``passed``, ``total``, ``detail`` (of the first test that failed), ``idx``, and ``metrics`` with
    ``pass_rate``.
    """

    def __init__(
        self,
        dataset_name: str = "",
        split: str | None = None,
        dataset: Any = None,
        question_key: str = "problem",
        test_key: str = "tests",
        seed: int = 0,
        shuffle: bool = True,
        shard: tuple[int, int] = (0, 1),
        max_tests: int | None = 12,
        max_workers: int = 5,
        timeout: float = 10.0,
        memory_mb: int = 1024,
        sandbox_type: str = "isolated",
        partial_credit: bool = False,
        tolerance: float = 1e-6,
        strip_think: bool = True,
    ) -> None:
        super().__init__(dataset_name, split, dataset, question_key, test_key, seed, shuffle, shard)
        if sandbox_type not in _BACKENDS:
            raise ValueError(f"sandbox_type must be 'isolated' or 'subprocess', got {sandbox_type!r}")
        for name, number in (("max_tests", max_tests), ("max_workers", max_workers), ("memory_mb", memory_mb)):
            if number is not None and number < 1:
                raise ValueError(f"{name} must be at least 1, got {number}")
        if timeout <= 0:
            raise ValueError(f"timeout must be positive, got {timeout}")
        self.max_tests = max_tests
        self.max_workers = max_workers
        self.timeout = timeout
        self.memory_mb = memory_mb
        self.backend = _BACKENDS[sandbox_type]
        self.partial_credit = partial_credit
        self.tolerance = tolerance
        self.strip_think = strip_think
        self._tests: tuple[int, list[ProgramTest]] | None = None  # of the current row, parsed once

    @property
    def test_key(self) -> str:
        """Column of the tests."""
        return self.answer_key

    def tests(self, idx: int) -> list[ProgramTest]:
        """The tests that count for row ``idx``."""
        if self._tests is None or self._tests[0] != idx:
            try:
                found = read_tests(self._answers[idx])
            except BadTests as error:
                raise self.bad_row(idx, self.test_key, self._answers[idx], f"tests (it {error})") from None
            self._tests = (idx, select(found, self.max_tests))
        return self._tests[1]

    def observe(self, idx: int) -> Any:
        self.tests(idx)  # a row that cannot be judged is found before a model has spent tokens on it
        return super().observe(idx)

    def extract(self, response: str) -> str | None:
        """The program of a response: its last block of Python, or of code in no language; ``None`` without one."""
        if self.strip_think:
            response = strip_think(response)
        blocks = [block for block in code_blocks(response) if block.language in ("python", "")]
        return blocks[-1].code if blocks else None

    def grade(self, action: str, idx: int) -> Grade:
        program = self.extract(action)
        tests = self.tests(idx)
        if program is None:
            none = {"passed": 0, "total": len(tests), "detail": "", "metrics": {"pass_rate": 0.0}}
            return Grade(FORMAT_ERROR_REWARD, "no_answer", none)
        verdict = judge(
            program,
            tests,
            executor(self.backend, self.memory_mb),
            timeout=self.timeout,
            workers=self.max_workers,
            run_all=self.partial_credit,
            tolerance=self.tolerance,
        )
        share = verdict.passed / verdict.total
        reward = share if self.partial_credit else float(verdict.reason == "correct")
        more = {
            "passed": verdict.passed,
            "total": verdict.total,
            "detail": verdict.detail,
            "metrics": {"pass_rate": share},
        }
        return Grade(reward, verdict.reason, more)

    def sample_random_action(self) -> str:
        return f"```python\nprint({self.rng.randrange(100)})\n```"
