"""Words for error messages, whatever they are about: one line, of bounded length, and never an error of their own."""

from __future__ import annotations

#: The most characters of another error's message within one of ours.
LONGEST = 500


def one_line(error: BaseException) -> str:
    """An error's kind and message in one line."""
    return f"{type(error).__name__}: {clip(message(error))}".removesuffix(": ")


def message(error: BaseException) -> str:
    """What an error says, as it says it."""
    try:
        return str(error)
    except Exception:
        return "(its message cannot be shown)"


def clip(text: str) -> str:
    """One line of at most :data:`LONGEST` characters."""
    line = " ".join(text[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST and len(text) <= 4 * LONGEST else f"{line[:LONGEST]}..."


def short(value: object) -> str:
    """What ``repr`` says of a value that somebody gave, cut to a line that fits a message."""
    import reprlib

    cut = reprlib.Repr()
    cut.maxlevel = 3
    cut.maxstring = cut.maxother = 60
    try:
        return clip(cut.repr(value))
    except Exception:
        return f"a {type(value).__name__}"
