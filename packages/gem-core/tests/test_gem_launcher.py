"""The `gem` command explains itself when another package named gem lies over this one."""

from __future__ import annotations

import subprocess
import sys

import gem_launcher
import pytest

START = "import sys, gem_launcher; sys.exit(gem_launcher.main())"


def test_it_starts_the_command(site) -> None:
    done = site.run("-c", START, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("gem-core ")


def test_an_overwritten_package_is_explained_and_not_imported(site) -> None:
    (site.folder / "gem").mkdir()
    (site.folder / "gem" / "__init__.py").write_text("raise SystemExit('imported')")
    done = site.run("-c", START, "doctor")
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"gem: the package 'gem' at '{site.folder}/gem/__init__.py' is not gem-core's: move it"
    )
    site.add("gem-llm", version="0.1.0")
    (site.folder / "gem_llm-0.1.0.dist-info" / "RECORD").write_text("gem/__init__.py,sha256=x,1\n")
    done = site.run("-c", START, "doctor")
    assert done.returncode == 2
    assert done.stderr == (
        "gem: gem-llm 0.1.0 also installs a package 'gem': pip uninstall gem-llm, "
        "then pip install --force-reinstall --no-deps gem-core\n"
    )


def test_no_package_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert gem_launcher.overwritten() == (
        "the package 'gem' is not gem-core's: move it away, or pip install --force-reinstall --no-deps gem-core"
    )


def test_the_launcher_is_what_is_installed(site) -> None:
    code = "from importlib.metadata import entry_points; print(*entry_points(group='console_scripts', name='gem'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gem_launcher:main" in done.stdout
