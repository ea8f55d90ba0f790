"""Which data sets the installed reasoning-gym has, without importing it (which takes a second)."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_NAME = re.compile(r"""^DATASET_NAME\s*=\s*["']([^"']+)["']""", re.MULTILINE)

#: Registered without a ``DATASET_NAME`` of its own.
COMPOSITE = "composite"


@cache
def dataset_names() -> tuple[str, ...]:
    """The names, sorted; empty where reasoning-gym is not installed."""
    package = find_spec("reasoning_gym")
    if package is None or not package.submodule_search_locations:
        return ()
    names = {COMPOSITE}
    for folder in package.submodule_search_locations:
        for path in Path(folder).rglob("*.py"):
            names.update(_NAME.findall(path.read_text(encoding="utf-8")))
    return tuple(sorted(names))
