from __future__ import annotations

import asyncio
import os
import threading

import pytest

from gem_tools.mcp import loop


async def thread_name() -> str:
    return threading.current_thread().name


def test_one_thread_for_all() -> None:
    names = []
    threads = [threading.Thread(target=lambda: names.append(loop.run(thread_name()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names == ["gem-mcp"] * 3
    assert [t.name for t in threading.enumerate()].count("gem-mcp") == 1


def test_inside_a_running_loop() -> None:
    async def outer() -> str:
        return loop.run(thread_name())

    assert asyncio.run(outer()) == "gem-mcp"


def test_patience_ends_and_cancels() -> None:
    cancelled = threading.Event()

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(TimeoutError):
        loop.run(long(), patience=1.0)  # time enough to begin
    assert cancelled.wait(10)


def test_from_its_own_thread_it_is_refused() -> None:
    async def inner() -> None:
        loop.run(thread_name())

    with pytest.raises(RuntimeError, match="another thread"):
        loop.run(inner())


def test_a_forked_child_has_a_loop_of_its_own() -> None:
    loop.run(thread_name())
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if loop.run(thread_name(), patience=10.0) == "gem-mcp" else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
