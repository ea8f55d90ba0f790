"""A Python function as a tool."""

from __future__ import annotations

import importlib
import inspect
import operator
import types
import typing
from collections.abc import Callable
from typing import Any

from gem.tools.call import ToolContext
from gem.tools.tool import Tool

_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object"}


class FunctionTool(Tool):
    """A tool that calls a Python function; name, description and schema are read from it.

    The description is the first paragraph of the docstring. Annotations become the schema: ``int``, ``float``,
    ``str``, ``bool``, ``list``, ``dict``, ``Literal``, unions and ``None``; a parameter without default is required.
    A parameter annotated ``ToolContext`` is given the context of the call and is no argument.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None, description: str | None = None) -> None:
        self.function = function
        self.name = name or function.__name__
        self.description = description or (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
        self._context: str | None = None
        self.parameters = self._schema()

    def _schema(self) -> dict[str, Any]:
        hints = typing.get_type_hints(self.function)
        properties, required = {}, []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise TypeError(f"{self.name}({parameter}): a tool is called with named arguments; spell them out")
            if hints.get(name) is ToolContext:
                self._context = name
                continue
            properties[name] = _schema_of(hints.get(name, Any))
            if parameter.default is parameter.empty:
                required.append(name)
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": required} if required else schema

    def call(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        if self._context is not None:
            arguments = {**arguments, self._context: context}
        result = self.function(**arguments)
        return "" if result is None else result

    def claim(self) -> bool:
        return True  # a function holds nothing of an episode: environments may share it

    def spawn(self) -> FunctionTool:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        # A decorated function's name means this object, so the function itself cannot be pickled by name.
        where = self.function.__module__, self.function.__qualname__
        try:
            if _recall(*where) is self:
                return _recall, where
        except (ImportError, AttributeError):
            pass
        return super().__reduce_ex__(protocol)


def _recall(module: str, name: str) -> Any:
    """The object a module holds under a dotted name."""
    return operator.attrgetter(name)(importlib.import_module(module))


def _schema_of(hint: Any) -> dict[str, Any]:
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return {"enum": list(typing.get_args(hint))}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema_of(h) for h in typing.get_args(hint)]}
    if hint is type(None):
        return {"type": "null"}
    arguments = typing.get_args(hint)
    if origin is list and arguments:
        return {"type": "array", "items": _schema_of(arguments[0])}
    kind = _TYPES.get(origin or hint)
    return {"type": kind} if kind else {}


def tool(function: Callable[..., Any]) -> FunctionTool:
    """Decorator: this function as a tool.

    >>> @tool
    ... def add(a: int, b: int) -> int:
    ...     '''The sum of two integers.'''
    ...     return a + b
    >>> add.parameters["required"]
    ['a', 'b']
    """
    return FunctionTool(function)
