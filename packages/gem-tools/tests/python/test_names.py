from __future__ import annotations

import importlib
import sys

import pytest

from gem_tools.python.names import HEAVY_PACKAGES, USUAL_MODULES, USUAL_NAMES

OF_OTHERS = {"np": "numpy", "numpy": "numpy", "pd": "pandas", "sp": "sympy", "sympy": "sympy"}


@pytest.mark.parametrize("name", sorted(USUAL_NAMES.keys() - OF_OTHERS.keys()))
def test_usual_names_exist(name):
    module, _, member = USUAL_NAMES[name].partition(":")
    found = importlib.import_module(module)
    assert not member or hasattr(found, member)


def test_usual_names_of_packages_are_the_packages_themselves():
    """They need not be installed: a program that uses one then fails with its own NameError."""
    assert {name: USUAL_NAMES[name] for name in OF_OTHERS} == OF_OTHERS
    assert {USUAL_NAMES[name].partition(":")[0] for name in USUAL_NAMES.keys() - OF_OTHERS.keys()} <= {
        *sys.stdlib_module_names,
        "os.path",
    }


def test_no_builtin_is_shadowed():
    import builtins

    assert not set(USUAL_NAMES) & set(dir(builtins))


def test_what_is_loaded_from_the_start_is_light():
    assert not set(USUAL_MODULES) & set(HEAVY_PACKAGES)
