"""Imported once by the interpreter in which answers are scored: what the first score would set up stands ready.

Every score runs in a fork of that interpreter, so that without this each of them would be the first.
"""

from __future__ import annotations

import random

import reasoning_gym
import sympy
from reasoning_gym import composite as _composite  # noqa: F401
from sympy.parsing.sympy_parser import parse_expr


def _warm() -> None:
    x = sympy.Symbol("x")
    for expression in ("(1+2)*3-4/2", "2*x**2 + 3*x/7 - 1", "sqrt(2)*sin(x) + exp(x)*log(x)"):
        parsed = parse_expr(expression, local_dict={"x": x})
        str(sympy.simplify(sympy.diff(parsed, x) - sympy.diff(sympy.expand(parsed), x)))
    for name in ("countdown", "simple_integration", "polynomial_multiplication", "n_queens", "prime_factorization"):
        dataset = reasoning_gym.create_dataset(name, seed=0, size=1)
        entry = dataset[0]
        dataset.score_answer(entry["answer"], entry)


_state = random.getstate()
_warm()
random.setstate(_state)
