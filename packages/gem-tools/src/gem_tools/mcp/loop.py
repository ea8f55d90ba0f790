"""One background thread with an event loop, shared by every MCP session of the process."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class _Background:
    """The loop and its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="gem-mcp", daemon=True)
        self.thread.start()


_lock = threading.Lock()
_background: _Background | None = None
#: Run in the loop when the interpreter ends, before the loop does.
_farewells: list[Callable[[], Coroutine[Any, Any, None]]] = []
#: Loops of a parent process: they are its, and must be neither used nor closed here.
_of_parents: list[_Background] = []


def submit(coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
    """Start a coroutine on the background loop."""
    global _background
    with _lock:
        if _background is None:
            _background = _Background()
        return asyncio.run_coroutine_threadsafe(coroutine, _background.loop)


def run(coroutine: Coroutine[Any, Any, T], patience: float | None = None) -> T:
    """Run a coroutine on the background loop and wait; works inside a running event loop too, which it blocks.

    Raises:
        TimeoutError: it did not end within ``patience`` seconds; it is cancelled.
    """
    if _background is not None and threading.current_thread() is _background.thread:
        coroutine.close()
        raise RuntimeError("an MCP tool cannot be called from the thread that serves it; use another thread")
    future = submit(coroutine)
    try:
        return future.result(patience)
    except BaseException:  # a time-out here, or Ctrl-C
        future.cancel()
        raise


def at_exit(farewell: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], Coroutine[Any, Any, None]]:
    """Have a coroutine function run on the loop when the interpreter ends."""
    _farewells.append(farewell)
    return farewell


@atexit.register
def _stop() -> None:
    global _background
    background = _background
    if background is None:
        return

    async def part() -> None:
        await asyncio.gather(*(farewell() for farewell in _farewells), return_exceptions=True)

    with suppress(TimeoutError, concurrent.futures.CancelledError):
        run(part(), patience=10.0)
    _background = None
    background.loop.call_soon_threadsafe(background.loop.stop)
    background.thread.join(5.0)
    if not background.thread.is_alive():
        background.loop.close()


def _in_child() -> None:
    # The thread did not survive the fork, and the loop's selector is the parent's.
    global _background, _lock
    _lock = threading.Lock()
    if _background is not None:
        _of_parents.append(_background)
        _background = None


os.register_at_fork(after_in_child=_in_child)
