"""The names at the top of the package."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gem_rl


def test_every_name_can_be_had() -> None:
    for name in gem_rl.__all__:
        assert getattr(gem_rl, name) is not None
        assert name in dir(gem_rl)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'gem_rl' has no attribute 'Trainr'"):
        _ = gem_rl.Trainr


def test_importing_the_package_does_not_load_torch() -> None:
    program = "import sys, gem_rl; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "gem_rl", "--preset", "none"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("gem: unknown preset 'none'")
