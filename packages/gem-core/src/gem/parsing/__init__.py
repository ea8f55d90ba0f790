r"""Reading what a model wrote: the last box, tags, fenced code, and what to leave out because it was thought.

Every function takes any ``str``, never raises on one, and is linear in its length: a degenerate response of
a megabyte costs a fraction of a second. None of them looks at thinking on its own; the caller decides, by reading
``strip_think(text)`` instead of ``text``.
"""

from __future__ import annotations

from gem.lazy import lazy_exports

_EXPORTS = {
    "last_boxed": "gem.parsing.boxes",
    "blank_think": "gem.parsing.thinking",
    "strip_think": "gem.parsing.thinking",
    "think_spans": "gem.parsing.thinking",
    "TagBlock": "gem.parsing.tags",
    "last_tag": "gem.parsing.tags",
    "tag_blocks": "gem.parsing.tags",
    "CodeBlock": "gem.parsing.code",
    "code_blocks": "gem.parsing.code",
}

__all__ = sorted(_EXPORTS)

# Type checkers read these. At run time names are imported on use: a game that reads boxes pays for nothing else.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from gem.parsing.boxes import last_boxed as last_boxed
    from gem.parsing.code import CodeBlock as CodeBlock, code_blocks as code_blocks
    from gem.parsing.tags import TagBlock as TagBlock, last_tag as last_tag, tag_blocks as tag_blocks
    from gem.parsing.thinking import (
        blank_think as blank_think,
        strip_think as strip_think,
        think_spans as think_spans,
    )

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
