"""Whether a program's output is the right one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from gem_code.compare import same_output, same_value


@pytest.mark.parametrize(
    ("printed", "wanted", "same"),
    [
        ("5\n", "5", True),
        ("5 \n\n", "\n5", True),
        ("a  \nb", "a\nb\n", True),
        ("0.333333\n", "0.333333333333", True),
        ("0.34", "0.333333333333", False),
        ("1.0", "1", False),
        ("1", "1.0", True),
        ("1000000001", "1000000000", False),
        ("1 2", "1 3", False),
        ("1 2", "1\n2", False),
        ("nan", "0.5", False),
        ("inf", "1e309", False),
        ("yes", "YES", False),
        ("x 0.5000000001", "x 0.5", True),
        ("0.5 0.5", "0.5", False),
        ("", "5", False),
        ("9" * 6000, "9" * 6000, True),
        ("1_0.0", "10.0", False),
    ],
)
def test_output(printed: str, wanted: str, same: bool) -> None:
    assert same_output(printed, wanted) is same


@given(st.text())
def test_every_output_is_the_same_as_itself(text: str) -> None:
    assert same_output(text, text)
    assert same_output(text + "\n", text)


@pytest.mark.parametrize(
    ("returned", "wanted", "same"),
    [
        (3, 3, True),
        (3, [3], True),
        ([3], [3], True),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        (0.30000000000000004, 0.3, True),
        (1, 1.0, True),
        (True, 1, False),
        (1, True, False),
        (True, True, True),
        ({"a": [1.0]}, {"a": [1]}, True),
        ({"a": 1}, {"b": 1}, False),
        ("1", 1, False),
        (3, "3", True),
        ("3", "3", True),
        ("123", ["123"], True),
        (True, "True", True),
        (True, "true", True),
        (None, "None", True),
        ([1, 2], "(1, 2)", True),
        ([1, 2], "[1,2]", True),
        ("abc", '"abc"', True),
        ("abc", "'abc'", True),
        (3, "4", False),
        (True, "1", False),
        (3, "__import__('os')", False),
        ("a", "b", False),
        (None, [], False),
    ],
)
def test_value(returned: Any, wanted: Any, same: bool) -> None:
    assert same_value(returned, wanted) is same
