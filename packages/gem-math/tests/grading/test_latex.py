"""Trees of what stands in boxes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gem_math.grading.latex import MAX_LENGTH, NotUnderstood, parse
from gem_math.grading.normalise import normalise

ONE, TWO = ("num", Fraction(1), None), ("num", Fraction(2), None)


@pytest.mark.parametrize(
    ("written", "tree"),
    [
        (r"\frac12", ("div", ONE, TWO)),
        ("0.50", ("num", Fraction(1, 2), 2)),
        ("x^2", ("pow", ("sym", "x"), TWO)),
        ("(1,2]", ("tuple", "(", "]", (ONE, TWO))),
        (r"\{1,2\}", ("set", (ONE, TWO))),
        (r"1 \text{ or } 2", ("list", (ONE, TWO), "or")),
        ("x=1", ("rel", ("=",), (("sym", "x"), ONE))),
        (r"2\%", ("percent", TWO)),
        ("12_8", ("base", "12", Fraction(8))),
        (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", ("matrix", ((ONE, TWO),))),
    ],
)
def test_trees(written: str, tree: object) -> None:
    assert parse(normalise(written)) == tree


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (r"\int x", True),
        ("", False),
        ("1 +", False),
        ("(1", False),
        ("1" * (MAX_LENGTH + 1), False),
        (r"\times", False),
    ],
)
def test_what_is_not_read_says_whether_another_parser_may(text: str, latex: bool) -> None:
    with pytest.raises(NotUnderstood) as info:
        parse(text)
    assert info.value.latex is latex
