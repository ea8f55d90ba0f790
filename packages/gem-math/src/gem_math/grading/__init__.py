"""Extracting and grading answers.

>>> grade(r"so it is \\boxed{\\frac{3}{4}}", "0.75").reason
'correct'
"""

from gem_math.grading.compare import DEFAULT_RULES, Rules, Undecided, equal
from gem_math.grading.grader import Grader, Verdict, grade
from gem_math.grading.judge import JudgeFailed, JudgeTimeout

__all__ = [
    "DEFAULT_RULES",
    "Grader",
    "JudgeFailed",
    "JudgeTimeout",
    "Rules",
    "Undecided",
    "Verdict",
    "equal",
    "grade",
]
