"""Imported once by the interpreter in which answers are scored: what the first score would set up stands ready.

Every score runs in a fork of that interpreter, so that without this each of them would be the first.
"""

from __future__ import annotations

import random

import reasoning_gym
from reasoning_gym import composite as _composite  # noqa: F401

#: Those whose scorers do most before they first answer: they parse with sympy and simplify.
_SLOW_FIRST = ("simple_integration", "intermediate_integration", "polynomial_multiplication", "countdown", "n_queens")


def _warm() -> None:
    for name in _SLOW_FIRST:
        dataset = reasoning_gym.create_dataset(name, seed=0, size=1)
        entry = dataset[0]
        for answer in (entry["answer"], "x**2/2 + C", "X**3 + 2*X"):  # right and wrong ones take different ways
            dataset.score_answer(answer, entry)


_state = random.getstate()
_warm()
random.setstate(_state)
