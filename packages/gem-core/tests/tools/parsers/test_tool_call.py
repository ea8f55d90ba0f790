"""``<tool_call>`` in both dialects."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, strategies as st

from gem.tools.parsers import tool_calls

ADD = {"a": 1, "b": 2}


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "add", "arguments": {"a": 1, "b": 2}}',
        '\n{"name": "add", "parameters": {"a": 1, "b": 2}}\n',
        '{"name": " add ", "arguments": "{\\"a\\": 1, \\"b\\": 2}"}',
        '{"type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": 2}}}',
        '[{"name": "add", "arguments": {"a": 1, "b": 2}}]',
        '```json\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n```',
        '<tool_name>add</tool_name><arguments>{"a": 1, "b": 2}</arguments>',
        '\n<tool_name> add </tool_name>\n<arguments>\n{\n"a": 1,\n"b": 2}\n</arguments>\n',
    ],
)
def test_spellings_of_one_call(body: str) -> None:
    response = f"so: <tool_call>{body}</tool_call> then"
    (call,) = tool_calls(response)
    assert (call.name, call.arguments, call.error) == ("add", ADD, None)
    assert call.raw == response[slice(*call.span)] == f"<tool_call>{body}</tool_call>"


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "now"}',
        '{"name": "now", "arguments": null}',
        '{"name": "now", "arguments": ""}',
        "<tool_name>now</tool_name>",
        "<tool_name>now</tool_name><arguments> </arguments>",
    ],
)
def test_no_arguments(body: str) -> None:
    (call,) = tool_calls(f"<tool_call>{body}</tool_call>")
    assert (call.name, call.arguments, call.error) == ("now", {}, None)


def test_several_calls_and_lists_of_calls() -> None:
    one, two = '{"name": "a"}', '{"name": "b"}'
    calls = tool_calls(f"<tool_call>{one}</tool_call><TOOL_CALL>[{two}, {one}]</tool_call >")
    assert [c.name for c in calls] == ["a", "b", "a"]


def test_arguments_may_hold_tags_and_line_breaks() -> None:
    call_text = '<tool_call>{"name": "run", "arguments": {"code": "print(\'</tool_call>\')\nx"}}</tool_call>'
    (call,) = tool_calls(call_text)
    assert call.arguments == {"code": "print('</tool_call>')\nx"}
    assert call.raw == call_text


@pytest.mark.parametrize(
    ("text", "name", "error"),
    [
        ("<tool_call>{a: 1}</tool_call>", "", "the call is not valid JSON: Expecting property name"),
        ('<tool_call>{"name": "add", "arguments": {a:1}}</tool_call>', "add", "the call is not valid JSON: Expecting"),
        ("<tool_call>{</tool_call>", "", "the call is not valid JSON"),
        ('<tool_call>{"name": "add"', "add", "the call is not valid JSON: Expecting ',' delimiter at its end"),
        ('<tool_call>{"name": "add"}', "add", "<tool_call> is not closed; end the call with </tool_call>"),
        ('<tool_call>{"name": "add"}</tool>', "add", "<tool_call> is closed by </tool>; close it with </tool_call>"),
        ('<tool_call>{"name": "add"} now</tool_call>', "add", "there is text between the JSON and </tool_call>"),
        ('<tool_call>{"name": "add"}<tool_call>', "add", "<tool_call> is not closed"),
        ('<tool_call>{"arguments": {}}</tool_call>', "", 'the call has no "name"'),
        ('<tool_call>{"name": 3}</tool_call>', "", 'the call has no "name"'),
        ("<tool_call>[1]</tool_call>", "", "a call is a JSON object"),
        (
            '<tool_call>{"name": "add", "arguments": [1]}</tool_call>',
            "add",
            "the arguments must be a JSON object, got [1]",
        ),
        ('<tool_call>{"name": "add", "arguments": "{a:1}"}</tool_call>', "add", "the arguments are not valid JSON"),
        ('<tool_call>{"name": "add", "arguments": {"a": NaN}}</tool_call>', "add", "NaN is not JSON"),
        ("<tool_call>add(1, 2)</tool_call>", "", "the call is neither JSON nor starts with <tool_name>"),
        ("<tool_call></tool_call>", "", "the call is neither JSON"),
        (
            "<tool_call><tool_name>add</tool_name><arguments>{a:1}</arguments></tool_call>",
            "add",
            "Expecting property name enclosed in double quotes at character 1 ('a:1}')",
        ),
        (
            "<tool_call><tool_name>add</name><arguments>{}</arguments></tool_call>",
            "add",
            "<tool_name> is closed by </name>",
        ),
        (
            "<tool_call><tool_name>add</tool_name><arguments>{}</args></tool_call>",
            "add",
            "<arguments> is closed by </args>",
        ),
        ("<tool_call><tool_name>add</tool_name><arguments>{}</tool_call>", "add", "<arguments> is not closed"),
        ("<tool_call><tool_name>add</tool_name>{}</tool_call>", "add", "</tool_name> must be followed by <arguments>"),
        ("<tool_call><tool_name></tool_name></tool_call>", "", "<tool_name> is empty"),
        (
            "<tool_call><tool_name>add</tool_name><arguments>{}</arguments></call>",
            "add",
            "<tool_call> is closed by </call>",
        ),
        ("<tool_call><tool_name>add</tool_name><arguments>{}</arguments>", "add", "<tool_call> is not closed"),
        ("<tool_call><tool_name>add</tool_name><arguments>{} x</arguments></tool_call>", "add", "there is text behind"),
    ],
)
def test_malformed_calls_are_kept_and_say_what_is_wrong(text: str, name: str, error: str) -> None:
    call = tool_calls(text)[0]
    assert call.status == "malformed"
    assert call.error is not None
    assert error in call.error
    assert "\n" not in call.error
    assert call.name == name
    assert call.arguments == {}


def test_a_malformed_call_does_not_take_the_next_one_with_it() -> None:
    good = '<tool_call>{"name": "b"}</tool_call>'
    for bad in ("<tool_call>{", "<tool_call>{x}</tool_call>", '<tool_call>{"name": "a"}', "<tool_call>x"):
        calls = tool_calls(bad + good)
        assert [c.status for c in calls] == ["malformed", "ok"]
        assert calls[1].name == "b"


def test_arguments_may_hold_calls() -> None:
    inner = '<tool_call>{"name": "b"}</tool_call>'
    text = f"<tool_call>{json.dumps({'name': 'a', 'arguments': {'text': inner}})}</tool_call>"
    (call,) = tool_calls(text)
    assert (call.name, call.arguments) == ("a", {"text": inner})


def test_deep_nesting_and_long_numbers() -> None:
    for arguments in ("[" * 100_000, '{"a": ' + "9" * 10_000 + "}"):
        (call,) = tool_calls(f'<tool_call>{{"name": "a", "arguments": {arguments}}}</tool_call>')
        assert call.status == "malformed"


json_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)


@given(st.dictionaries(json_text, st.integers() | json_text | st.lists(json_text, max_size=2), max_size=4), json_text)
def test_whatever_is_called_comes_back(arguments: dict[str, object], around: str) -> None:
    text = f"{around}<tool_call>\n{json.dumps({'name': 'f', 'arguments': arguments})}\n</tool_call>{around}"
    assert [(c.name, c.arguments, c.error) for c in tool_calls(text)] == [("f", arguments, None)]


PIECES = [
    "<tool_call>",
    "</tool_call>",
    '{"name": "a"}',
    "{",
    "}",
    "[",
    '"',
    "<tool_name>",
    "</tool_name>",
    "<arguments>",
    "</arguments>",
    "\\",
    "```json",
    "```",
    "x",
    " ",
    "\n",
    "NaN",
    '{"name": "a", "arguments": "',
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join))
def test_nothing_raises_and_spans_are_in_order(text: str) -> None:
    end = 0
    for call in tool_calls(text):
        assert call.span[0] >= end or call.span[1] == end
        end = call.span[1]
        assert text[slice(*call.span)] == call.raw


@pytest.mark.parametrize(
    "unit",
    [
        "<tool_call>",
        '<tool_call>{"name": "a"}',
        "<tool_call>[[",
        '<tool_call>{"',
        "</tool_call>",
        "<tool_call> ",
        '<tool_call>{"a": "x',
        "<tool_call><tool_name>",
        '<tool_call>"name" : "name" :',
    ],
)
def test_megabytes_of_one_thing(unit: str) -> None:
    began = time.process_time()
    tool_calls(unit * (250_000 // len(unit)))
    tool_calls("<tool_call>" + unit[11:] * 50_000 + " " * 100_000)
    assert time.process_time() - began < 20
