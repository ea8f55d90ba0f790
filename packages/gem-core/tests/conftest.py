"""Dummy distributions: a folder of ``*.dist-info`` and modules, as pip leaves them, for tests of discovery."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes, or to draw it, says how busy the machine is; and luck fails no test.
settings.register_profile("gem", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gem")

TOY = """
import gem

class Toy(gem.Env):
    "A toy that counts."

    def __init__(self, limit=3, label="a"):
        self.limit, self.label = limit, label

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return "toy", {}

    def step(self, action):
        return "toy", 1.0, True, False, {}
"""


class Site:
    """A folder of installed distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: set[str] = set()

    def add(
        self,
        name: str,
        *,
        version: str = "1.0",
        groups: dict[str, dict[str, str]] | None = None,
        modules: dict[str, str] | None = None,
    ) -> None:
        """Install a distribution: entry-point groups (group -> name -> value) and modules (name -> source)."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not this\n")
        sections = (
            "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""])
            for group, entries in (groups or {}).items()
        )
        (info / "entry_points.txt").write_text("\n".join(sections))
        for module, source in (modules or {}).items():
            self.modules.add(module)
            (self.folder / f"{module}.py").write_text(textwrap.dedent(source))

    def add_envs(self, name: str, *ids: str, namespace: str = "toy", body: str = "") -> str:
        """Install a distribution whose plugin module lists ``ids``, then runs ``body``; returns the module's name."""
        module = f"{name.replace('-', '_')}_plugin"
        lines = "\n".join(f"    yield EnvSpec(id={i!r}, entry_point='{module}_envs:Toy')" for i in ids)
        head = "from gem import EnvSpec, hookimpl\n@hookimpl\ndef gem_env_specs():\n"
        source = f"{head}{lines or '    yield from ()'}\n{body}"
        groups = {"gem.envs": dict.fromkeys(namespace.split(), module)}
        self.add(name, groups=groups, modules={module: source, f"{module}_envs": TOY})
        return module

    def python(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run code in an interpreter of its own that sees this folder first."""
        return self.run("-c", textwrap.dedent(code), **variables)

    def gem(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the ``gem`` command there."""
        return self.run("-m", "gem", *arguments, **variables)

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("GEM_", "PYTHON")) and k != "NO_COLOR"}
        return subprocess.run(
            [sys.executable, *arguments],
            env={**keep, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1", **variables},
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """An empty folder of distributions, for interpreters of their own."""
    folder = tmp_path / "site"
    folder.mkdir()
    return Site(folder)


@pytest.fixture
def installed(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A function that makes this process see the distributions of ``site``, and no others; again after changes."""
    from gem import entry_points, plugins, registry

    monkeypatch.setattr(registry, "_local", {})
    for variable in ("GEM_PLUGINS", "GEM_DISABLE_PLUGINS", "GEM_TRACE_PLUGINS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.syspath_prepend(str(site.folder))
    scan = entry_points.scan
    monkeypatch.setattr(plugins, "scan", lambda: scan([str(site.folder)]))

    def see() -> None:
        import importlib

        importlib.invalidate_caches()
        plugins.forget()

    see()
    yield see
    plugins.forget()
    for module in site.modules:
        sys.modules.pop(module, None)
