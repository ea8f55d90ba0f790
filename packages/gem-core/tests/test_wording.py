from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gem.wording import LONGEST, clip, one_line, short


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("a bad\n  move"), "ValueError: a bad move"),
        (KeyError("x"), "KeyError: 'x'"),
        (OSError(), "OSError"),
        (ValueError("ends in a colon:"), "ValueError: ends in a colon:"),
        (Unspeakable(), "Unspeakable: (its message cannot be shown)"),
    ],
)
def test_an_error_in_one_line(error: Exception, line: str) -> None:
    assert one_line(error) == line


@given(st.text())
def test_one_line_whatever_the_text(text: str) -> None:
    assert len(clip(text * 50).splitlines()) <= 1
    assert len(clip(text * 50)) <= LONGEST + 3


@pytest.mark.parametrize("value", ["x" * 50_000_000, ["y" * 1000] * 1000, {i: [[[[i]]]] for i in range(99)}])
def test_large_values_are_cut(value: object) -> None:
    assert "..." in short(value)
    assert len(short(value)) <= LONGEST + 3


def test_small_values_are_shown_whole() -> None:
    assert short(("a", 0.0, False)) == "('a', 0.0, False)"


def test_a_value_that_cannot_be_shown() -> None:
    assert short(Unspeakable()).startswith("<Unspeakable instance")
