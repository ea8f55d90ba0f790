"""Whether a program's output is the right one."""

from __future__ import annotations

import ast
import json
import math
from typing import Any


def same_output(printed: str, wanted: str, tolerance: float = 1e-6) -> bool:
    """Compare standard output.

    Blanks at the ends of lines and of the whole do not count. Where the right output writes a decimal fraction
    (``0.5``, ``1e-9``), a number within ``tolerance`` of it, relative or absolute, is right; whole numbers and words
    must be the same.
    """
    if printed.strip() == wanted.strip():
        return True
    lines, right = printed.split("\n"), wanted.split("\n")
    lines, right = _tidy(lines), _tidy(right)
    if lines == right:
        return True
    if len(lines) != len(right):
        return False
    return all(_same_line(line, other, tolerance) for line, other in zip(lines, right, strict=True))


def _tidy(lines: list[str]) -> list[str]:
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def _same_line(line: str, right: str, tolerance: float) -> bool:
    if line == right:
        return True
    tokens, others = line.split(), right.split()
    if len(tokens) != len(others):
        return False
    return all(_same_token(token, other, tolerance) for token, other in zip(tokens, others, strict=True))


def _same_token(token: str, right: str, tolerance: float) -> bool:
    if token == right:
        return True
    if not ("." in right or "e" in right or "E" in right) or not right[-1].isdigit() or "_" in token:
        return False
    try:
        a, b = float(token), float(right)
    except ValueError:
        return False
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) and math.isfinite(a)


def same_value(returned: Any, wanted: Any, tolerance: float = 1e-6) -> bool:
    """Compare what a function returned, as JSON has it (tuples are lists, keys of dictionaries are texts).

    Floats are compared with the tolerance where the right value is one. A right value in a list of its own,
    ``[3]`` for ``3``, is how some data sets write the outputs of calls, and its JSON or Python text, ``"3"`` or
    ``"True"``, is how others do; both are accepted.
    """
    if isinstance(wanted, str) and returned != wanted:
        written = _read(wanted)
        return written is not _UNREADABLE and _same_value(returned, written, tolerance)
    return _same_value(returned, wanted, tolerance) or (
        isinstance(wanted, list) and len(wanted) == 1 and same_value(returned, wanted[0], tolerance)
    )


_UNREADABLE = object()


def _read(text: str) -> Any:
    """The value of a JSON or Python text, as JSON has it."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return json.loads(json.dumps(ast.literal_eval(text.strip())))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _UNREADABLE


def _same_value(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(b, float) and isinstance(a, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same_value(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same_value(a[key], b[key], tolerance) for key in a)
    return bool(a == b)
