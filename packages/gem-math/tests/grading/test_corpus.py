"""What models and data sets really write, with the verdict of a mathematician: a corpus of pairs."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from gem_math.grading import Undecided, equal

CORPUS = Path(__file__).parent / "corpus.txt"
PAIRS = [
    (*line.split(mark), mark == " ~~ ")
    for line in CORPUS.read_text(encoding="utf-8").splitlines()
    for mark in (" ~~ ", " !! ")
    if mark in line and not line.startswith("#")
]
SIDES = sorted({side for answer, gold, _ in PAIRS for side in (answer, gold)})
FRAGMENTS = [
    "\\frac", "\\sqrt", "{", "}", "(", ")", "[", "]", "^", "_", "9", "!", "**", "\\text{", "|", "\\pm", ",", " and ",
    "\\cup", "\\infty", "=", "<", "\\left", "\\binom", "log", "\\{", "\\}", "...", "\\overline{", ":", "%", "²", "½",
    "\\\\", "&", "\\begin{matrix}", "$", "e9", "\u0663", "\ud800",
]  # fmt: skip


def verdict(answer: str, gold: str) -> bool | None:
    try:
        return equal(answer, gold)
    except Undecided:
        return None


@pytest.mark.parametrize(("answer", "gold", "same"), PAIRS)
def test_the_verdict_is_that_of_a_mathematician(answer: str, gold: str, same: bool) -> None:
    assert verdict(answer, gold) is same


def test_the_corpus_is_large_and_has_both_kinds() -> None:
    assert len(PAIRS) >= 300
    assert sum(same for *_, same in PAIRS) > 100
    assert sum(not same for *_, same in PAIRS) > 100


@pytest.mark.parametrize("dress", [r"${}$", r"\({}\)", r" {} ", "{}.", r"\displaystyle {}", r"\, {} \;"])
def test_dress_changes_nothing(dress: str) -> None:
    # a factorial's sign, a currency's, a choice's label and prose are no dress to put on top of
    plain = [pair for pair in PAIRS if not any(c in pair[0] for c in "!$%?ABb") and pair[0][0] in "0123456789-x(\\"]
    changed = [
        (answer, gold)
        for answer, gold, same in plain
        if "text" not in answer and verdict(dress.replace("{}", answer), gold) is not same
    ]
    assert not changed, changed


def test_processes_and_threads_agree() -> None:
    program = "from test_corpus import PAIRS, verdict\nprint([verdict(a, g) for a, g, _ in PAIRS])"
    wanted = str([verdict(answer, gold) for answer, gold, _ in PAIRS])
    for hash_seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", program],
            cwd=CORPUS.parent,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert result.stdout.strip() == wanted
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: str([verdict(answer, gold) for answer, gold, _ in PAIRS]), range(8)))
    assert found == [wanted] * 8


@given(st.data())
def test_broken_answers_are_decided_without_an_exception(data: st.DataObject) -> None:
    answer, gold = data.draw(st.sampled_from(SIDES)), data.draw(st.sampled_from(SIDES))
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(answer)))
        if data.draw(st.booleans()):
            answer = answer[:at] + data.draw(st.sampled_from(FRAGMENTS)) * data.draw(st.sampled_from([1, 2, 40]))
        else:
            answer = answer[:at] + answer[at + 2 :]
    assert verdict(answer, gold) in (True, False, None)
    assert verdict(answer, answer) is bool(answer.strip())
