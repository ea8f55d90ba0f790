"""``<tool_call>...</tool_call>``, in the two dialects models were taught.

JSON (Hermes, Qwen): ``{"name": "add", "arguments": {"a": 1}}``, or a list of such objects.
XML: ``<tool_name>add</tool_name><arguments>{"a": 1}</arguments>``.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from gem.tools.call import ToolCall
from gem.tools.parsers.tagged import unclosed

_OPEN = re.compile(r"<tool_call\s*>", re.IGNORECASE)
_CLOSE = re.compile(r"</tool_call\s*>", re.IGNORECASE)
_BLANKS = re.compile(r"\s*")
_JSON_START = re.compile(r"\s*(?:```(?:json)?\s*)?(?=[{\[])", re.IGNORECASE)
_FENCE_END = re.compile(r"\s*```")
_NAME = re.compile(r"\s*<tool_name\s*>([^<]*)(</[^<>]*>)?", re.IGNORECASE)
_ARGUMENTS = re.compile(r"\s*<arguments\s*>", re.IGNORECASE)
_ARGUMENTS_END = re.compile(r"</arguments\s*>\s*$", re.IGNORECASE)
#: How often one response is decoded past the next call; bounds the work.
_ATTEMPTS = 8
_SHAPE = 'write {"name": "...", "arguments": {...}} between <tool_call> and </tool_call>'


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Raw line breaks inside strings are let through: models write code that way.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def tool_calls(response: str) -> list[ToolCall]:
    """Every ``<tool_call>`` of a response in order; malformed ones say what is wrong."""
    calls: list[ToolCall] = []
    position = 0
    attempts = _ATTEMPTS
    while (opening := _OPEN.search(response, position)) is not None:
        start, begin = opening.span()
        following = _OPEN.search(response, begin)
        limit = following.start() if following is not None else len(response)
        json_start = _JSON_START.match(response, begin, limit)
        if json_start is None:
            position = _read_xml(response, start, begin, limit, calls)
            continue
        # The decoder, not the closing tag, finds the end: an argument may well hold "</tool_call>".
        try:
            value, length = _DECODER.raw_decode(response[json_start.end() : limit])
        except (ValueError, RecursionError) as error:
            value, length = None, -1
            if following is not None and attempts:  # or even "<tool_call>"
                attempts -= 1
                value, length = _decode_quietly(response[json_start.end() :])
            if length < 0:
                problem = f"the call is not valid JSON: {_reason(error)}"
                position = _malformed(response, start, begin, limit, problem, calls)
                continue
        end = json_start.end() + length
        if "`" in json_start[0]:
            fence = _FENCE_END.match(response, end)
            end = fence.end() if fence is not None else end
        closing = _CLOSE.match(response, _BLANKS.match(response, end).end())  # type: ignore[union-attr]
        if closing is None:
            position = _malformed(response, start, begin, limit, None, calls, content_from=end)
            continue
        position = closing.end()
        for item in value if isinstance(value, list) else [value]:
            name, arguments, wrong = _call_of(item)
            calls.append(ToolCall(name, arguments, (start, position), response[start:position], wrong))
    return calls


def _decode_quietly(text: str) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None, -1


def _read_xml(text: str, start: int, begin: int, limit: int, calls: list[ToolCall]) -> int:
    closing = _CLOSE.search(text, begin, limit)
    if closing is None:
        return _malformed(text, start, begin, limit, None, calls)
    name, arguments, problem = _xml_call(text[begin : closing.start()])
    end = closing.end()
    calls.append(ToolCall(name, arguments, (start, end), text[start:end], problem))
    return end


def _malformed(
    text: str, start: int, begin: int, limit: int, problem: str | None, calls: list[ToolCall], content_from: int = 0
) -> int:
    """Keep a call that cannot be read; it ends at its closing tag, or before the next call. Return where."""
    closing = _CLOSE.search(text, begin, limit)
    end = closing.end() if closing is not None else limit
    content = text[begin : closing.start() if closing is not None else limit]
    if problem is None and closing is not None:
        problem = f"there is text between the JSON and </tool_call>; {_SHAPE}"
    elif problem is None:
        rest = text[max(begin, content_from) : limit]
        problem = unclosed("tool_call", rest, inner=("tool_name", "arguments"))
    name = re.search(r'"name"\s*:\s*"([^"\\]{1,200})"|<tool_name\s*>\s*([^<]{1,200}?)\s*<', content[:2000])
    called = (name[1] or name[2]) if name is not None else ""
    calls.append(ToolCall(called, {}, (start, end), text[start:end], problem))
    return end


def _call_of(value: Any) -> tuple[str, dict[str, Any], str | None]:
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict):
        return "", {}, f"a call is a JSON object; {_SHAPE}"
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        return "", {}, f'the call has no "name"; {_SHAPE}'
    arguments = value.get("arguments", value.get("parameters"))
    return name.strip(), *_arguments_of(arguments)


def _arguments_of(value: Any) -> tuple[dict[str, Any], str | None]:
    """The arguments, which some models send as JSON text, and what is wrong with them."""
    if value is None:
        return {}, None
    if isinstance(value, str):
        if not value.strip():
            return {}, None
        try:
            text = value.strip()
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError) as error:
            return {}, f"the arguments are not valid JSON: {_reason(error)}"
        if end < len(text):
            return {}, "there is text behind the JSON object in the arguments; remove it"
    if not isinstance(value, dict):
        return {}, f"the arguments must be a JSON object, got {json.dumps(value)[:80]}"
    return value, None


def _xml_call(content: str) -> tuple[str, dict[str, Any], str | None]:
    head = _NAME.match(content)
    if head is None:
        return "", {}, f"the call is neither JSON nor starts with <tool_name>; {_SHAPE}"
    name = head[1].strip()
    if head[2] is None or head[2][2:-1].strip().lower() != "tool_name":
        return name, {}, unclosed("tool_name", head[2] or "")
    if not name:
        return "", {}, "<tool_name> is empty; write the name of the tool in it"
    rest = content[head.end() :]
    if not rest.strip():
        return name, {}, None
    opening = _ARGUMENTS.match(rest)
    if opening is None:
        return name, {}, "</tool_name> must be followed by <arguments>, a JSON object and </arguments>"
    ending = _ARGUMENTS_END.search(rest, opening.end())
    if ending is None:
        return name, {}, unclosed("arguments", rest[opening.end() :])
    return name, *_arguments_of(rest[opening.end() : ending.start()])


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        found = error.doc[error.pos : error.pos + 20].split("\n")[0]
        return f"{error.msg} at character {error.pos} ({found!r})" if found else f"{error.msg} at its end"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error)
