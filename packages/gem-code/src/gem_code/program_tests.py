"""The tests of a task, in every form that data sets write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class BadTests(ValueError):
    """A row's tests cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class ProgramTest:
    """One test: what goes in, what must come out.

    With ``function`` the input is the list of arguments and the output a value, or a text that may be a value's
    (see :func:`gem_code.compare.same_value`); without, both are text.
    """

    input: Any
    output: Any
    function: str | None = None

    @property
    def size(self) -> int:
        """Length of the input as text."""
        return len(self.input) if isinstance(self.input, str) else len(json.dumps(self.input, default=str))


def read_tests(tests: Any) -> list[ProgramTest]:
    """The tests of a row, never an empty list.

    Forms: ``{"inputs": [...], "outputs": [...]}``, with ``"fn_name"`` for calls; a list of
    ``{"input": ..., "output": ...}``, where ``"testtype": "functional"`` and ``"fn_name"`` mark calls; and the JSON
    text of either.

    Raises:
        BadTests: it is none of those, there are no tests, or inputs and outputs do not pair up.
    """
    if isinstance(tests, (str, bytes)):
        try:
            tests = json.loads(tests)
        except ValueError as error:
            raise BadTests(f"is not JSON: {error}") from None
    if isinstance(tests, Mapping):
        found = _from_lists(tests)
    elif isinstance(tests, Sequence):
        found = [_from_dict(test) for test in tests]
    else:
        raise BadTests(f"is {type(tests).__name__}, expected a dictionary, a list or their JSON text")
    if not found:
        raise BadTests("holds no test")
    return found


def _from_lists(tests: Mapping[str, Any]) -> list[ProgramTest]:
    inputs, outputs = tests.get("inputs"), tests.get("outputs")
    if not isinstance(inputs, Sequence) or not isinstance(outputs, Sequence) or isinstance(inputs, str):
        raise BadTests("has no lists 'inputs' and 'outputs'")
    if len(inputs) != len(outputs):
        raise BadTests(f"has {len(inputs)} inputs but {len(outputs)} outputs")
    function = tests.get("fn_name") or None
    return [_test(given, wanted, function) for given, wanted in zip(inputs, outputs, strict=True)]


def _from_dict(test: Any) -> ProgramTest:
    if not isinstance(test, Mapping) or "input" not in test or "output" not in test:
        raise BadTests("has a test without 'input' and 'output'")
    functional = test.get("testtype") == "functional" or test.get("type") == "function_call"
    function = test.get("fn_name") or test.get("func_name") or None
    if functional and function is None:
        raise BadTests("has a functional test without 'fn_name'")
    return _test(test["input"], test["output"], function)


def _test(given: Any, wanted: Any, function: str | None) -> ProgramTest:
    if function is None:
        return ProgramTest(_text(given), _text(wanted))
    if isinstance(given, str):
        given = _json_lines(given)
    arguments = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return ProgramTest(arguments, wanted, function)


def _json_lines(text: str) -> list[Any]:
    """Arguments written as JSON, one a line: ``[1,2]`` is one argument, a list."""
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise BadTests(f"has arguments that are not JSON: {error}") from None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "\n".join(map(str, value))
    return str(value)


def select(tests: list[ProgramTest], most: int | None) -> list[ProgramTest]:
    """At most ``most`` tests: those with the longest inputs, in the order of the data set."""
    if most is None or len(tests) <= most:
        return tests
    longest = sorted(range(len(tests)), key=lambda i: -tests[i].size)[:most]
    return [tests[i] for i in sorted(longest)]
