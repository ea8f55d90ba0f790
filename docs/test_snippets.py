"""Run every snippet of the README files and of the documentation.

The ``python`` blocks of a page run in order, in one namespace, in an empty folder. The ``console`` blocks are
shell commands: each line that begins with ``$ `` must succeed. Set-up commands (``pip``, ``nox``) are not run
again inside the test run: instead, what they name must exist in this repository.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path
    for pattern in ("README.md", "CONTRIBUTING.md", "packages/*/README.md", "docs/**/*.md", "examples/**/README.md")
    for path in ROOT.glob(pattern)
    if "_build" not in path.parts and ".nox" not in path.parts
)
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[a-z]+)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    language: str
    body: str
    line: int


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text()
    found = []
    for match in FENCE.finditer(text):
        indent = len(match["indent"])
        body = "\n".join(line[indent:] for line in match["body"].splitlines())
        found.append(Snippet(match["language"], body, text.count("\n", 0, match.start()) + 2))
    return found


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(s.language == language for s in snippets(page))]


@pytest.mark.parametrize("page", pages_with("python"), ids=name)
def test_python_snippets_run(page: Path, tmp_path: Path) -> None:
    """In a process of their own: what a page registers or imports must not help the next page."""
    program = []
    for snippet in snippets(page):
        if snippet.language == "python":
            # blank lines keep the line numbers of the page in tracebacks
            program.extend([""] * (snippet.line - 1 - len(program)))
            program.extend(snippet.body.splitlines())
    script = tmp_path / f"page_{page.stem}.py"  # not called like a library that the page imports
    script.write_text("\n".join(program) + "\n")
    done = subprocess.run([sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, f"{name(page)}: a python snippet failed (line numbers are the page's)\n{done.stderr}"


@pytest.mark.parametrize("page", pages_with("console"), ids=name)
def test_console_snippets_run(page: Path, tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for snippet in snippets(page):
        if snippet.language != "console":
            continue
        for line in snippet.body.splitlines():
            if not line.startswith("$ "):
                continue
            command = line[2:]
            if is_set_up(command):
                check_set_up(command)
                continue
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=240,
            )
            assert done.returncode == 0, f"{name(page)}:{snippet.line}: `{command}` failed\n{done.stdout}{done.stderr}"


def is_set_up(command: str) -> bool:
    return re.match(r"(python3? -m )?(pip|nox|twine)\b", command) is not None


def check_set_up(command: str) -> None:
    """Every nox session and every package of ours that a set-up command names exists."""
    from_here = {
        tomllib.loads(p.read_text())["project"]["name"]: p.parent for p in ROOT.glob("packages/*/pyproject.toml")
    }
    noxfile = (ROOT / "noxfile.py").read_text()
    for session in re.findall(r"nox -s ([a-z-]+)", command):
        base = next((session.removesuffix(f"-{p}") for p in from_here if session.endswith(f"-{p}")), session)
        assert f"def {base}(" in noxfile, f"`{command}` names a nox session that does not exist"
    for package in re.findall(r"\bgem-[a-z]+\b", command):
        assert package in from_here or package == "gem-llm", f"`{command}` names the package {package}, not one of ours"
