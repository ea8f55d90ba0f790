"""Arguments against a JSON schema: mend what is clearly meant, name what is wrong.

The part of JSON Schema that tools use: ``type``, ``properties``, ``required``, ``additionalProperties``, ``items``,
``enum``, ``const``, ``anyOf``/``oneOf``/``allOf`` and local ``$ref``. Other keywords are left to the tool.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any

_CHECKS: dict[str, Any] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "integer": lambda v: (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and v.is_integer()),
}
_MAX_REFERENCES = 32

Schema = Mapping[str, Any]


def mend(arguments: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """``arguments`` with JSON text parsed where the schema wants an object or an array, and only there.

    A field that may be a string is left alone.
    """
    return {
        name: _mend_value(value, properties[name], schema)
        if name in (properties := _resolve(schema, schema).get("properties") or {})
        else value
        for name, value in arguments.items()
    }


def _mend_value(value: Any, schema: Any, root: Schema) -> Any:
    if isinstance(value, str):
        types = _types(schema, root)
        if types is None or "string" in types or not types & {"object", "array"}:
            return value
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return value  # the validator says what is wrong
        return parsed if any(_CHECKS[t](parsed) for t in types & {"object", "array"}) else value
    return value


def _types(schema: Any, root: Schema) -> set[str] | None:
    """The types a value may have; ``None``: any."""
    schema = _resolve(schema, root)
    declared = schema.get("type")
    if isinstance(declared, str):
        return {declared}
    if isinstance(declared, list):
        return set(declared)
    for keyword in ("anyOf", "oneOf"):
        if schema.get(keyword):
            kinds = [_types(option, root) for option in schema[keyword] if option is not schema]
            return None if None in kinds else set().union(*(k for k in kinds if k is not None))
    if "enum" in schema and all(isinstance(v, str) for v in schema["enum"]):
        return {"string"}
    return None


def problem(value: Any, schema: Any, where: str = "", root: Schema | None = None) -> str | None:
    """What is wrong with ``value``, in one line; ``None`` when it fits.

    >>> problem({"a": "1"}, {"type": "object", "properties": {"a": {"type": "integer"}}})
    "argument 'a' must be an integer, got a string"
    """
    if root is None:
        root = schema if isinstance(schema, Mapping) else {}
    if schema is False:
        return f"{_place(where)} is not allowed"
    schema = _resolve(schema, root)
    declared = schema.get("type")
    if declared is not None:
        kinds = [declared] if isinstance(declared, str) else list(declared)
        if not any(kind not in _CHECKS or _CHECKS[kind](value) for kind in kinds):
            return f"{_place(where)} must be {' or '.join(map(_article, kinds))}, got {_kind(value)}"
    if "enum" in schema and not any(_same(value, option) for option in schema["enum"]):
        options = ", ".join(_short(option) for option in schema["enum"])
        return f"{_place(where)} must be one of {options}, got {_short(value)}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{_place(where)} must be {_short(schema['const'])}, got {_short(value)}"
    for option in schema.get("allOf") or ():
        if (found := problem(value, option, where, root)) is not None:
            return found
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if options:
            problems = [problem(value, option, where, root) for option in options]
            if None not in problems:
                return problems[0] if len(problems) == 1 else " or ".join(dict.fromkeys(p for p in problems if p))
    if isinstance(value, dict):
        return _object_problem(value, schema, where, root)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            if (found := problem(item, schema["items"], f"{where}[{index}]", root)) is not None:
                return found
    return None


def _object_problem(value: dict[str, Any], schema: Schema, where: str, root: Schema) -> str | None:
    properties = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in value:
            return f"{_place(_join(where, name))} is missing"
    extra = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in properties:
            found = problem(item, properties[name], _join(where, name), root)
        elif extra is False:
            near = difflib.get_close_matches(str(name)[:100], list(properties), n=1)
            known = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(properties) or 'none'}"
            found = f"{_place(_join(where, name))} is unknown; {known}"
        else:
            found = None if extra is True else problem(item, extra, _join(where, name), root)
        if found is not None:
            return found
    return None


def _resolve(schema: Any, root: Schema) -> Schema:
    """The schema behind a local ``$ref``; anything that is no schema, or cannot be found, allows everything."""
    for _ in range(_MAX_REFERENCES):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        schema = root
        for key in reference.lstrip("#").strip("/").split("/") if reference != "#" else ():
            schema = schema.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(schema, Mapping) else None
    return {}


def _same(value: Any, option: Any) -> bool:
    return bool(value == option) and isinstance(value, bool) == isinstance(option, bool)


def _join(where: str, name: Any) -> str:
    return f"{where}.{_short(name, plain=True)}" if where else _short(name, plain=True)


def _place(where: str) -> str:
    return f"argument {where!r}" if where else "the arguments"


def _article(kind: str) -> str:
    return "null" if kind == "null" else f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}"


def _kind(value: Any) -> str:
    return next((_article(k) for k in ("null", "boolean", "integer", "number", "string", "array", "object")
                 if _CHECKS[k](value)), type(value).__name__)  # fmt: skip


def _short(value: Any, plain: bool = False) -> str:
    text = str(value) if plain else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
