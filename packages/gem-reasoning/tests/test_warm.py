"""The interpreter of the scores is warm: what a first score would import stands there already."""

from __future__ import annotations

import importlib
import random

from gem_reasoning.scorer import executor
from gem_tools.python import Case


def test_it_is_loaded_before_the_first_program() -> None:
    program = "import sys\ndef loaded():\n    return 'gem_reasoning.warm' in sys.modules"
    for backend in ("isolated", "subprocess"):
        result = executor(backend).run_many(program, [Case(function="loaded")], timeout=30)[0]
        assert result.value is True, (backend, result)


def test_it_leaves_the_global_generator_as_it_was() -> None:
    from gem_reasoning import warm

    before = random.getstate()
    importlib.reload(warm)
    assert random.getstate() == before
