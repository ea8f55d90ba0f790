"""Write the table of ``docs/textarena.md``: which of TextArena's games work offline, found by running each.

python tools/generate_textarena_table.py            write the table
python tools/generate_textarena_table.py --check    fail if it is not what would be written

An id works offline when it is made, reset and played for a few turns without a network, word lists of nltk or keys.
Only lines about games that need a newer Python than the one that runs this are taken as they stand.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import socket
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import gem

PAGE = Path(__file__).resolve().parents[1] / "docs" / "textarena.md"
BEGIN, END = "<!-- table: tools/generate_textarena_table.py -->\n", "<!-- end of table -->\n"

#: Turns each id is played for.
TURNS = 4

#: A part of the message of a game that cannot be made -> what the table says.
NEEDS = (
    (re.compile(r"nltk's '(\w+)'"), r"no: nltk's `\1`"),
    (re.compile("OPENROUTER_API_KEY"), "no: a key of OpenRouter"),
    (re.compile(r"Python (3\.\d+)"), r"Python \1"),
    (re.compile("another version of textarena"), "no: broken in TextArena {version}"),
    (re.compile(r"needs the module '(\w+)'"), r"no: the module `\1`"),
)


def offline() -> None:
    """Make this process one without network, word lists and keys."""
    import nltk

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OSError("no network here")

    socket.socket.connect = socket.getaddrinfo = refuse  # type: ignore[method-assign, assignment]
    nltk.data.path.clear()
    os.environ.pop("OPENROUTER_API_KEY", None)


def outcome(spec: gem.EnvSpec) -> str:
    """What the table says about an id: ``yes``, or what it needs."""
    import textarena

    try:
        env = gem.make(spec)
    except gem.MissingDependency as error:
        for pattern, words in NEEDS:
            if (found := pattern.search(str(error))) is not None:
                return found.expand(words).format(version=textarena.__version__)
        raise
    with env:
        env.reset(seed=0)
        rng = random.Random(0)
        for _ in range(TURNS):
            if env.spec.multi_agent:
                results = env.step({agent: f"[{rng.randint(0, 9)}]" for agent in env.active_agents()})
                over = not env.agents
                infos = list(results[4].values())
            else:
                results = env.step(f"[{rng.randint(0, 9)}]")
                over = results[2] or results[3]
                infos = [results[4]]
            if any("error" in info for info in infos):
                return f"no: {infos[0]['error']}"
            if over:
                break
    return "yes"


def rows() -> dict[str, str]:
    """Family -> its line. Ids of one family that fare alike are told together."""
    specs = sorted(gem.specs("ta"), key=lambda spec: (spec.tags[1].lower(), spec.id))
    lines = {}
    for family, group in groupby(specs, key=lambda spec: spec.tags[1]):
        members = [spec for spec in group if not spec.id.endswith(("-raw", "-train"))]
        low, high = members[0].description.rpartition(", ")[2].split()[0], ""
        results: dict[str, list[str]] = {}
        for spec in members:
            results.setdefault(outcome(spec), []).append(spec.id)
        players = {"one": "1"}.get(low, low) + high
        told = "; ".join(
            result if len(results) == 1 else f"{', '.join(ids)}: {result}" for result, ids in results.items()
        )
        ids = ", ".join(f"`{spec.id}`" for spec in members)
        lines[family] = f"| {family} | {players} | {told} | {ids} |\n"
    return lines


def table(lines: dict[str, str]) -> str:
    return "| game | players | works offline | ids |\n|---|---|---|---|\n" + "".join(lines.values())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the table of TextArena's games in docs/textarena.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the table is not up to date")
    check = parser.parse_args(arguments).check
    offline()
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    standing, _, after = rest.partition(END)
    lines = rows()
    for line in standing.splitlines(keepends=True):
        family = line.split("|")[1].strip() if line.startswith("|") else ""
        needed = re.search(r"\| Python 3\.(\d+) \|", line)
        if family in lines and needed and sys.version_info >= (3, int(needed[1])):
            lines[family] = line
    if check:
        if standing != table(lines):
            print(
                f"the table of {PAGE.name} is not up to date: python tools/generate_textarena_table.py", file=sys.stderr
            )
            return 1
        return 0
    PAGE.write_text(before + BEGIN + table(lines) + END + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
