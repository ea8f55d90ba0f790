"""What the subcommands print with: tables and a little colour, on terminals only."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


def style(text: str, kind: str) -> str:
    """``text`` in a colour where standard output is a terminal and ``NO_COLOR`` is unset, else as it is."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_CODES[kind]}m{text}\x1b[0m"


def print_table(rows: Sequence[Sequence[str]], *, indent: str = "") -> None:
    """Print rows in aligned columns; on a terminal the last column is cut where the line would wrap."""
    if not rows:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    room = 0
    if sys.stdout.isatty():
        room = max(20, shutil.get_terminal_size().columns - len(indent) - sum(widths) - 2 * len(widths))
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        # A cell in colour is left whole: cut, it would colour what follows.
        last = row[-1] if not room or len(row[-1]) <= room or "\x1b" in row[-1] else row[-1][: room - 1] + "…"
        print(indent + "  ".join([*cells, last]).rstrip())


def count(number: int, noun: str) -> str:
    """``1 id``, ``2 ids``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
