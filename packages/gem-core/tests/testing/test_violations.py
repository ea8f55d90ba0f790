"""docs/conformance.md explains every rule, word for word."""

from __future__ import annotations

import re
from pathlib import Path

from gem.testing import RULES

PAGE = Path(__file__).resolve().parents[4] / "docs" / "conformance.md"


def test_every_rule_is_explained():
    page = PAGE.read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("| GEM")}
    for rule in RULES.values():
        assert rows.get(rule.code) == f"| {rule.code} | {rule.name} | {rule.meaning} | {rule.mend} |"


def test_no_rule_is_explained_that_does_not_exist():
    assert set(re.findall(r"GEM\d{3}", PAGE.read_text(encoding="utf-8"))) == set(RULES)


def test_codes_and_names_are_unique():
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    assert all(re.fullmatch(r"GEM[1-9]\d\d", code) and rule.code == code for code, rule in RULES.items())
