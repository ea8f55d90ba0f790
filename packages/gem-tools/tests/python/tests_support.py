"""What several tests ask about this machine."""

from __future__ import annotations

from pathlib import Path


def host_processes(marker: str) -> int:
    """How many processes have ``marker`` in their command line."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += marker.encode() in path.read_bytes()
        except OSError:
            continue
    return found
