"""From what a server answers to what a model reads."""

from __future__ import annotations

import json
from typing import Any

from mcp_types import CallToolResult

from gem.tools import Content, ToolResult
from gem.tools.limits import shorten_content
from gem.wrappers.content import join

#: Characters of an image's base64 text.
MAX_IMAGE = 20_000_000


def to_result(answer: CallToolResult, max_chars: int) -> ToolResult:
    """Text stays text, images become image parts, and structured content speaks where there is no text.

    ``metadata`` keeps the structured content where it is not longer than ``max_chars`` as JSON.
    """
    pieces = [_piece(block) for block in answer.content]
    structured = answer.structured_content
    metadata: dict[str, Any] = {}
    written = None if structured is None else json.dumps(structured, ensure_ascii=False, default=str)
    if written is not None:
        if len(written) <= max_chars:
            metadata["structured_content"] = structured
        if not any(isinstance(piece, str) and piece.strip() for piece in pieces):
            pieces = [written, *(piece for piece in pieces if not isinstance(piece, str))]
    lines: list[Content] = []
    for piece in pieces:
        if lines and isinstance(piece, str) and isinstance(lines[-1], str):
            lines.append("\n")
        lines.append(piece)
    content = join(lines) if lines else ""
    if not content:
        content = "(the tool failed without a word)" if answer.is_error else "(no output)"
    return ToolResult(shorten_content(content, max_chars), is_error=bool(answer.is_error), metadata=metadata)


def _piece(block: Any) -> Content:
    kind = getattr(block, "type", "")
    if kind == "text":
        return str(block.text)
    if kind == "image":
        return _image(block.data, block.mime_type)
    if kind == "audio":
        return f"[audio, {block.mime_type}, {_size(block.data)}]"
    if kind == "resource_link":
        return f"[resource {block.name}: {block.uri}]"
    if kind == "resource":
        resource = block.resource
        if (text := getattr(resource, "text", None)) is not None:
            return str(text)
        if (resource.mime_type or "").startswith("image/"):
            return _image(resource.blob, resource.mime_type)
        return f"[resource {resource.uri}, {resource.mime_type or 'binary'}, {_size(resource.blob)}]"
    return json.dumps(block.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False)


def _image(data: str, mime_type: str) -> Content:
    if len(data) > MAX_IMAGE:
        return f"[image, {mime_type}, {_size(data)}: too large to show]"
    return [{"type": "image", "image": f"data:{mime_type};base64,{data}"}]


def _size(base64_text: str) -> str:
    return f"{len(base64_text) * 3 // 4} bytes"
