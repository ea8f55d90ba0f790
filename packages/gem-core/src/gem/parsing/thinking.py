"""What was thought rather than said."""

from __future__ import annotations

import re

_THINK = re.compile(r"<(/?)think(?:ing)?\s*>", re.IGNORECASE)


def think_spans(text: str) -> list[tuple[int, int]]:
    """Where ``text`` is thought rather than said, tags included, in order and not overlapping.

    A block runs from ``<think>`` to the next ``</think>``, or to the end of the text when it is unfinished. A
    text whose first tag is ``</think>`` began in a block that the chat template had opened. A ``<think>``
    inside a block is quoted, or nested: text up to its own ``</think>`` is thought too.
    """
    spans: list[tuple[int, int]] = []
    if "<" not in text:
        return spans
    inside = -1  # where the open block began
    nested = 0  # tags opened inside a block, still to be closed
    spoken_from = 0  # where the last block ended
    for tag in _THINK.finditer(text):
        if not tag[1]:
            if inside < 0:
                inside = tag.start()
            else:
                nested += 1
            continue
        if inside >= 0:
            spans.append((inside, tag.end()))
            inside = -1
        elif nested or not spans:
            nested = max(nested - 1, 0)
            spans.append((spoken_from, tag.end()))
        else:
            spans.append((tag.start(), tag.end()))  # a stray tag: only itself
        spoken_from = tag.end()
    if inside >= 0:
        spans.append((inside, len(text)))
    return spans


def strip_think(text: str) -> str:
    """``text`` without its thinking (see :func:`think_spans`).

    >>> strip_think("<think>maybe 3</think>It is 5.")
    'It is 5.'
    """
    spans = think_spans(text)
    if not spans:
        return text
    kept, position = [], 0
    for start, end in spans:
        kept.append(text[position:start])
        position = end
    kept.append(text[position:])
    return "".join(kept)


def blank_think(text: str) -> str:
    """``text`` with its thinking replaced by as many blanks, so that positions in it stay what they were."""
    spans = think_spans(text)
    if not spans:
        return text
    kept, position = [], 0
    for start, end in spans:
        kept.append(text[position:start])
        kept.append(" " * (end - start))
        position = end
    kept.append(text[position:])
    return "".join(kept)
