"""Tags, nested, echoed and cut off."""

from __future__ import annotations

import pytest

from gem.parsing import last_boxed, last_tag, tag_blocks


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<answer>Paris</answer> (format: <answer> your answer here </answer>)", "Paris"),
        ("<answer>Paris</answer>, that is <answer>...</answer>", "Paris"),
        ("<answer>Paris</answer> as <answer>[Your final answer]</answer>", "Paris"),
        ("<answer>I say <answer>Paris</answer></answer>", "Paris"),
        ("<answer> a <answer> Paris </answer>", "Paris"),
        ("<Answer>Paris</Answer>", "Paris"),
        ("<answer type='x'>Paris</answer >", "Paris"),
        ("<answer>Rome</answer> no: <answer>Paris</answer>", "Paris"),
        ("<answer>Paris</answer> and <answer>cut", "Paris"),
        ("<answer>your answer here</answer>", "your answer here"),
        ("<answer>The answer to life is 42</answer>", "The answer to life is 42"),
        ("<answer></answer>", ""),
        ("<answer>cut", None),
        ("</answer>Paris<answer>", None),
        ("<answers>Paris</answers>", None),
        ("", None),
    ],
)
def test_last_tag(text: str, content: str | None) -> None:
    assert last_tag(text, "answer") == content


def test_a_box_inside_a_tag() -> None:
    assert last_boxed(last_tag(r"<answer>\boxed{42}</answer>", "answer") or "") == "42"


def test_tag_blocks_have_spans_and_the_last_may_be_open() -> None:
    text = "a <s>x</s> b <S> y </s><s>z"
    blocks = tag_blocks(text, "s")
    assert [(b.content, b.closed) for b in blocks] == [("x", True), (" y ", True), ("z", False)]
    assert [text[slice(*b.span)] for b in blocks] == ["<s>x</s>", "<S> y </s>", "<s>z"]


def test_tag_names_are_not_patterns() -> None:
    assert tag_blocks("<axb>1</axb>", "a.b") == []
    assert last_tag("<a.b>1</a.b>", "a.b") == "1"
