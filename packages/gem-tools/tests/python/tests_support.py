"""What several tests ask about this machine."""

from __future__ import annotations

import secrets
from pathlib import Path


def unique_nap() -> str:
    """Seconds for ``sleep`` that nothing else on this machine sleeps, so that such a process can be looked for."""
    return f"31337.{secrets.randbelow(10**15):015d}"


def host_processes(marker: str) -> int:
    """How many processes have ``marker`` in their command line."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += marker.encode() in path.read_bytes()
        except OSError:
            continue
    return found
