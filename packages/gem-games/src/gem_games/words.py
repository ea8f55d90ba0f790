"""English words by length, from the files in ``data/`` (a selection of SCOWL; its notice lies beside them)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

#: Lengths there are words of, and lengths all words are known of.
LENGTHS = range(3, 11)
ALL_LENGTHS = range(3, 8)


@cache
def words(length: int) -> tuple[str, ...]:
    """Common words of 3 to 10 letters, in lower case and alphabetical order; read when first asked for.

    Raises:
        ValueError: there is no list for this length.
    """
    return tuple(_lines(length)[0].split())


@cache
def all_words(length: int) -> frozenset[str]:
    """Every known word of 3 to 7 letters, the common ones included: what counts as a word when guessed.

    Raises:
        ValueError: there is no list for this length.
    """
    if length not in ALL_LENGTHS:
        raise ValueError(f"all words are known for {ALL_LENGTHS[0]} to {ALL_LENGTHS[-1]} letters, not for {length}")
    return frozenset(" ".join(_lines(length)).split())


@cache
def rare_words(length: int) -> tuple[str, ...]:
    """Words of 3 to 10 letters that are not common, in lower case and alphabetical order; no coarse ones.

    Raises:
        ValueError: there is no list for this length.
    """
    return tuple([word for word in _lines(length)[1].split() if not _COARSE.search(word)])


#: In words that are not to be put before anybody; that some harmless ones go with them does no harm.
_COARSE = re.compile(
    "nig|fag|cunt|fuck|shit|rap[ei]|slut|whor|kike|dyke|homo|lesb|coon|chink|gook|wog|dark[iy]|bitch|bastard|tits?|cock"
    "|dick|prick|puss|ars[ey]|piss|turd|crap|wank|twat|negro|jap|paki|spic|wop|tard|sex|porn|an[au][ls]|peni|vagin|semen"
    "|sperm|nazi|erot|orgas|org[iy]|incest|p[a]?edo|sodom|bugg|boob|gyp|jew|nud|queer|poof|hooker|pimp|fart|slave|dago"
    "|masturb|genital|clitor|scrot|phall|ejacul|copulat|fornicat|prostit|brothel|bordel|harlot|necroph|molest|genocid"
)


def _lines(length: int) -> list[str]:
    if length not in LENGTHS:
        raise ValueError(f"there are words of {LENGTHS[0]} to {LENGTHS[-1]} letters, not of {length}")
    return Path(__file__).with_name("data").joinpath(f"words_{length}.txt").read_text("ascii").split("\n")
