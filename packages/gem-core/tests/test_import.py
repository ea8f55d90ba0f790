"""``import gem`` is light, and every public name is there when it is first used."""

from __future__ import annotations

import importlib

import pytest

import gem

HEAVY = (
    "torch datasets transformers reasoning_gym textarena docker math_verify numpy pluggy importlib_metadata "
    "importlib.metadata dataclasses inspect typing asyncio multiprocessing json argparse logging"
)


def test_import_loads_nothing_heavy(site) -> None:
    site.add_envs("gem-a", "toy:X-v0")
    done = site.python(f"""
        import sys
        before = set(sys.modules)  # what the interpreter itself, or a .pth file of the installation, has loaded
        import gem
        gem.Env, gem.Wrapper, gem.GemError
        heavy = [name for name in "{HEAVY}".split() if name in sys.modules and name not in before]
        assert not heavy, heavy
        gem.make("toy:X-v0").reset(seed=0)
        assert "numpy" not in sys.modules and "importlib_metadata" not in sys.modules
    """)
    assert done.returncode == 0, done.stderr


def test_names_that_do_not_exist() -> None:
    with pytest.raises(AttributeError, match="module 'gem' has no attribute 'nothing'"):
        _ = gem.nothing


def test_public_names_are_listed() -> None:
    assert set(gem.__all__) <= set(dir(gem))
    assert sorted(gem.__all__) == gem.__all__


@pytest.mark.parametrize("name", gem.__all__)
def test_every_public_name_is_there(name: str) -> None:
    value = getattr(gem, name)
    assert value is getattr(importlib.import_module(gem._EXPORTS[name]), name)
    assert value is vars(gem)[name]  # kept: later accesses cost nothing


def test_the_version_is_the_distributions() -> None:
    from importlib.metadata import version

    assert gem.__version__ == version("gem-core")
