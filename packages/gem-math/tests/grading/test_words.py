"""Choices and phrases."""

from __future__ import annotations

import pytest

from gem_math.grading.words import are_words, choice, formula_of, words


@pytest.mark.parametrize(
    ("answer", "gold", "chosen"),
    [
        (r"\textbf{(C)}\ 12", "C", True),
        ("D", "C", False),
        ("C. 12", "(C) 13", True),
        ("12", "(C) 12", ("12", "12")),
        ("(C) 12", "12", ("12", "12")),
        ("12", "C", None),
        ("(A), (B)", "A", None),
        ("x+1", "x+1", None),
        ("b", "B", None),
        ("The answer is (b)", "B", True),
    ],
)
def test_choices(answer: str, gold: str, chosen: object) -> None:
    assert choice(answer, gold) == chosen


def test_words_and_formulas_are_told_apart() -> None:
    assert are_words(r"\text{an ellipse}")
    assert not are_words(r"\sin x")
    assert not are_words("abc=5")
    assert words(r"\text{An Ellipse.}") == "ellipse"
    assert formula_of("No real solutions") == r"\emptyset"
    assert formula_of("all real numbers") == r"\Re"
    assert formula_of("x+1") == "x+1"
