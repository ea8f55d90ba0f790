"""The index read from disk agrees with importlib.metadata, and survives what lies around on disks."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import importlib_metadata
import pytest
from hypothesis import given, strategies as st

from gem.entry_points import EntryPoint, _parse, normalized, scan


def described(found: list[EntryPoint]) -> list[tuple[str, ...]]:
    return [(e.group, e.name, e.value, e.distribution, e.version) for e in found]


def test_agrees_with_importlib_metadata_about_this_installation() -> None:
    expected = {
        (e.group, e.name, e.value, d.metadata["Name"], d.version)
        for d in importlib_metadata.distributions()
        for e in d.entry_points
        if e.group.startswith("gem.")
    }
    assert set(described(scan())) == expected


def test_agrees_about_a_folder_of_distributions(site) -> None:
    site.add("Gem.Odd_Name", version="2.1+local", groups={"gem.envs": {"a": "m", "b": "m:x.y"}, "other": {"c": "d"}})
    site.add("plain", groups={"console_scripts": {"x": "gem.y:z"}})
    expected = {
        (e.group, e.name, e.value, d.metadata["Name"], d.version)
        for d in importlib_metadata.distributions(path=[str(site.folder)])
        for e in d.entry_points
        if e.group.startswith("gem.")
    }
    assert set(described(scan([str(site.folder)]))) == expected
    assert len(expected) == 2


def test_the_first_of_two_installations_counts(site, tmp_path: Path) -> None:
    site.add("gem-a", version="1.0", groups={"gem.envs": {"a": "one"}})
    other = type(site)(tmp_path / "other")
    other.add("Gem_A", version="2.0", groups={"gem.envs": {"a": "two"}})
    assert [e.value for e in scan([str(site.folder), str(other.folder)])] == ["one"]
    assert [e.value for e in scan([str(other.folder), str(site.folder)])] == ["two"]


def test_leftovers_and_oddities_are_passed_over(site, tmp_path: Path) -> None:
    site.add("gem-a", groups={"gem.envs": {"a": "one"}})
    folder = site.folder
    leftover = folder / "~em_b-1.0.dist-info"
    leftover.mkdir()
    (leftover / "entry_points.txt").write_text("[gem.envs]\nb = two\n")
    (folder / "file.dist-info").write_text("not a folder")
    bare = folder / "gem_bare-3.0.dist-info"  # no METADATA: the folder's name is all there is
    bare.mkdir()
    (bare / "entry_points.txt").write_bytes(b"# gem. \xff\xfe\n[gem.envs]\nno equals sign\n = x\ny =\nbare = m\n")
    missing = str(tmp_path / "missing")
    assert described(scan([missing, str(folder)])) == [
        ("gem.envs", "a", "one", "gem-a", "1.0"),
        ("gem.envs", "bare", "m", "gem_bare", "3.0"),
    ]


def test_egg_info_and_zip_files(tmp_path: Path) -> None:
    egg_info = tmp_path / "src" / "gem_dev.egg-info"
    egg_info.mkdir(parents=True)
    (egg_info / "PKG-INFO").write_text("Name: gem-dev\nVersion: 0.0.1\n")
    (egg_info / "entry_points.txt").write_text("[gem.hooks]\nwatch = m\n")
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("gem_zip-5.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: gem-zip\nVersion: 5.0\n")
        zipped.writestr("gem_zip-5.0.dist-info/entry_points.txt", "[gem.envs]\nz = m\n")
    egg = tmp_path / "old-1.0-py3.11.egg" / "EGG-INFO"
    egg.mkdir(parents=True)
    (egg / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: old\nVersion: 1.0\n")
    (egg / "entry_points.txt").write_text("[gem.envs]\nold = m\n")
    assert described(scan([str(tmp_path / "src"), str(archive), str(egg.parent)])) == [
        ("gem.envs", "old", "m", "old", "1.0"),
        ("gem.envs", "z", "m", "gem-zip", "5.0"),
        ("gem.hooks", "watch", "m", "gem-dev", "0.0.1"),
    ]


def test_a_finder_of_ones_own_is_asked(monkeypatch: pytest.MonkeyPatch, site) -> None:
    site.add("gem-found", groups={"gem.envs": {"found": "m"}})

    class Finder:
        def find_spec(self, *args: object) -> None:
            return None

        def find_distributions(self, *args: object) -> object:
            return [importlib_metadata.PathDistribution(site.folder / "gem_found-1.0.dist-info")]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert "found" in [e.name for e in scan()]


def test_load(site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(site.folder))
    (site.folder / "loadable_module.py").write_text("class A:\n    b = 3\n")
    site.modules.add("loadable_module")

    def load(value: str) -> object:
        return EntryPoint("gem.envs", "x", value, "d", "1", "").load()

    assert load("loadable_module").__name__ == "loadable_module"
    assert load("loadable_module:A.b") == 3
    assert load("loadable_module : A [extra]").b == 3
    with pytest.raises(AttributeError):
        load("loadable_module:nothing")
    with pytest.raises(ModuleNotFoundError):
        load("no_such_module_anywhere")
    sys.modules.pop("loadable_module")


@pytest.mark.parametrize(("name", "expected"), [("Gem.Games", "gem-games"), ("gem__games", "gem-games"), ("*", "*")])
def test_normalized(name: str, expected: str) -> None:
    assert normalized(name) == expected


@given(st.text(max_size=200))
def test_any_text_can_be_parsed(text: str) -> None:
    for group, name, value in _parse("[gem.envs]\n" + text):
        assert group.startswith("gem.")
        assert name
        assert value
