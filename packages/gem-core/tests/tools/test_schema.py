"""Arguments against schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gem.tools.schema import mend, problem


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("kind", "fits", "not_"),
    [
        ("integer", [0, -3, 5.0], [1.5, "1", True, None]),
        ("number", [0, 1.5], ["1", False]),
        ("string", ["", "x"], [1, None]),
        ("boolean", [True], [1, "true"]),
        ("array", [[], [1]], ["[]", {}]),
        ("object", [{}, {"a": 1}], ["{}", []]),
        ("null", [None], [0]),
    ],
)
def test_types(kind: str, fits: list[Any], not_: list[Any]) -> None:
    for value in fits:
        assert problem({"x": value}, schema(x={"type": kind})) is None
    for value in not_:
        found = problem({"x": value}, schema(x={"type": kind}))
        assert found is not None
        assert found.startswith("argument 'x' must be ")


@pytest.mark.parametrize(
    ("value", "said", "rules"),
    [
        ({}, "argument 'x' is missing", {**schema(x={}), "required": ["x"]}),
        ({"x": "c"}, 'argument \'x\' must be one of "a", "b", got "c"', schema(x={"enum": ["a", "b"]})),
        ({"x": 1}, "argument 'x' must be one of true, got 1", schema(x={"enum": [True]})),
        ({"x": 2}, "argument 'x' must be 1, got 2", schema(x={"const": 1})),
        ({"y": 1}, "argument 'y' is unknown; there are xs", {**schema(xs={}), "additionalProperties": False}),
        (
            {"qery": 1},
            "argument 'qery' is unknown; did you mean 'query'?",
            {**schema(query={}), "additionalProperties": False},
        ),
        (
            {"y": 1},
            "argument 'y' must be a string, got an integer",
            {**schema(), "additionalProperties": {"type": "string"}},
        ),
        ({"x": [1, "2"]}, "argument 'x[1]' must be an integer, got a string", schema(x={"items": {"type": "integer"}})),
        ({"x": {"y": 1}}, "argument 'x.y' must be a string, got an integer", schema(x=schema(y={"type": "string"}))),
        ({"x": {}}, "argument 'x.y' is missing", schema(x={"required": ["y"]})),
        ({"x": 1}, "argument 'x' must be a string or null, got an integer", schema(x={"type": ["string", "null"]})),
        (
            {"x": 1},
            "argument 'x' must be a string, got an integer or argument 'x' must be null, got an integer",
            schema(x={"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        ({"x": 1}, "argument 'x' must be a string, got an integer", schema(x={"allOf": [{}, {"type": "string"}]})),
        (
            {"x": 1},
            "argument 'x' must be a string, got an integer",
            {**schema(x={"$ref": "#/$defs/S"}), "$defs": {"S": {"type": "string"}}},
        ),
        ({"x": 1}, "argument 'x' is not allowed", schema(x=False)),
    ],
)
def test_what_is_wrong(value: Any, said: str, rules: dict[str, Any]) -> None:
    assert problem(value, rules) == said


@pytest.mark.parametrize(
    "rules",
    [
        True,
        None,
        {},
        {"type": "unheard-of"},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"$ref": "http://elsewhere"},
        schema(x=True),
        {"properties": None, "required": None},
    ],
)
def test_what_is_not_understood_allows_everything(rules: Any) -> None:
    assert problem({"x": 1}, rules) is None


def test_a_recursive_schema() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert problem({"left": {"left": {"n": 1}}}, tree) is None
    assert problem({"left": {"left": {"n": "1"}}}, tree) == "argument 'left.left.n' must be an integer, got a string"


@pytest.mark.parametrize(
    ("rules", "sent", "meant"),
    [
        ({"type": "object"}, '{"x":1}', {"x": 1}),
        ({"type": "array"}, "[1]", [1]),
        ({"type": ["object", "null"]}, '{"x":1}', {"x": 1}),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, "[1]", [1]),
        ({"$ref": "#/$defs/O"}, '{"x":1}', {"x": 1}),
        ({"type": "object"}, "[1]", "[1]"),
        ({"type": "object"}, "{x:1}", "{x:1}"),
        ({"type": "object"}, {"x": 1}, {"x": 1}),
        ({"type": "string"}, '{"x":1}', '{"x":1}'),
        ({"type": ["object", "string"]}, '{"x":1}', '{"x":1}'),
        ({"anyOf": [{"type": "object"}, {"type": "string"}]}, '{"x":1}', '{"x":1}'),
        ({}, '{"x":1}', '{"x":1}'),
        ({"type": "integer"}, "1", "1"),
    ],
)
def test_json_text_is_parsed_where_only_json_fits(rules: Any, sent: Any, meant: Any) -> None:
    whole = {**schema(f=rules), "$defs": {"O": {"type": "object"}}}
    assert mend({"f": sent, "other": sent}, whole) == {"f": meant, "other": sent}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
kinds = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])


@given(st.dictionaries(st.sampled_from("xyz"), json_values), st.dictionaries(st.sampled_from("xyz"), kinds))
def test_any_arguments_get_a_verdict_in_one_line(arguments: dict[str, Any], types: dict[str, str]) -> None:
    rules = schema(**{name: {"type": kind} for name, kind in types.items()})
    found = problem(mend(arguments, rules), rules)
    assert found is None or ("\n" not in found and "must be" in found)


@given(json_values)
def test_mending_undoes_json_text(value: Any) -> None:
    if isinstance(value, dict | list):
        kind = "object" if isinstance(value, dict) else "array"
        assert mend({"x": json.dumps(value)}, schema(x={"type": kind})) == {"x": value}
