"""The ids of the installed TextArena, read from its registry's source: importing it takes hundreds of milliseconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Any

#: What TextArena adds to an id: the training wrappers, or none.
VERSIONS = ("-train", "-raw")


@dataclass(frozen=True, slots=True)
class Entry:
    """One id of TextArena."""

    id: str
    #: ``"module:Class"`` of the game.
    entry_point: str

    @property
    def family(self) -> str:
        """The folder of the game in TextArena: the name shared by all ids of one game."""
        parts = self.entry_point.partition(":")[0].split(".")
        return parts[2] if parts[:2] == ["textarena", "envs"] and len(parts) > 2 else parts[-1]

    @property
    def base(self) -> str:
        """The id without :data:`VERSIONS`."""
        for version in VERSIONS:
            if self.id.endswith(version):
                return self.id.removesuffix(version)
        return self.id


def folder() -> Path | None:
    """Where TextArena is installed, or ``None``. Imports nothing of it."""
    found = util.find_spec("textarena")
    return Path(found.origin).parent if found is not None and found.origin else None


def entries() -> Iterator[Entry]:
    """Every id that TextArena registers, none where it is not installed."""
    where = folder()
    if where is None:
        return
    seen: set[str] = set()
    for statement in ast.parse((where / "envs" / "__init__.py").read_text(encoding="utf-8")).body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.startswith("register"):
            for entry in _registered(call):
                if entry.id not in seen:
                    seen.add(entry.id)
                    yield entry


def _registered(call: ast.Call) -> Iterator[Entry]:
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    positional = dict(zip(("id", "entry_point"), call.args, strict=False))
    env_id, entry_point = (_text(keywords.get(name, positional.get(name))) for name in ("id", "entry_point"))
    if env_id is None or entry_point is None:
        return
    yield Entry(env_id, entry_point)
    if call.func.id == "register_with_versions":  # type: ignore[attr-defined]
        wrappers = keywords.get("wrappers")
        names = [_text(key) for key in wrappers.keys] if isinstance(wrappers, ast.Dict) else []
        for version in dict.fromkeys([*names, "-raw"]):
            if version is not None and version != "default":
                yield Entry(env_id + version, entry_point)


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def registered_here(env_id: str) -> Entry | None:
    """An id that this process registered with TextArena itself, once something has imported it."""
    import sys

    if "textarena" not in sys.modules:
        return None
    found = import_module("textarena.envs.registration").ENV_REGISTRY.get(env_id)
    return entry_of(found) if found is not None else None


def entry_of(spec: Any) -> Entry:
    """The entry of one of TextArena's own specifications."""
    entry_point = spec.entry_point
    if not isinstance(entry_point, str):
        entry_point = f"{entry_point.__module__}:{entry_point.__qualname__}"
    return Entry(spec.id, entry_point)
