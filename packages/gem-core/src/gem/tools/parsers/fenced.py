"""Fenced code: the language is the tool, the code its one argument."""

from __future__ import annotations

from collections.abc import Collection

from gem.parsing import code_blocks
from gem.tools.call import ToolCall


def fenced(response: str, languages: Collection[str], name: str, argument: str = "code") -> list[ToolCall]:
    """The blocks of code in one of ``languages`` as calls of tool ``name``.

    ``"python"`` stands for every spelling of it, and for ``<python>...</python>`` (see
    :func:`gem.parsing.code_blocks`). Blocks that name no language are not calls. A block that is not closed is a
    call if it compiles, else a malformed one.
    """
    error = "the block of code is not closed, and does not compile; end it with a line ```"
    return [
        ToolCall(
            name, {argument: block.code}, block.span, response[slice(*block.span)], error if block.broken else None
        )
        for block in code_blocks(response, broken=True)
        if block.language in languages
    ]
