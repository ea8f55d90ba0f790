"""Reading what a model wrote: the last box, fenced code, tags, and what to leave out because it was thought.

All functions are linear in the length of the text: a degenerate response of megabytes costs milliseconds.
"""

from __future__ import annotations

_BOX = "\\boxed{"


def last_boxed(text: str) -> str | None:
    r"""The content of the last complete ``\boxed{...}`` in ``text``, or ``None``.

    >>> last_boxed(r"maybe \boxed{3}, no: \boxed{\frac{3}{4}}")
    '\\frac{3}{4}'
    """
    start = text.rfind(_BOX)
    while start >= 0:
        begin = start + 7
        end = text.find("}", begin)
        if end < 0:
            # nothing from here on closes it: an earlier box may still be complete
            start = text.rfind(_BOX, 0, start)
            continue
        if text.find("{", begin, end) < 0:  # no inner braces: by far the most common box
            return text[begin:end]
        end = _closing_brace(text, begin)
        if end >= 0:
            return text[begin:end]
        start = text.rfind(_BOX, 0, start)
    return None


def _closing_brace(text: str, begin: int) -> int:
    """Where the brace opened just before ``begin`` closes, or -1."""
    depth = 1
    for position in range(begin, len(text)):
        character = text[position]
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return position
    return -1
