"""Set the version of every package at once: VERSION, each pyproject.toml, each ``__version__``.

python tools/bump_version.py 0.2.0
python tools/bump_version.py --check    # exit 1 when they disagree
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from packages import ROOT, all_packages

_PATTERNS = {
    "pyproject.toml": re.compile(r'^(version = ")([^"]*)(")', re.MULTILINE),
    "__init__.py": re.compile(r'^(__version__ = ")([^"]*)(")', re.MULTILINE),
}


def versions() -> dict[Path, str]:
    """Every place that states the version, and what it states."""
    found = {ROOT / "VERSION": (ROOT / "VERSION").read_text().strip()}
    for package in all_packages():
        for path in (package.folder / "pyproject.toml", package.source / "__init__.py"):
            match = _PATTERNS[path.name].search(path.read_text())
            if match is None:
                raise SystemExit(f"{path.relative_to(ROOT)} states no version")
            found[path] = match.group(2)
    return found


def main(argument: str) -> int:
    found = versions()
    if argument == "--check":
        expected = found[ROOT / "VERSION"]
        wrong = {path: version for path, version in found.items() if version != expected}
        for path, version in wrong.items():
            print(f"{path.relative_to(ROOT)} says {version}, VERSION says {expected}")
        return 1 if wrong else 0
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", argument):
        raise SystemExit(f"{argument!r} is not a version such as 0.2.0")
    for path in found:
        if path.name == "VERSION":
            path.write_text(argument + "\n")
        else:
            path.write_text(_PATTERNS[path.name].sub(rf"\g<1>{argument}\g<3>", path.read_text(), count=1))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    raise SystemExit(main(sys.argv[1]))
