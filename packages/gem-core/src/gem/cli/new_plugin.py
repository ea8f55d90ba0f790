"""Start a package with environments of your own: a small game, its tests, a continuous-integration file.

The rendered package is complete: install it, and its own tests pass.
"""

from __future__ import annotations

import argparse
import datetime
import keyword
import re
import shutil
import sys
import tempfile
from pathlib import Path

import gem

_HERE = Path(__file__).parent
_TEMPLATE = _HERE / "template"
LICENSES = {path.stem: path for path in sorted((_HERE / "licenses").glob("*.txt"))}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="name of the distribution, such as gem-chess")
    parser.add_argument("--path", type=Path, default=Path(), help="the folder to put it in (default: this one)")
    parser.add_argument("--namespace", help="what its ids begin with (default: the name without gem-)")
    parser.add_argument("--license", choices=LICENSES, default="Apache-2.0", help="(default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    namespace = args.namespace if args.namespace is not None else default_namespace(args.name)
    target = render(args.name, args.path, namespace, args.license)
    print(f"{target} is ready. Next:\n\n  cd {target}\n  pip install -e '.[test]'\n  pytest\n  gem list {namespace}:")
    return 0


def default_namespace(name: str) -> str:
    """``Gem_Chess`` -> ``chess``."""
    return re.sub(r"[-_.]+", "-", name).lower().removeprefix("gem-")


def render(name: str, path: Path, namespace: str, license_: str = "Apache-2.0") -> Path:
    """Write the package ``name`` into the folder ``path``; all of it or nothing.

    Returns:
        The package's folder.

    Raises:
        ValueError: the name or the namespace cannot be one.
        FileExistsError: the folder is there already.
        FileNotFoundError: ``path`` is no folder.
    """
    module = _module_name(name)
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", namespace):
        raise ValueError(f"{namespace!r} cannot be a namespace: use small letters, digits, - and _")
    if not path.is_dir():
        raise FileNotFoundError(f"{str(path)!r} is no folder: create it, or choose another --path")
    target = path / name
    if target.exists():
        raise FileExistsError(f"{str(target)!r} is there already: choose another name or --path")
    words = {
        "__NAME__": name,
        "__MODULE__": module,
        "__NAMESPACE__": namespace,
        "__LICENSE__": license_,
        "__CORE_VERSION__": gem.__version__,
        "__YEAR__": str(datetime.date.today().year),
        "__DOT__": ".",
    }
    files = {p.relative_to(_TEMPLATE).with_suffix(""): p for p in sorted(_TEMPLATE.rglob("*.txt"))}
    files[Path("LICENSE")] = LICENSES[license_]
    with tempfile.TemporaryDirectory(dir=path, prefix=f".{name}-") as scratch:
        for relative, template in files.items():
            file = Path(scratch, "package", _fill(str(relative), words))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_fill(template.read_text(encoding="utf-8"), words), encoding="utf-8")
        shutil.move(Path(scratch, "package"), target)
    return target


def _module_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        raise ValueError(f"{name!r} cannot be a package's name: use letters, digits, - and _, a letter first")
    module = re.sub(r"[-.]+", "_", name).lower()
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or module in ("gem", "tests"):
        raise ValueError(f"{name!r} cannot be a package's name: the module {module!r} is taken; try 'gem-{name}'")
    return module


def _fill(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
