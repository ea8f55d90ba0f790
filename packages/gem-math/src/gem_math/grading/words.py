"""Answers that are words or the letter of a choice."""

from __future__ import annotations

import re

_WRAPPED = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|textit|textsf|mathsf|mbox|boldsymbol|bf)\s*\{([^{}]*)\}")

_SPACES = re.compile(r"\\[ ,;!]|~|\$|\\q?quad")


def unwrapped(text: str) -> str:
    """The text without markup around words, and without LaTeX's spaces."""
    if text.isalnum():
        return text
    previous = None
    while previous != text:
        previous, text = text, _WRAPPED.sub(r"\1", text)
    return _SPACES.sub(" ", text).strip()


# -- choices ---------------------------------------------------------------------------------------------

_SAID = r"(?:(?:the\s+)?(?:correct\s+|final\s+)?(?:option|choice|answer)(?:\s+is\s*:?|\s*:)?\s+)?"
_LETTER_ALONE = re.compile(rf"{_SAID}(?:([A-J])|\(([A-J])\)|([A-J])\))[.:]?", re.IGNORECASE)
_LABEL = re.compile(r"(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+)?(?:\(([A-J])\)|([A-J])\s*[:.)])\s*(.*)", re.DOTALL)
_MAY_BE_CHOICE = re.compile(r"\\|\(?[A-J]|[OoCcAaTt]")
_OTHER_LABEL = re.compile(r"\([A-J]\)|(?<![A-Za-z])[A-J]\s*[:)]")


def _letter(text: str) -> str | None:
    """The letter of ``C``, ``(C)``, ``(c)``, ``C)``, ``C.``, ``Option C``."""
    match = _LETTER_ALONE.fullmatch(text)
    if match is None:
        return None
    bare, bracketed, half = match.groups()
    letter = bare or bracketed or half
    if bare and bare.islower():
        return None  # a variable
    return letter.upper()


def _label(text: str) -> tuple[str, str] | None:
    """The letter that labels a text and the text: ``(C) 12``, ``C. red``."""
    match = _LABEL.fullmatch(text)
    if match is None or not match[3] or _OTHER_LABEL.search(match[3]):
        return None
    return match[1] or match[2], match[3]


def choice(answer: str, gold: str) -> bool | tuple[str, str] | None:
    """Whether an answer chooses what the gold answer does.

    ``None``: no matter of choices. Two texts: the contents to compare, where not both name a letter.
    """
    if not _MAY_BE_CHOICE.match(gold) and not _MAY_BE_CHOICE.match(answer):
        return None
    said, meant = unwrapped(answer).strip("*"), unwrapped(gold)
    letter = _letter(meant)
    label = _label(meant) if letter is None else None
    if letter is None and label is None:
        said_label = _label(said)
        return (said_label[1], gold) if said_label else None
    found = _letter(said)
    if found is None:
        said_label = _label(said)
        found = said_label[0] if said_label else None
    if letter is not None:
        if found is not None:
            return found == letter
        return None if gold == letter else False
    assert label is not None
    if found is not None:
        return found == label[0]
    return answer, label[1]


# -- words -----------------------------------------------------------------------------------------------

_NOTHING = re.compile(
    r"(?:there (?:is|are) )?no (?:such )?(?:[a-z]+ )?(?:solutions?|roots?)(?: exists?)?"
    r"|none|(?:the )?(?:empty|null) set"
)
_EVERYTHING = re.compile(r"(?:the set of )?all (?:the )?real(?:s| numbers?)|(?:all )?reals")
_MEANINGS = {
    "infinity": r"\infty",
    "positive infinity": r"\infty",
    "negative infinity": r"-\infty",
    "minus infinity": r"-\infty",
    "dne": "does not exist",
}


def words(text: str) -> str:
    """The words of a text without markup, case, articles and the punctuation around them."""
    plain = re.sub(r"[{}$\\]", " ", unwrapped(text))
    plain = " ".join(plain.casefold().replace("-", " ").split()).strip(" .,;:!?\"'")
    return re.sub(r"^(?:an?|the) (?=[a-z]{2})", "", plain)


_THREE_LETTERS = re.compile(r"[A-Za-z]{3}")
_FORMULA = re.compile(r"\\|[\^_=<>+*/|]")


def are_words(text: str) -> bool:
    """Whether a text is words rather than a formula, so that case does not matter."""
    if not _THREE_LETTERS.search(text) and len(text) > 12:
        return False
    plain = unwrapped(text)
    if _FORMULA.search(plain):
        return False
    return _THREE_LETTERS.search(plain) is not None or plain.casefold().strip(".") in ("no", "ok", "up")


def formula_of(text: str) -> str:
    """A phrase that has a sign of its own ("no solution", "all real numbers") by that sign; other texts unchanged."""
    if not are_words(text):
        return text
    phrase = words(text)
    if _NOTHING.fullmatch(phrase):
        return r"\emptyset"
    if _EVERYTHING.fullmatch(phrase):
        return r"\Re"
    return _MEANINGS.get(phrase, text)
