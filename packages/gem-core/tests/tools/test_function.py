"""Functions as tools."""

from __future__ import annotations

import copy
import pickle
from typing import Any, Literal

import pytest

from gem.tools import FunctionTool, ToolContext, tool


@tool
def sample(a: int, b: float = 1.0, c: Literal["x", "y"] = "x", d: list[int] | None = None, *, e: Any = None) -> str:
    """Says what
    it got.

    More that the model does not need.
    """
    return f"{a} {b} {c} {d} {e}"


def undecorated(a: int) -> int:
    return a


def test_the_schema_is_read_from_the_function() -> None:
    assert (sample.name, sample.description) == ("sample", "Says what it got.")
    assert sample.parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "number"},
            "c": {"enum": ["x", "y"]},
            "d": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "e": {},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert sample.call({"a": 1}, ToolContext()) == "1 1.0 x None None"


def test_names_can_be_given_and_the_context_is_no_argument() -> None:
    def look(context: ToolContext, a: str) -> str:
        return context.raw + a

    named = FunctionTool(look, name="see", description="Sees.")
    assert (named.name, named.description) == ("see", "Sees.")
    assert list(named.parameters["properties"]) == ["a"]
    assert named.call({"a": "!"}, ToolContext(raw="x")) == "x!"


def test_nothing_returned_is_an_empty_answer() -> None:
    assert tool(lambda: None).call({}, ToolContext()) == ""


def test_arguments_must_have_names() -> None:
    with pytest.raises(TypeError, match="spell them out"):
        tool(lambda *args: None)


def test_decorated_functions_can_be_pickled_and_copied() -> None:
    assert pickle.loads(pickle.dumps(sample)) is sample
    assert copy.deepcopy(sample) is sample
    plain = FunctionTool(undecorated)
    assert pickle.loads(pickle.dumps(plain)).function is undecorated
