"""Length and time."""

from __future__ import annotations

import contextvars
import threading

import pytest
from hypothesis import example, given, strategies as st

from gem.tools.limits import Overstayed, shorten, shorten_content, within


@given(st.integers(0, 3000), st.integers(0, 400))
@example(101, 42)
def test_a_short_text_keeps_head_and_tail_and_the_limit(length: int, limit: int) -> None:
    text = "".join(chr(97 + i % 26) for i in range(length))
    short = shorten(text, limit)
    assert len(short) <= max(limit, 0)
    if length <= limit:
        assert short == text
    elif limit >= 100:
        assert short[:20] == text[:20]
        assert short[-20:] == text[-20:]
        head, _, rest = short.partition("\n... [")
        left_out, _, tail = rest.partition(f" of {length} characters left out] ...\n")
        assert int(left_out) == length - len(head) - len(tail)


def test_parts_are_shortened_one_by_one() -> None:
    image = {"type": "image", "image": "x" * 500}
    parts = shorten_content([{"type": "text", "text": "y" * 500}, image], 100)
    assert parts[1] is image
    assert len(parts[0]["text"]) == 100  # type: ignore[index]


def test_a_call_within_its_time() -> None:
    assert within(None, threading.current_thread) is threading.current_thread()
    assert within(30, lambda: 3) == 3
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(4)
    assert within(30, variable.get) == 4
    with pytest.raises(ZeroDivisionError):
        within(30, lambda: 1 / 0)


def test_a_call_beyond_its_time_is_left_to_a_thread_that_ends_with_it() -> None:
    release = threading.Event()
    before = set(threading.enumerate())
    with pytest.raises(Overstayed):
        within(0.05, release.wait)
    (thread,) = [t for t in threading.enumerate() if t not in before]
    assert thread.name == "gem-tool-call"
    assert thread.daemon
    release.set()
    thread.join(30)
    assert not thread.is_alive()
