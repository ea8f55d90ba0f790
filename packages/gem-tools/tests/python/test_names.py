from __future__ import annotations

import importlib

import pytest

from gem_tools.python.names import HEAVY_PACKAGES, USUAL_MODULES, USUAL_NAMES


@pytest.mark.parametrize("name", sorted(USUAL_NAMES))
def test_usual_names_exist(name):
    module, _, member = USUAL_NAMES[name].partition(":")
    if module in ("pandas", "sympy"):
        pytest.importorskip(module)
    found = importlib.import_module(module)
    assert not member or hasattr(found, member)


def test_no_builtin_is_shadowed():
    import builtins

    assert not set(USUAL_NAMES) & set(dir(builtins))


def test_what_is_loaded_from_the_start_is_light():
    assert not set(USUAL_MODULES) & set(HEAVY_PACKAGES)
