"""Calls and results."""

from __future__ import annotations

import pytest

from gem.tools import ToolCall, ToolResult


def test_status() -> None:
    assert ToolCall("a", {}, (0, 1), "x").status == "ok"
    assert ToolCall("a", {}, (0, 1), "x", "wrong").status == "malformed"


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("x", "x"),
        ("", ""),
        (3, "3"),
        (None, "null"),
        ({"a": "é"}, '{"a": "é"}'),
        ([1, 2], "[1, 2]"),
        ([], "[]"),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
        ({1}, "{1}"),
        (ToolResult({"a": 1}), '{"a": 1}'),  # type: ignore[arg-type]
    ],
)
def test_whatever_a_tool_returns_becomes_a_result(value: object, content: object) -> None:
    assert ToolResult.of(value).content == content


def test_results_pass() -> None:
    result = ToolResult("x", is_error=True)
    assert ToolResult.of(result) is result
