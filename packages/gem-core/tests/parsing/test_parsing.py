"""Any text at all, and megabytes of one thing."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings, strategies as st

from gem.parsing import code_blocks, last_boxed, last_tag, strip_think

fragments = st.sampled_from(
    [
        "```", "~~~", "````", "```python\n", "```\n", "\n", "'''", '"""', "'", "\\", "#", "x = 1\n", "<python>",
        "</python>",
        "<think>", "</think>", "<answer>", "</answer>", "\\boxed{", "\\boxed ", "\\fbox{", "{", "}", "\\{", "\\}", " ",
        "```py x", "`", "\r\n", "\t", "\x00", "\ud800", "7",
    ]
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(fragments | st.text(max_size=3), max_size=40).map("".join))
@example("<python>```python\n</python>")
@example("```\n  ```")
def test_nothing_raises_and_spans_are_in_order(text: str) -> None:
    box, tag = last_boxed(text), last_tag(text, "answer")
    assert box is None or box in text
    assert tag is None or tag in text
    strip_think(text)
    blocks = code_blocks(text)
    assert all(left.span[1] <= right.span[0] for left, right in itertools.pairwise(blocks))
    assert all(0 <= b.span[0] < b.span[1] <= len(text) and b.code.strip() for b in blocks)


UNITS = [
    "\\boxed{7}", "{", "\\boxed{", "\\boxed{{", "\\boxed ", "\\fbox{\\boxed ", "\\boxed{\\}", "<think>", "</think>",
    "```python\n", "```python\nx=1\n", "```python\ns='''\n```\n", "```python\n'''\n```\nx '''\n", "~~~\n", "`", "```a`",
    "<python>", "<python>x y\n", "<python>\n```\n", "``` x y\n", "print(1)```\n", "<answer", "<answer ", "<answer>",
    "\\", "'", "\n", " ", "```\n\n", "<python>1</python>", "```markdown\n", "\\boxed" + " " * 50,
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_megabytes_of_one_thing(unit: str) -> None:
    """Quadratic work would need minutes; the guard is generous and only there to fail rather than hang."""
    import time

    text = unit * (300_000 // len(unit))
    began = time.process_time()
    for read in (last_boxed, strip_think, code_blocks):
        read(text)
    last_tag(text, "answer")
    assert time.process_time() - began < 20
