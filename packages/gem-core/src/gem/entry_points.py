"""The index of installed plugins: every entry point in a ``gem.*`` group, read straight from the disk.

``importlib_metadata`` would do, at 30 ms a process for its import and 200 distributions; a listing of the
folders on ``sys.path`` and a look for ``gem.`` in each ``entry_points.txt`` takes 4 ms. What is not a plain
folder (an egg, a zip file, a finder of somebody's own) still goes through ``importlib_metadata``.
"""

from __future__ import annotations

import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from importlib_metadata import Distribution

_SUFFIXES = (".dist-info", ".egg-info")


class EntryPoint:
    """One line of a distribution's ``entry_points.txt``.

    ``value`` is ``"module"`` or ``"module:attribute"``; ``location`` the folder on ``sys.path`` that the
    distribution was found in.
    """

    __slots__ = ("distribution", "group", "location", "name", "value", "version")

    def __init__(self, group: str, name: str, value: str, distribution: str, version: str, location: str) -> None:
        self.group = group
        self.name = name
        self.value = value
        self.distribution = distribution
        self.version = version
        self.location = location

    def load(self) -> Any:
        """Import the module and return what the entry point names."""
        from importlib import import_module

        module, _, attributes = self.value.partition("[")[0].partition(":")
        found: Any = import_module(module.strip())
        for attribute in filter(None, attributes.strip().split(".")):
            found = getattr(found, attribute)
        return found

    def __repr__(self) -> str:
        return f"<EntryPoint [{self.group}] {self.name} = {self.value} of {self.distribution} {self.version}>"


def normalized(name: str) -> str:
    """A distribution's name as packaging tools compare it (:pep:`503`): ``Gem.Games`` -> ``gem-games``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def scan(path: list[str] | None = None) -> list[EntryPoint]:
    """Every entry point of the ``gem.*`` groups, ordered by group, name and distribution.

    Of two installations of one distribution, the first on ``path`` (by default ``sys.path``) counts, as it does
    for imports.
    """
    found: list[EntryPoint] = []
    seen: set[str] = set()
    for folder in sys.path if path is None else path:
        found.extend(_scan_folder(folder or os.curdir, seen))
    for finder in sys.meta_path if path is None else ():
        module = getattr(finder, "__module__", type(finder).__module__) or ""
        if hasattr(finder, "find_distributions") and not module.startswith(("_frozen_importlib", "importlib")):
            found.extend(_of_distributions(finder.find_distributions(), repr(finder), seen))
    return sorted(found, key=lambda e: (e.group, e.name, normalized(e.distribution), e.value))


def _scan_folder(folder: str, seen: set[str]) -> Iterator[EntryPoint]:
    try:
        names = os.listdir(folder)
    except NotADirectoryError:  # an egg or a zip file
        names = []
    except OSError:
        return
    if not names or folder.endswith(".egg"):
        if os.path.exists(folder):
            from importlib_metadata import distributions

            yield from _of_distributions(distributions(path=[folder]), folder, seen)
        return
    for name in sorted(names):
        if not name.endswith(_SUFFIXES) or name.startswith("~"):  # pip renames what it failed to remove to ~...
            continue
        key = normalized(name[: name.rindex(".")].partition("-")[0])
        if key in seen:
            continue
        seen.add(key)
        info = os.path.join(folder, name)
        text = _read(os.path.join(info, "entry_points.txt"))
        if "gem." in text:
            lines = list(_parse(text))
            if lines:
                distribution, version = _identity(info, name)
                for group, entry_name, value in lines:
                    yield EntryPoint(group, entry_name, value, distribution, version, folder)


def _of_distributions(distributions: Any, location: str, seen: set[str]) -> Iterator[EntryPoint]:
    distribution: Distribution
    for distribution in distributions:
        name = distribution.metadata["Name"] or ""
        if normalized(name) in seen:
            continue
        seen.add(normalized(name))
        for group, entry_name, value in _parse(distribution.read_text("entry_points.txt") or ""):
            yield EntryPoint(group, entry_name, value, name, distribution.version, location)


def _parse(text: str) -> Iterator[tuple[str, str, str]]:
    """``(group, name, value)`` of each line in a ``gem.*`` section."""
    group = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group.startswith("gem.") and not line.startswith(("#", ";")):
            name, equals, value = line.partition("=")
            if equals and name.strip() and value.strip():
                yield group, name.strip(), value.strip()


def _identity(info: str, folder_name: str) -> tuple[str, str]:
    """The name and version in a distribution's metadata, else those in its folder's name."""
    name, _, version = folder_name[: folder_name.rindex(".")].partition("-")
    text = _read(os.path.join(info, "METADATA")) or _read(os.path.join(info, "PKG-INFO"))
    for line in text.partition("\n\n")[0].splitlines():
        field, _, value = line.partition(":")
        if field == "Name":
            name = value.strip()
        elif field == "Version":
            version = value.strip()
    return name, version


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
