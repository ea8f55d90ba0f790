"""Tags: ``<answer>...</answer>``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class TagBlock(NamedTuple):
    """What stands between ``<name>`` and ``</name>``."""

    name: str
    #: As written, blanks included.
    content: str
    #: Where the block stands in the text, tags included.
    span: tuple[int, int]
    #: Whether the closing tag is there; when not, the content runs to the end of the text.
    closed: bool


@lru_cache(maxsize=256)
def _tag_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(?:(/){re.escape(name)}\s*|{re.escape(name)}(?:\s[^<>]*)?)>", re.IGNORECASE)


def tag_blocks(text: str, name: str) -> list[TagBlock]:
    """The ``<name>...</name>`` blocks of ``text`` in order; case is ignored.

    Of nested blocks the innermost counts. The last one may be unclosed.
    """
    blocks = []
    opened: re.Match[str] | None = None
    for tag in _tag_pattern(name).finditer(text):
        if not tag[1]:
            opened = tag
        elif opened is not None:
            content = text[opened.end() : tag.start()]
            blocks.append(TagBlock(name, content, (opened.start(), tag.end()), True))
            opened = None
    if opened is not None:
        blocks.append(TagBlock(name, text[opened.end() :], (opened.start(), len(text)), False))
    return blocks


_PLACEHOLDER = re.compile(
    r"[\s\[({<]*(?:\.{3}|…|(?:your|the|put|insert|write)?[\s_-]*(?:your|the)?[\s_-]*(?:final|short)?[\s_-]*answer"
    r"[\s_-]*(?:goes)?[\s_-]*(?:here)?)[\s.!\])}>]*",
    re.IGNORECASE,
)


def last_tag(text: str, name: str) -> str | None:
    """The stripped content of the last complete ``<name>...</name>`` in ``text``, or ``None``.

    An echo of the instructions, such as ``<answer> your answer here </answer>`` or ``<answer>...</answer>``,
    counts only when there is nothing else.

    >>> last_tag("<answer>Rome</answer>, no, <answer> Paris </answer>", "answer")
    'Paris'
    """
    echo = None
    for block in reversed(tag_blocks(text, name)):
        if not block.closed:
            continue
        content = block.content.strip()
        if len(content) > 60 or not _PLACEHOLDER.fullmatch(content):
            return content
        if echo is None:
            echo = content
    return echo
