"""Makes ``vector_toys`` importable here and in worker processes, and sees to it that nothing is left running."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def children() -> set[int]:
    """Process ids of this process's children."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended in between
            continue
        if int(fields[1]) == os.getpid():
            found.add(int(stat.parent.name))
    return found


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves threads or processes."""
    from vector_toys import released

    threads, processes = set(threading.enumerate()), children()
    released.clear()
    yield
    released.set()
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        left = [thread for thread in threading.enumerate() if thread not in threads]
        orphans = children() - processes
        if not left and not orphans:
            return
        time.sleep(0.02)
    pytest.fail(f"left running: threads {left}, processes {orphans}")
