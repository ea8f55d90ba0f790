"""Programs that tests run beside themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(program: str, **environment: str) -> str:
    """What a program prints, run beside these tests in a process of its own: nltk keeps what it found."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), **environment}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, timeout=120, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
