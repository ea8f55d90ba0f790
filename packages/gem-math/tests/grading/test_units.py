"""Units and the words after a number."""

from __future__ import annotations

import pytest

from gem_math.grading.units import agree, unit_of


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ("cm", "cm"),
        ("square centimeters", "cm^2"),
        ("cm^2", "cm^2"),
        ("meters per second squared", "m s^-2"),
        ("m/s^2", "m s^-2"),
        ("mph", "h^-1 mile"),
        ("miles per hour", "h^-1 mile"),
        ("percent", "%"),
        ("apples", "~apple"),
        ("years old", "~year old"),
        ("modulo 7", "modulo 7"),
        ("or more", None),
        ("if x", None),
        ("x", None),
        ("", None),
        ("/", None),
    ],
)
def test_words_name_a_unit_or_none(words: str, unit: str | None) -> None:
    assert unit_of(words) == unit


def test_only_units_of_measurement_when_asked_for() -> None:
    assert unit_of("apples", known=True) is None
    assert unit_of("hours", known=True) == "h"


def test_agreement() -> None:
    assert agree("~year old", "year")
    assert agree("cm", "cm")
    assert not agree("m", "m s^-2")
    assert not agree("~apple", "~pear")
