"""What was thought."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from gem.parsing import blank_think, strip_think, think_spans


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>a</think>b", "b"),
        ("x<think>a</think>y<think>b</think>z", "xyz"),
        ("a</think>b", "b"),
        ("a</think>b<think>c</think>d", "bd"),
        ("x<think>never finished", "x"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("<think>they want <think> tags</think>d", "d"),
        ("<think>a</think>b</think>", "b"),
        ("<THINK>a</Think >b", "b"),
        ("<thinking>a</thinking>b", "b"),
        ("1 < 2, <b>plain</b>", "1 < 2, <b>plain</b>"),
        ("", ""),
    ],
)
def test_strip_think(text: str, said: str) -> None:
    assert strip_think(text) == said


pieces = st.lists(st.sampled_from(["<think>", "</think>", "a", "\n", "<", "```"]) | st.text(max_size=5), max_size=20)


@given(pieces.map("".join))
def test_thought_spans_are_in_order_and_blanking_keeps_positions(text: str) -> None:
    spans = think_spans(text)
    assert all(a < b for a, b in spans)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    blanked = blank_think(text)
    assert len(blanked) == len(text)
    assert strip_think(text) == "".join(c for i, c in enumerate(text) if not any(a <= i < b for a, b in spans))
    assert strip_think(blanked) == blanked
