"""Running whole programs and looking at processes, for the tests of workers."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a program from a file, where its classes live in ``__main__``."""
    program = folder / "main.py"
    program.write_text(textwrap.dedent(text))
    return subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )
