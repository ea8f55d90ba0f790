"""``<search>what to look for</search>``: the tag is the tool, its content the one argument."""

from __future__ import annotations

import re
from collections.abc import Collection

from gem.parsing import tag_blocks
from gem.tools.call import ToolCall

_CLOSING = re.compile(r"</[^<>]{0,60}>")


def tagged(response: str, tag: str, name: str, argument: str) -> list[ToolCall]:
    """The ``<tag>...</tag>`` calls of tool ``name``, their stripped content as ``argument``; case is ignored."""
    calls = []
    for block in tag_blocks(response, tag):
        content = block.content.strip()
        start, end = block.span
        error = None
        if not block.closed:
            error = unclosed(tag, block.content)
        elif not content:
            error = f"<{tag}> is empty; write the {argument} between <{tag}> and </{tag}>"
        calls.append(ToolCall(name, {argument: content}, (start, end), response[start:end], error))
    return calls


def unclosed(tag: str, content: str, inner: Collection[str] = ()) -> str:
    """What is wrong with a tag that is not closed: another closing tag than those of ``inner`` tags, or none."""
    for wrong in _CLOSING.finditer(content):
        if wrong[0][2:-1].strip().lower() not in inner:
            return f"<{tag}> is closed by {wrong[0]}; close it with </{tag}>"
    return f"<{tag}> is not closed; end the call with </{tag}>"
