"""Bounds on what a tool may cost: the length of its answer and the time it takes."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

from gem.tools.call import Content

T = TypeVar("T")


class Overstayed(Exception):
    """A call took longer than it was given; whether it did its work is unknown."""


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters of ``text``: its head, a marker that says how much is left out, and its tail."""
    if len(text) <= limit:
        return text
    kept = limit - len(_marker(len(text), len(text)))  # the longest the marker can be
    if kept <= 0:
        return text[:limit]
    tail = kept // 2
    return text[: kept - tail] + _marker(len(text) - kept, len(text)) + text[len(text) - tail :]


def _marker(left_out: int, length: int) -> str:
    return f"\n... [{left_out} of {length} characters left out] ...\n"


def shorten_content(content: Content, limit: int) -> Content:
    """:func:`shorten` for text, and for the text parts of a list."""
    if isinstance(content, str):
        return shorten(content, limit)
    return [{**p, "text": shorten(p["text"], limit)} if isinstance(p.get("text"), str) else p for p in content]


def within(seconds: float | None, function: Callable[[], T]) -> T:
    """``function()``, waited for at most ``seconds``.

    With a limit the call runs in a thread of its own. Python cannot stop a thread: one that overstays is left to
    end by itself (it does not keep the process alive), and what it returns is dropped.

    Raises:
        Overstayed: it took longer.
    """
    if seconds is None:
        return function()
    outcome: list[T] = []
    failure: list[BaseException] = []
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.append(context.run(function))
        except BaseException as error:  # raised again where the result is waited for
            failure.append(error)

    thread = threading.Thread(target=run, name="gem-tool-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise Overstayed
    return outcome[0]
