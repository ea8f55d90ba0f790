from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gem_tools.python import ExecutionResult
from gem_tools.python.result import decode


@given(st.binary(max_size=100), st.binary(max_size=100), st.integers(min_value=0, max_value=10**9))
def test_decoding_never_raises_and_says_what_is_missing(head, tail, missing):
    text, truncated = decode(head, tail, len(head) + len(tail) + missing)
    assert truncated == (missing > 0)
    assert (f"[{missing} bytes left out]" in text) >= truncated


@given(st.text(max_size=60), st.integers(min_value=0, max_value=80), st.integers(min_value=0, max_value=80))
def test_characters_cut_in_two_disappear(text, keep_head, keep_tail):
    data = text.encode()
    head, tail = data[:keep_head], data[len(data) - min(keep_tail, len(data)) :]
    if len(head) + len(tail) >= len(data):
        return
    shown, _ = decode(head, tail, len(data))
    first, _, last = shown.partition(f"\n... [{len(data) - len(head) - len(tail)} bytes left out] ...\n")
    assert text.startswith(first)
    assert text.endswith(last)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reason": "timeout", "timeout": 2.5}, "Execution timed out after 2.5 seconds."),
        ({"reason": "memory"}, "more memory"),
        ({"reason": "cpu"}, "more CPU time"),
        ({"reason": "lost"}, "interpreter was lost"),
        ({"reason": "signal", "signal": 11}, "SIGSEGV"),
        ({"reason": "signal", "signal": 99}, "99"),
        ({"reason": "exit", "exit_code": 1}, ""),
    ],
)
def test_message_names_the_cause(fields, message):
    result = ExecutionResult(**fields)
    assert message in result.message
    assert not result.ok
    assert result.timed_out == (fields["reason"] == "timeout")
