from __future__ import annotations

from typing import Any

from mcp_types import CallToolResult

from gem_tools.mcp import content
from gem_tools.mcp.content import to_result


def result(blocks: list[dict[str, Any]], max_chars: int = 1000, **more: Any) -> Any:
    return to_result(CallToolResult.model_validate({"content": blocks, **more}), max_chars)


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


IMAGE = {"type": "image", "data": "QUJD", "mimeType": "image/png"}


def test_texts_are_lines() -> None:
    assert result([text("one"), text("two")]).content == "one\ntwo"


def test_images_stand_where_they_stood() -> None:
    part = {"type": "image", "image": "data:image/png;base64,QUJD"}
    assert result([text("a"), IMAGE, text("b")]).content == [text("a"), part, text("b")]
    assert result([IMAGE]).content == [part]


def test_structured_content_speaks_where_there_is_no_text() -> None:
    assert result([], structuredContent={"x": 1}).content == '{"x": 1}'
    both = result([text("one")], structuredContent={"x": 1})
    assert both.content == "one"
    assert both.metadata["structured_content"] == {"x": 1}
    assert result([IMAGE], structuredContent={"x": 1}).content[0] == text('{"x": 1}')


def test_long_results_are_cut_in_the_middle() -> None:
    cut = result([text("a" * 5000 + "b" * 5000)], structuredContent={"x": "c" * 5000}, max_chars=1000)
    assert 950 < len(cut.content) <= 1000
    assert cut.content.startswith("aaa")
    assert cut.content.endswith("bbb")
    assert "of 10000 characters left out" in cut.content
    assert "structured_content" not in cut.metadata


def test_an_image_that_is_too_large_is_named(monkeypatch: Any) -> None:
    monkeypatch.setattr(content, "MAX_IMAGE", 3)
    assert result([IMAGE]).content == "[image, image/png, 3 bytes: too large to show]"


def test_errors_stay_errors() -> None:
    assert result([text("no")], isError=True).is_error
    assert result([], isError=True).content == "(the tool failed without a word)"
    assert result([]).content == "(no output)"
