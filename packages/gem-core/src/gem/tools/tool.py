"""The interface of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from gem.tools.call import Content, ToolCall, ToolContext, ToolResult
from gem.tools.parsers import tool_calls
from gem.wrappers.content import join


class Tool:
    """Something an agent can call by writing so in its response.

    A subclass sets :attr:`name`, :attr:`description` and :attr:`parameters`, and implements :meth:`call`. That
    is a tool already: models call it as ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``. A tool with
    a syntax of its own overrides :meth:`parse` and :meth:`instructions`; :mod:`gem.tools.parsers` has the common
    ones. A tool with several functions (a server of tools) overrides :meth:`functions`.

    An instance serves one environment. What it holds for an episode (a session, a working directory) it opens in
    :meth:`begin_episode` and gives back in :meth:`end_episode`.
    """

    #: What models call it by.
    name: str = ""
    #: One or two sentences for the model.
    description: str = ""
    #: JSON schema of the arguments.
    parameters: Mapping[str, Any] = {"type": "object", "properties": {}}
    #: Reported as ``info["tool_type"]``; the name where it is empty.
    tool_type: str = ""

    _init_arguments: ClassVar[Any] = ((), {})

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        self.__dict__["_init_arguments"] = (args, kwargs)  # what spawn() builds a sibling from
        return self

    def __init__(self) -> None:
        # Without this a class that has no __init__ would take, and ignore, any option.
        pass

    # -- what the model sees --------------------------------------------------------------------------

    def functions(self) -> list[dict[str, Any]]:
        """What can be called: dictionaries with ``name``, ``description`` and ``parameters`` (a JSON schema)."""
        return [{"name": self.name, "description": self.description, "parameters": dict(self.parameters)}]

    def instructions(self) -> str | None:
        """How to call this tool, for the first observation; ``None``: list it with its schema among the others."""
        return None

    def render(self, result: ToolResult) -> Content:
        """What the model reads of a result."""
        return join(("<tool_response>\n", result.content, "\n</tool_response>"))

    # -- what it does ---------------------------------------------------------------------------------

    def parse(self, response: str) -> list[ToolCall]:
        """The calls of this tool in a response, in order; malformed ones carry their ``error``.

        Must take any ``str`` and not raise.
        """
        own = {function["name"] for function in self.functions()}
        return [call for call in tool_calls(response) if call.name in own]

    def call(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        """Carry out a call whose arguments fit the schema.

        Returns:
            A :class:`ToolResult`; or text, content parts or any JSON value, which become the content of one.
            ``None`` says that the response did not address this tool after all.

        Raises:
            Exception: becomes an error result that the model reads.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement call(arguments, context)")

    # -- its life -------------------------------------------------------------------------------------

    def begin_episode(self) -> None:
        """An episode begins."""

    def end_episode(self) -> None:
        """The episode ended, or was abandoned. Called once for each :meth:`begin_episode`."""

    def close(self) -> None:
        """Release everything. Safe to call twice."""

    def get_state(self) -> Any:
        """What :meth:`set_state` needs to go back to this moment of the episode; ``None`` for a stateless tool.

        Raises:
            gem.StateNotSupported: the tool's session cannot be saved.
        """
        return None

    def set_state(self, state: Any) -> None:
        """Go back to what :meth:`get_state` returned."""

    def spawn(self) -> Tool:
        """A new tool with the same constructor arguments, for another environment."""
        args, kwargs = self._init_arguments
        return type(self)(*args, **kwargs)

    def claim(self) -> bool:
        """Take this instance for an environment; ``False``: one has it already."""
        token = object()
        return self.__dict__.setdefault("_claimed", token) is token  # one step, so that of two threads one gets it

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"
