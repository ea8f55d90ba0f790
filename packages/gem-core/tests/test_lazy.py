"""Lazy names: imported when used, listed before, clear when there is none."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import gem


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "lazy_example"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from gem.lazy import lazy_exports\n"
        "__getattr__, __dir__ = lazy_exports(__name__, {'thing': 'lazy_example.inner'})\n"
    )
    (folder / "inner.py").write_text("thing = object()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "lazy_example"
    for name in ("lazy_example", "lazy_example.inner"):
        sys.modules.pop(name, None)


def test_a_name_is_imported_when_it_is_first_used_and_once(package: str) -> None:
    module = importlib.import_module(package)
    assert "lazy_example.inner" not in sys.modules
    assert "thing" in dir(module)
    first = module.thing
    assert "lazy_example.inner" in sys.modules
    assert vars(module)["thing"] is first


def test_a_name_that_is_not_there(package: str) -> None:
    module = importlib.import_module(package)
    with pytest.raises(AttributeError, match="module 'lazy_example' has no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("name", gem.__all__)
def test_every_public_name_of_gem_can_be_had(name: str) -> None:
    assert getattr(gem, name) is not None
