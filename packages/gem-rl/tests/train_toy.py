"""``gem train`` in a process of its own, with the toy environments registered."""

from __future__ import annotations

import sys

import toys  # noqa: F401  (registers them)

from gem.cli import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
