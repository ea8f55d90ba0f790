"""``<tag>content</tag>`` calls."""

from __future__ import annotations

import pytest

from gem.tools.parsers import tagged


def test_calls_in_order() -> None:
    response = "a <search> x y </search> b <Search>z</SEARCH>"
    calls = tagged(response, "search", "find", "query")
    assert [(c.name, c.arguments, c.status) for c in calls] == [
        ("find", {"query": "x y"}, "ok"),
        ("find", {"query": "z"}, "ok"),
    ]
    assert all(response[slice(*c.span)] == c.raw for c in calls)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ("<search>x", "<search> is not closed; end the call with </search>"),
        ("<search>x</serach> y", "<search> is closed by </serach>; close it with </search>"),
        ("<search> </search>", "<search> is empty; write the query between <search> and </search>"),
    ],
)
def test_malformed_calls_are_kept(response: str, error: str) -> None:
    (call,) = tagged(response, "search", "search", "query")
    assert (call.status, call.error) == ("malformed", error)
