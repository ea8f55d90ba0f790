"""Ids, mixtures, and that listing is light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gem


def test_every_data_set_has_an_id() -> None:
    ids = {spec.id for spec in gem.specs("rg")}
    assert len(ids) > 90
    assert {"rg:chain_sum", "rg:countdown", "rg:sudoku"} <= ids
    assert "rg:composite" not in ids


def test_listing_does_not_import_the_library() -> None:
    program = "import sys, gem; list(gem.specs('rg')); print('reasoning_gym' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_mixtures_by_id() -> None:
    env = gem.make("rg:chain_sum+countdown")
    questions = [env.reset()[0] for _ in range(20)]
    assert any("Using all the numbers" in q or "Find a way" in q or "make" in q for q in questions)
    assert env.spec is not None
    assert env.spec.provider == "gem-reasoning"
    weighted = [{"name": "chain_sum", "weight": 1.0, "config": {"min_terms": 2}}]
    assert gem.make("rg:composite", datasets=weighted).reset()[0]


@pytest.mark.parametrize("env_id", ["rg:chain_sun", "rg:chain_sum+nothing", "rg:chain_sum+chain_sum", "rg:+"])
def test_unknown_ids(env_id: str) -> None:
    with pytest.raises(gem.UnknownEnv, match="unknown environment"):
        gem.make(env_id)
