"""From what a user names to a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem.tools import FunctionTool, PublishedTool, Tool, ToolEnv, load_tool


class Named(Tool):
    name = "named"

    def __init__(self, level: int = 1) -> None:
        self.level = level


def test_tools_classes_functions_and_published_tools() -> None:
    tool = Named()
    assert load_tool(tool) is tool
    assert load_tool(Named).level == 1  # type: ignore[attr-defined]
    assert load_tool(Named, level=2).level == 2  # type: ignore[attr-defined]
    assert isinstance(load_tool(lambda text: text), FunctionTool)

    class Old:
        def execute_action(self, action: str) -> Any: ...
        def instruction_string(self) -> str: ...  # type: ignore[empty-body]

    assert isinstance(load_tool(Old()), PublishedTool)
    assert isinstance(load_tool(Old), PublishedTool)


def test_what_is_no_tool() -> None:
    with pytest.raises(TypeError, match="a tool is a name"):
        load_tool(3)
    with pytest.raises(TypeError, match="options are for tools given by name or class"):
        load_tool(Named(), level=2)
    with pytest.raises(TypeError):
        Tool(level=2)  # type: ignore[call-arg]


def test_installed_tools_by_name(site: Any, installed: Callable[[], None]) -> None:
    source = "from gem.tools import Tool\nclass T(Tool):\n    name = 'spade'\n"
    site.add("toolbox", groups={"gem.tools": {"spade": "toolbox_module:T"}}, modules={"toolbox_module": source})
    installed()
    assert load_tool("spade").name == "spade"
    with pytest.raises(ValueError, match="did you mean 'spade'"):
        load_tool("spadde")
    with pytest.raises(ValueError, match="pip install gem-tools"):
        load_tool("python")
    import gem

    assert [t.name for t in ToolEnv(gem.Env(), "spade").tools] == ["spade"]
