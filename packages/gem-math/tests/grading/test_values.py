"""What trees are worth."""

from __future__ import annotations

import itertools
import string
from fractions import Fraction

import pytest

from gem_math.grading import latex, values
from gem_math.grading.normalise import normalise


def read(text: str) -> latex.Tree:
    return latex.parse(normalise(text))


def test_exact_where_it_can_be() -> None:
    assert values.value(read(r"\frac{1}{3}+\frac{1}{6}")) == Fraction(1, 2)
    assert values.value(read(r"\sqrt{\frac{9}{4}}")) == Fraction(3, 2)
    assert values.value(read("16^{3/4}")) == 8
    assert values.value(read(r"\sqrt[3]{-8}")) == -2


def test_agreement_is_confirmed_with_many_digits() -> None:
    assert values.equal(read(r"\sqrt{3+2\sqrt2}"), read(r"1+\sqrt2"))
    assert not values.equal(read(r"\sqrt2+10^{-20}"), read(r"\sqrt2"))
    assert not values.equal(read(r"e^{\pi\sqrt{163}}"), read("262537412640768744"))


def test_any_two_variables_meet_with_every_pair_of_signs() -> None:
    names = [*string.ascii_letters, "alpha", "theta", "x_1", "x_2"]
    for pair in itertools.combinations(names, 2):
        met = {tuple(values._variable(name, n) > 0 for name in pair) for n in range(values.SIGNED_POINTS)}
        assert len(met) == 4, pair
        assert all(values._variable(name, n) > 0 for name in pair for n in range(values.POINTS))


def test_points_outside_the_domain_decide_nothing() -> None:
    assert values.equal(read(r"\cos(\arcsin x)"), read(r"\sqrt{1-x^2}"))


@pytest.mark.parametrize("text", ["9^{9^9}", "2000!", r"\frac{1}{0}", r"\infty", r"\binom{9999}{3}", r"\tan 90^\circ"])
def test_without_a_value_or_too_large(text: str) -> None:
    with pytest.raises(values.NotANumber):
        values.value(read(text))


def test_names() -> None:
    tree = read(r"x \log y + \pi e")
    assert values.symbols(tree) == {"x", "y"}
    assert values.PLAIN_LOG in values.names(tree)
