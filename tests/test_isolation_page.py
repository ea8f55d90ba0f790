"""Each promise of the page on isolation names the tests that attack it: they are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "packages" / "gem-tools" / "tests" / "python"


def test_every_promise_is_attacked_by_tests_that_exist() -> None:
    page = (ROOT / "docs" / "isolation.md").read_text()
    there = {
        name for file in TESTS.glob("test_*.py") for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)
    }
    table = page.partition("## Promises")[2].partition("\n## ")[0]
    promises = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(promises) > 20
    for promise, _, attacks in promises:
        names = re.findall(r"`(test_\w+)`", attacks)
        assert names, f"nothing attacks: a program cannot {promise.strip()}"
        assert set(names) <= there, f"not there: {sorted(set(names) - there)}"
    named = set(re.findall(r"`(test_\w+)`", page))
    assert named <= there, f"not there: {sorted(named - there)}"
