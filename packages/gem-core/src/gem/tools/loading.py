"""From what a user names to a tool."""

from __future__ import annotations

from typing import Any

from gem.tools.function import FunctionTool
from gem.tools.published import PublishedTool, is_published_style
from gem.tools.tool import Tool


def load_tool(tool: Any, **options: Any) -> Tool:
    """A tool from a name, a class, a function or an object.

    Args:
        tool: the name of an installed tool (entry-point group ``gem.tools``), a class or factory of tools, a
            :class:`Tool`, a published-style tool object, or a plain function with annotations.
        **options: constructor arguments, for a name or a class.

    Raises:
        ValueError: no installed package provides the name.
        TypeError: it is nothing of the kind.
    """
    if isinstance(tool, str):
        tool = _named(tool)
    if isinstance(tool, type):
        tool = tool(**options)
    elif options:
        raise TypeError(f"options are for tools given by name or class, got {tool!r} and {sorted(options)}")
    if isinstance(tool, Tool):
        return tool
    if is_published_style(tool):
        return PublishedTool(tool)
    if callable(tool):
        return FunctionTool(tool)
    raise TypeError(f"a tool is a name, a Tool, a class of tools or a function, got {tool!r}")


def _named(name: str) -> Any:
    from gem.plugins import manager

    found = manager().load_named("gem.tools", name)
    if found is None:
        import difflib

        names = manager().names("gem.tools")
        near = difflib.get_close_matches(name, names, n=3)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(names) or 'none'}"
        raise ValueError(f"no installed package provides the tool {name!r}; {hint} (pip install gem-tools)")
    return found
