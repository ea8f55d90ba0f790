"""Normalisation, exact match, F1."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from gem_qa.match import exact_match, f1, normalise


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("1,234", "1234"),
        ("1,234,567", "1234567"),
        ("cafe\u0301", "café"),
        ("O\u2019Brien", "O'Brien"),
        ("1914\u20131918", "1914-1918"),
        ("Paris.", "Paris"),
        ("The Beatles", "beatles"),
        ("an apple", "Apple"),
        ("U.S.", "US"),
        ("\u22125", "-5"),
        ("\uff35\uff33\uff21", "USA"),
        ("stra\u00dfe", "STRASSE"),
        ("well-known", "wellknown"),
        ("The", "the"),
        ("$5", "5"),
        ("3.0", "3"),
        ("1,234.00", "1234"),
        ("50%", "50"),
        ("Saint-Denis", "Saint Denis"),
        ("Saint Denis", "Saint\u2010Denis"),
        ("\u0130stanbul", "istanbul"),
        ("\u00bd", "1/2"),
        ("AT&T", "ATT"),
        ("\u65e5\u672c", "\u65e5\u672c\u3002"),
        ("C++", "c++"),
    ],
)
def test_the_same_answer(answer: str, gold: str) -> None:
    assert exact_match(answer, [gold])


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("3.5", "35"),
        ("-5", "5"),
        ("$1.5 million", "15 million"),
        (".5", "5"),
        ("1914-1918", "19141918"),
        ("10.5.2", "1052"),
        ("", ""),
        ("...", "!!!"),
        ("Paris", "London"),
        ("1/2", "12"),
        ("\u00bd", "12"),
        ("10:30", "1030"),
        ("C++", "C"),
        ("C#", "C"),
        ("A+", "A"),
        ("Python 3.10", "Python 3.1"),
        ("3.01", "3"),
        ("na\u00efve", "nave"),
        ("re-sign", "sign"),
        ("_-5_", "5"),
        ("\ue000", "."),
    ],
)
def test_different_answers(answer: str, gold: str) -> None:
    assert not exact_match(answer, [gold])


def test_any_gold_will_do() -> None:
    assert exact_match("berlin", ["Paris", "Berlin"])
    assert not exact_match("berlin", [])


@example("_+")
@example("a+.b")
@given(st.text(max_size=60) | st.text("aB1_+#-./:,* \u00e9", max_size=12))
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=3))
def test_f1_is_a_share_and_a_match_has_all_of_it(answer: str, golds: list[str]) -> None:
    overlap = f1(answer, golds)
    assert 0.0 <= overlap <= 1.0
    if exact_match(answer, golds):
        assert overlap == 1.0


def test_f1_by_hand() -> None:
    assert f1("Miss Jane Austen", ["Jane Austen"]) == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))
    assert f1("Jane Austen", ["Austen", "Jane Austen"]) == 1.0
    assert f1("Jane Jane", ["Jane Austen"]) == 0.5
    assert f1("nothing", ["Jane Austen"]) == 0.0
    assert f1("yes it is", ["yes"]) == 0.0
