r"""Boxes: where a model puts its final answer or its move."""

from __future__ import annotations

import re

_OTHERS = ("\\{", "\\}", "\\boxed", "\\fbox")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_OPEN_BRACE = re.compile(r"\s*\{")
# `\boxed 7`: TeX boxes what follows. Only what cannot be prose ("put it in \boxed format") is taken: a number, a
# command with its arguments, or one capital letter (a choice).
_BARE_BOX = re.compile(r"\s*([-+]?\.?\d[^\s$\\*]*|\\(?!f?box)[a-zA-Z]+(?:\{[^{}]*\})+|[A-Z](?!\w))")


def last_boxed(text: str) -> str | None:
    r"""The content of the last complete box in ``text``, or ``None``.

    A box is ``\boxed{...}`` or ``\fbox{...}`` with balanced braces (``\{`` and ``\}`` are characters, not
    braces), blanks before the brace allowed, or ``\boxed 7`` without braces. A box that never closes is passed
    over in favour of the last one that does. Of nested boxes the innermost counts.

    >>> last_boxed(r"maybe \boxed{3}, no: \boxed{\frac{3}{4}}")
    '\\frac{3}{4}'
    """
    start = text.rfind("\\boxed{")
    if start >= 0:
        begin = start + 7
        end = text.find("}", begin)
        # By far the most common box: nothing nested, and no backslash behind it that could be another spelling.
        if end >= 0 and text.find("{", begin, end) < 0 and text.find("\\", begin) < 0:
            return text[begin:end]
        # The next: braces, but neither escaped ones nor another spelling.
        if not any(text.find(other, begin) >= 0 for other in _OTHERS):
            depth, position = 1, begin
            while end >= 0:
                depth += text.count("{", position, end) - 1
                if depth == 0:
                    return text[begin:end]
                position = end + 1
                end = text.find("}", position)
    return _last_boxed_any_spelling(text)


def _last_boxed_any_spelling(text: str) -> str | None:
    # From the right. A box that does not close bounds those before it: its own brace would have to close first,
    # so an earlier box either closes before it or never. That is what keeps the whole search linear.
    limit = len(text)
    boxed, fbox = text.rfind("\\boxed"), text.rfind("\\fbox")
    while boxed >= 0 or fbox >= 0:
        start = max(boxed, fbox)
        after = start + (6 if start == boxed else 5)
        brace = _OPEN_BRACE.match(text, after, limit)
        if brace is not None:
            end = _closing_brace(text, brace.end(), limit)
            if end >= 0:
                return text[brace.end() : end]
            limit = start
        else:
            bare = _BARE_BOX.match(text, after, limit)
            content = bare[1].rstrip(".,;:!?") if bare is not None else ""
            # `\boxedX` is another command, `\boxed X` is a box
            if content and not (content[0].isalpha() and not text[after].isspace()):
                return content
        if start == boxed:
            boxed = text.rfind("\\boxed", 0, start)
        else:
            fbox = text.rfind("\\fbox", 0, start)
    return None


def _closing_brace(text: str, begin: int, limit: int) -> int:
    """Where the brace opened just before ``begin`` closes, or -1."""
    if text.find("}", begin, limit) < 0:
        return -1
    depth = 1
    for brace in _BRACES.finditer(text, begin, limit):
        character = brace[0]
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return brace.start()
    return -1
