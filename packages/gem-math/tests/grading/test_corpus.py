"""What models and data sets really write, with the verdict of a mathematician: a corpus of pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gem_math.grading import Undecided, equal

PAIRS = [
    (*line.split(mark), mark == " ~~ ")
    for line in (Path(__file__).parent / "corpus.txt").read_text(encoding="utf-8").splitlines()
    for mark in (" ~~ ", " !! ")
    if mark in line and not line.startswith("#")
]


@pytest.mark.parametrize(("answer", "gold", "same"), PAIRS)
def test_the_verdict_is_that_of_a_mathematician(answer: str, gold: str, same: bool) -> None:
    try:
        verdict = equal(answer, gold)
    except Undecided:
        pytest.fail("the fast grader should read what models commonly write")
    assert verdict == same


def test_the_corpus_is_large_and_has_both_kinds() -> None:
    assert len(PAIRS) >= 300
    assert sum(same for *_, same in PAIRS) > 100
    assert sum(not same for *_, same in PAIRS) > 100
