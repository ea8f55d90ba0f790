"""What only changes a formula's looks is gone afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gem_math.grading.normalise import normalise


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("$7$", "7"),
        (r"\displaystyle\dfrac{1}{2}", r"\frac{1}{2}"),
        (r"10,\!080", "10080"),
        (r"58{,}500", "58500"),
        (r"\left(3, 4\right)", "(3, 4)"),
        ("−5", "-5"),
        (r"28\%", "28%"),
        ("7.", "7"),
        ("5!", "5!"),
        (r"\text{(1, 2)}", "(1, 2)"),
    ],
)
def test_looks(written: str, plain: str) -> None:
    assert normalise(written) == plain


def test_rows_of_matrices_are_no_spaces() -> None:
    assert r"\\" in normalise(r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}")


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    assert isinstance(normalise(text), str)
