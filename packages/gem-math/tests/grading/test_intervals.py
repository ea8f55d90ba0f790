"""Sets of real numbers in their normal form."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from gem_math.grading import latex
from gem_math.grading.intervals import NotASet, pieces, same_set
from gem_math.grading.normalise import normalise


def read(text: str) -> latex.Tree:
    return latex.parse(normalise(text))


def test_pieces_that_touch_are_one() -> None:
    assert pieces(read(r"(0,1]\cup(1,2)")) == [(Fraction(0), False, Fraction(2), False)]
    assert len(pieces(read(r"(0,1)\cup(1,2)"))) == 2
    assert pieces(read(r"x \ne 1")) == [(-math.inf, False, Fraction(1), False), (Fraction(1), False, math.inf, False)]


@pytest.mark.parametrize("text", ["5", "(2,1)", "(1,2,3)", "a<b", "x+1>2", "|x|<-1", "(a,b)", "(i,2)"])
def test_what_is_no_set_of_real_numbers(text: str) -> None:
    with pytest.raises(NotASet):
        pieces(read(text))


ends = st.integers(-5, 5)


@given(st.lists(st.tuples(ends, ends, st.sampled_from("(["), st.sampled_from(")]")), min_size=1, max_size=4), ends)
def test_a_union_holds_what_its_parts_hold(parts: list[tuple[int, int, str, str]], x: int) -> None:
    parts = [(a, b, left, right) for a, b, left, right in parts if a < b]
    if parts:
        union = r"\cup".join(f"{left}{a},{b}{right}" for a, b, left, right in parts)
        wanted = any(
            (a < x or (a == x and left == "[")) and (x < b or (b == x and right == "]")) for a, b, left, right in parts
        )
        found = any(
            (a < x or (a == x and a_in)) and (x < b or (b == x and b_in)) for a, a_in, b, b_in in pieces(read(union))
        )
        assert found == wanted


def test_other_variables_say_other_things() -> None:
    assert same_set(read("x>3"), read("3<x"))
    assert not same_set(read("x>3"), read("y>3"))
