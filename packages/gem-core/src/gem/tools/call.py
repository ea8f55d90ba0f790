"""A call of a tool as it was read from a response, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gem.env import Env

#: Text, or a list of content parts for models that see.
Content = str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call, in the order of the response. A call that cannot be read is kept, with the reason."""

    #: What the response calls; ``""`` when even that could not be read.
    name: str
    arguments: dict[str, Any]
    #: Where it stands in the response.
    span: tuple[int, int]
    #: The text of the call.
    raw: str
    #: Why it cannot be carried out, told to the model; ``None`` for a well-formed call.
    error: str | None = None

    @property
    def status(self) -> str:
        """``"ok"`` or ``"malformed"``."""
        return "ok" if self.error is None else "malformed"


@dataclass(slots=True)
class ToolResult:
    """What a tool answers."""

    content: Content
    is_error: bool = False
    #: For whoever runs the tool; the model does not see it.
    metadata: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any) -> ToolResult:
        """What a tool returned: a result as it is, text, content parts, or anything JSON can write."""
        if isinstance(value, ToolResult):
            return value if _is_content(value.content) else replace(value, content=cls.of(value.content).content)
        if _is_content(value):
            return cls(value)
        import json

        try:
            return cls(json.dumps(value, ensure_ascii=False))
        except (TypeError, ValueError):
            return cls(str(value))


def _is_content(value: Any) -> bool:
    if isinstance(value, str):
        return True
    return isinstance(value, list) and bool(value) and all(isinstance(p, dict) and "type" in p for p in value)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know about the call beside its arguments."""

    #: The function called, for a tool that has several.
    name: str = ""
    #: Seconds the tool may take; ``None``: no limit. A tool that can stop its work in time does so itself.
    timeout: float | None = None
    #: The environment the agent acts in.
    env: Env | None = None
    #: The call as written.
    raw: str = ""
