"""The packages of this repository, in the order in which they depend on each other.

python tools/packages.py            # a line a package: name, import name, what it needs here
python tools/packages.py gem-rl     # the folders to install so that gem-rl works, one a line
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Package:
    """One folder under ``packages/``."""

    folder: Path

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "pyproject.toml").read_text())

    @property
    def name(self) -> str:
        return str(self.pyproject["project"]["name"])

    @property
    def import_name(self) -> str:
        return next(p.name for p in sorted((self.folder / "src").iterdir()) if (p / "__init__.py").exists())

    @property
    def source(self) -> Path:
        return self.folder / "src" / self.import_name

    @property
    def requirements(self) -> list[str]:
        """What it declares, extras left out."""
        return list(self.pyproject["project"].get("dependencies", []))

    @property
    def test_requirements(self) -> list[str]:
        """Its dependency group ``test`` (:pep:`735`), extras of its own included as ``name[extra]``."""
        return list(self.pyproject.get("dependency-groups", {}).get("test", []))

    @property
    def test_requirements_elsewhere(self) -> list[str]:
        """Those of the test requirements that come from the index, not from this repository."""
        siblings = {p.name for p in all_packages()}
        return [r for r in self.test_requirements if requirement_name(r) not in siblings]

    @property
    def smoke(self) -> str:
        """A Python program that shows that the installed wheel works: ``[tool.gem] smoke``."""
        return str(self.pyproject.get("tool", {}).get("gem", {}).get("smoke", f"import {self.import_name}"))


def requirement_name(requirement: str) -> str:
    """``"gem-games[textarena]>=0.1"`` -> ``"gem-games"``."""
    match = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
    if match is None:
        raise ValueError(f"not a requirement: {requirement!r}")
    return re.sub(r"[-_.]+", "-", match.group()).lower()


def all_packages() -> list[Package]:
    """Every package, dependencies before dependents, otherwise by name."""
    found = {p.name: p for p in map(Package, sorted(f.parent for f in ROOT.glob("packages/*/pyproject.toml")))}
    ordered: dict[str, Package] = {}

    def visit(package: Package, path: tuple[str, ...]) -> None:
        if package.name in path:
            raise ValueError(f"packages depend on each other in a circle: {' -> '.join((*path, package.name))}")
        for needed in local(package.requirements, found):
            visit(needed, (*path, package.name))
        ordered.setdefault(package.name, package)

    for package in found.values():
        visit(package, ())
    return list(ordered.values())


def local(requirements: list[str], packages: dict[str, Package]) -> list[Package]:
    """Those of the requirements that this repository holds."""
    names = [requirement_name(r) for r in requirements]
    return [packages[name] for name in names if name in packages]


def closure(package: Package, *, tests: bool = False) -> list[Package]:
    """The package and every sibling it needs (for its tests, with ``tests``), dependencies first."""
    packages = {p.name: p for p in all_packages()}
    needed: set[str] = set()

    def visit(current: Package, requirements: list[str]) -> None:
        needed.add(current.name)
        for sibling in local(requirements, packages):
            if sibling.name not in needed:
                visit(sibling, sibling.requirements)

    visit(package, package.requirements + (package.test_requirements if tests else []))
    return [p for p in packages.values() if p.name in needed]


def select(names: list[str]) -> list[Package]:
    """The packages of these names (all for none). Raises ``SystemExit`` naming those there are."""
    packages = {p.name: p for p in all_packages()}
    unknown = [n for n in names if n not in packages]
    if unknown:
        raise SystemExit(f"no package {unknown[0]!r}; there are {', '.join(packages)}")
    return [packages[n] for n in names] or list(packages.values())


def main() -> None:
    if len(sys.argv) > 1:
        for package in closure(select(sys.argv[1:2])[0]):
            print(package.folder.relative_to(ROOT))
        return
    for package in all_packages():
        siblings = ", ".join(p.name for p in closure(package) if p.name != package.name)
        print(f"{package.name:15} {package.import_name:15} {siblings}")


if __name__ == "__main__":
    main()
