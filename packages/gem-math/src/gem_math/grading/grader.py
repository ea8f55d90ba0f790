"""From a response and a gold answer to a verdict with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gem.parsing import last_boxed, strip_think
from gem_math.grading import compare
from gem_math.grading.compare import Rules, Undecided
from gem_math.grading.judge import JudgeFailed, JudgeTimeout, consult

Reason = Literal["correct", "wrong", "no_answer", "timeout", "grader_error"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the grader found."""

    reason: Reason
    #: The answer it read, ``None`` where nothing was boxed.
    answer: str | None = None
    #: More about a ``timeout`` or ``grader_error``.
    detail: str = ""

    @property
    def correct(self) -> bool:
        return self.reason == "correct"


@dataclass(frozen=True)
class Grader:
    """Grades responses. Instances hold settings only, so one serves every thread and process.

    The answer is the content of the last complete ``\\boxed{}``. Exact normalisation and arithmetic decide nearly
    every answer in this process; LaTeX that they do not read goes to math-verify in a process of its own.

    Args:
        strip_think: leave out what stands in ``<think>`` blocks, finished or not.
        timeout: processor seconds for math-verify; waiting for it does not count.
        use_mp: whether there may be a second process. Without it, an answer that only math-verify could judge is a
            ``grader_error``.
        rules: judgement calls, see :class:`gem_math.grading.Rules`.
    """

    strip_think: bool = True
    timeout: float = 5.0
    use_mp: bool = True
    rules: Rules = field(default_factory=Rules)

    def grade(self, response: str, gold: str | float | Sequence[Any]) -> Verdict:
        """Grade a response against one gold answer, or several of which any will do.

        Raises:
            TypeError: the response is no text, or the gold neither text nor number nor a list of those.
        """
        if not isinstance(response, str):
            raise TypeError(f"a response is a str, got {type(response).__name__}")
        answer = last_boxed(strip_think(response) if self.strip_think else response)
        if answer is None or not answer.strip():
            return Verdict("no_answer", answer)
        worst = Verdict("wrong", answer)
        for candidate in gold_answers(gold):
            verdict = self._compare(answer, candidate)
            if verdict.correct:
                return verdict
            if verdict.reason != "wrong":
                worst = verdict
        return worst

    def _compare(self, answer: str, gold: str) -> Verdict:
        try:
            try:
                same = compare.equal(answer, gold, self.rules)
            except Undecided:
                if not self.use_mp:
                    return Verdict("grader_error", answer, "only math-verify reads this LaTeX, and use_mp is off")
                same = consult(answer, gold, self.timeout)
        except JudgeTimeout as error:
            return Verdict("timeout", answer, str(error))
        except JudgeFailed as error:
            return Verdict("grader_error", answer, str(error))
        except Exception as error:  # a mistake of the grader must be seen, and must not end the episode
            return Verdict("grader_error", answer, f"{type(error).__name__}: {error}")
        return Verdict("correct" if same else "wrong", answer)


def gold_answers(gold: str | float | Sequence[Any]) -> list[str]:
    """The acceptable answers as text: ``7.0`` is ``7``, ``[6, 7]`` is either, a box is opened.

    Raises:
        TypeError: the gold is neither text nor number nor a list of those.
    """
    if isinstance(gold, str):
        boxed = last_boxed(gold) if "\\boxed" in gold else None
        return [boxed if boxed is not None else gold]
    if isinstance(gold, bool) or gold is None:
        raise TypeError(f"a gold answer must be text or a number, got {gold!r}")
    if isinstance(gold, float) and gold.is_integer():
        return [str(int(gold))]
    if isinstance(gold, (int, float)):
        return [str(gold)]
    if isinstance(gold, Sequence) and gold:
        return [answer for item in gold for answer in gold_answers(item)]
    raise TypeError(f"a gold answer must be text or a number, got {gold!r}")


_default = Grader()


def grade(response: str, gold: str | float | Sequence[Any]) -> Verdict:
    """:meth:`Grader.grade` with the default settings."""
    return _default.grade(response, gold)
