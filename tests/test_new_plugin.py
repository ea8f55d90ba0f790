"""A package rendered by `gem new-plugin` builds, installs beside gem-core, passes its own tests and `gem doctor`."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

CORE = Path(__file__).resolve().parents[1] / "packages" / "gem-core"


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command in a clean environment; its output, or a failure that shows it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GEM_", "PYTEST"))}
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=clean, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_a_rendered_package_stands_on_its_own(tmp_path: Path) -> None:
    wheels, environment = tmp_path / "wheels", tmp_path / "environment"
    run(sys.executable, "-m", "gem", "new-plugin", "gem-sticks", "--path", tmp_path, cwd=tmp_path)
    package = tmp_path / "gem-sticks"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, CORE, package, cwd=tmp_path)
    assert sorted(w.name for w in wheels.iterdir()) == [
        f"gem_core-{(CORE.parents[1] / 'VERSION').read_text().strip()}-py3-none-any.whl",
        "gem_sticks-0.1.0-py3-none-any.whl",
    ]
    venv.create(environment, with_pip=False)  # pip from outside installs into it, and is not installed there
    python = environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(*pip, "--python", python, "install", "--quiet", *wheels.iterdir(), "pytest", cwd=tmp_path)
    elsewhere = tmp_path / "elsewhere"  # so that nothing is found because it lies in the current folder
    elsewhere.mkdir()
    command = python.with_name("gem")
    listed = run(command, "list", "sticks:", cwd=elsewhere)
    assert listed.split() == [
        *("sticks:Nim-v0-easy", "gem-sticks", "take", "the", "last", "stick"),
        *("sticks:Nim-v0-hard", "gem-sticks", "take", "the", "last", "stick"),
    ]
    assert "no problems" in run(command, "doctor", "--strict", cwd=elsewhere)
    out = run(python, "-m", "pytest", "-q", package / "tests", cwd=elsewhere)
    assert " passed" in out
    assert "failed" not in out
    assert "skipped" not in out
