"""Random actions. TextArena does not list a game's moves: a guess at one, out of what the player reads."""

from __future__ import annotations

import random
import re
from collections.abc import Collection

#: Families whose text shows no move as it is written -> its form; ``{0-4}`` is a number, ``{a|b}`` a choice.
FORMS = {
    "Bandit": "[{red|blue|green|yellow|purple}]",
    "Countdown": "[{0-5} {0-5} {+|-|*}]",
    "LightsOut": "[{0-4} {0-4}]",
    "Mastermind": "[{1-6} {1-6} {1-6} {1-6}]",
    "Minesweeper": "[{0-4} {0-4}]",
    "RushHour": "[{A|B|C|D|F|G|H|I|J|X}{+|-}]",
    "Slitherlink": "[{h|v} {0-3} {0-3}]",
    "Sudoku": "[{1-9} {1-9} {1-9}]",
    "ThreeCardMonte": "[{0-2}]",
    "TowerOfHanoi": "[{A|B|C} {A|B|C}]",
    "WordSearch": "[{0-9} {0-9} {0-9} {0-9}]",
}

_PART = re.compile(r"\{([^{}]+)\}")
_BRACKETED = re.compile(r"\[[^\[\]\n]{1,40}\]")
#: How much of what a player reads is looked through: the latest.
_LATEST = 20_000


def random_move(family: str, text: str, names: Collection[str], rng: random.Random) -> str:
    """A guess at a move.

    Args:
        family: the game.
        text: what the player reads.
        names: who speaks in it, in brackets too.
        rng: what to draw from.
    """
    form = FORMS.get(family)
    if form is not None:
        return _PART.sub(lambda part: _drawn(part[1], rng), form)
    tokens = [token for token in _BRACKETED.findall(text[-_LATEST:]) if token[1:-1] not in names]
    return rng.choice(tokens) if tokens else "[0]"


def _drawn(part: str, rng: random.Random) -> str:
    if "|" in part:
        return rng.choice(part.split("|"))
    low, _, high = part.partition("-")
    return str(rng.randint(int(low), int(high)))
