"""Make ``words_<length>.txt`` from SCOWL's word lists (``python make_words.py DIRECTORY``; Debian: package ``scowl``).

First line of each file: common words (SCOWL sizes 10 and 20). Second line: the other words, up to size 70 for the
lengths that games accept guesses of, up to size 50 for the longer ones, which are only chosen from.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

COMMON = (10, 20)
RARE = (35, 40, 50)
ACCEPTED = (*COMMON, *RARE, 55, 60, 70)
#: Lengths of words, and those that guesses are accepted of.
LENGTHS = range(3, 11)
GUESSED = range(3, 8)
DATA = Path(__file__).parents[1] / "src/gem_games/data"
#: Not to be put before anybody.
UNWANTED = {"rape", "bastard"}


def load(directory: Path, sizes: tuple[int, ...]) -> set[str]:
    """The lower-case words of the American and the general lists of these sizes."""
    words: set[str] = set()
    for size in sizes:
        for path in directory.glob(f"*-words.{size}"):
            if path.name.startswith(("english-", "american-")):
                words.update(re.findall("^[a-z]+$", path.read_text("latin-1"), re.MULTILINE))
    return words


def main(directory: Path) -> None:
    common = load(directory, COMMON) - UNWANTED
    rare, accepted = (load(directory, sizes) - common for sizes in (RARE, ACCEPTED))
    for length in LENGTHS:
        first = " ".join(sorted(w for w in common if len(w) == length))
        second = " ".join(sorted(w for w in (accepted if length in GUESSED else rare) if len(w) == length))
        (DATA / f"words_{length}.txt").write_text(f"{first}\n{second}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
