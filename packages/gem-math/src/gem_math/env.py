"""``math:*``: a problem, one boxed answer."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from gem.dataset import DatasetEnv, Grade
from gem_math.grading import Grader, Rules
from gem_math.grading.grader import gold_answers

#: Data sets of our own making that come with the package.
DATA = Path(__file__).parent / "data"

FORMAT_ERROR_REWARD = -0.1


class MathEnv(DatasetEnv):
    """A mathematics problem, graded by its last ``\\boxed{}``: 1 when correct, 0 otherwise.

    Args:
        dataset_name, split, dataset, question_key, answer_key, seed, shuffle, shard: see
            :class:`gem.dataset.DatasetEnv`.
        use_format_error_reward: -0.1 where nothing is boxed.
        strip_think: leave out ``<think>`` blocks when looking for the answer.
        timeout: processor seconds for the slow judge.
        use_mp: whether the slow judge may be used, see :class:`gem_math.grading.Grader`.
        rules: judgement calls as a dictionary, see :class:`gem_math.grading.Rules`.

    ``info`` after a step: ``success``, ``correct``, ``idx``, ``reason`` (``correct``, ``wrong``, ``no_answer``,
    ``timeout``, ``grader_error``), ``answer`` (as read) and, for a failure of the grader, ``detail``.
    """

    def __init__(
        self,
        dataset_name: str = "",
        split: str | None = None,
        dataset: Any = None,
        question_key: str = "problem",
        answer_key: str = "answer",
        seed: int = 0,
        shuffle: bool = True,
        shard: tuple[int, int] = (0, 1),
        use_format_error_reward: bool = False,
        strip_think: bool = True,
        timeout: float = 5.0,
        use_mp: bool = True,
        rules: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(dataset_name, split, dataset, question_key, answer_key, seed, shuffle, shard)
        if timeout <= 0:
            raise ValueError(f"timeout must be positive, got {timeout}")
        self.use_format_error_reward = use_format_error_reward
        known = [field.name for field in fields(Rules)]
        for name in rules or {}:
            if name not in known:
                raise TypeError(f"there is no rule {name!r} (rules: {', '.join(known)})")
        self.grader = Grader(strip_think, timeout, use_mp, Rules(**(rules or {})))

    def observe(self, idx: int) -> Any:
        self._gold(idx)  # a row without an answer is found before a model has spent tokens on it
        return super().observe(idx)

    def _gold(self, idx: int) -> Any:
        gold = self._answers[idx]
        if not isinstance(gold, str):
            try:
                gold_answers(gold)
            except TypeError:
                raise self.bad_row(idx, self.answer_key, gold, "a text or a number") from None
        return gold

    def grade(self, action: str, idx: int) -> Grade:
        verdict = self.grader.grade(action, self._answers[idx])
        more: dict[str, Any] = {"answer": verdict.answer}
        if verdict.detail:
            more["detail"] = verdict.detail
        if verdict.reason == "no_answer" and self.use_format_error_reward:
            return Grade(FORMAT_ERROR_REWARD, "no_answer", more)
        return Grade(1.0 if verdict.correct else 0.0, verdict.reason, more)

    def sample_random_action(self) -> str:
        return f"\\boxed{{{self.rng.randrange(100)}}}"
