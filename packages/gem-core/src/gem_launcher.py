"""Starts the ``gem`` command.

It lies outside the package ``gem``, so that there is somebody left to explain when another distribution (``gem-llm``
is one) has written its own package of that name over this one.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line, or say in one line who has overwritten the package."""
    problem = overwritten()
    if problem is not None:
        print(f"gem: {problem}", file=sys.stderr)
        return 2
    from gem.cli import main as run

    return run()


def overwritten() -> str | None:
    """What is wrong when ``import gem`` would find another package, and how to repair it; ``None`` when it is ours."""
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec("gem")  # nothing is imported: a stranger's package may fail, or take seconds
    if found is not None and found.origin is not None:
        with open(found.origin, encoding="utf-8", errors="replace") as file:
            if "_EXPORTS = {" in file.read():
                return None
    owners = other_owners()
    repair = "pip install --force-reinstall --no-deps gem-core"
    if owners:
        names = " and ".join(f"{name} {version}" for name, version in owners)
        return f"{names} also installs a package 'gem': pip uninstall {' '.join(n for n, _ in owners)}, then {repair}"
    place = f"at {found.origin!r} " if found is not None and found.origin else ""
    return f"the package 'gem' {place}is not gem-core's: move it away, or {repair}"


def other_owners() -> list[tuple[str, str]]:
    """Name and version of the other distributions that install a package ``gem``."""
    from importlib.metadata import distributions

    owners = []
    for distribution in distributions():
        name = distribution.metadata["Name"] or ""
        record = "\n" + (distribution.read_text("RECORD") or "")
        if "\ngem/__init__.py," in record and name.replace("_", "-").lower() != "gem-core":
            owners.append((name, distribution.version))
    return owners
