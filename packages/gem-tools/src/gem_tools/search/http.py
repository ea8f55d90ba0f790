"""Requests to search servers: on one background event loop a process, within a time limit.

A request is repeated only where no connection came about.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from gem_tools.search.retriever import SearchError, require

T = TypeVar("T")

#: The longest answer that is read, in bytes.
MAX_ANSWER = 16 * 1024 * 1024
#: How often a server is called that refuses connections, and the first pause in seconds; it doubles.
CONNECT_ATTEMPTS, CONNECT_PAUSE = 3, 0.1


async def request(method: str, url: str, *, name: str, **options: Any) -> tuple[int, bytes]:
    """Status and body of an answer. To be run by :func:`run`.

    Args:
        name: what the server is called in errors.
        **options: of ``httpx.AsyncClient.stream``.

    Raises:
        SearchError: the server cannot be reached, breaks off, or says too much.
    """
    httpx = require("httpx")
    client = _client()
    for attempt in range(CONNECT_ATTEMPTS):
        try:
            async with client.stream(method, url, **options) as response:
                body = bytearray()
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > MAX_ANSWER:
                        raise SearchError(f"{name} answers with more than {MAX_ANSWER} bytes")
                return response.status_code, bytes(body)
        except httpx.ConnectError:
            if attempt + 1 == CONNECT_ATTEMPTS:
                raise SearchError(f"{name} cannot be reached") from None
            await asyncio.sleep(CONNECT_PAUSE * 2**attempt)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SearchError(f"{name} broke off ({type(error).__name__})") from None
    raise AssertionError("unreachable")


def run(work: Coroutine[Any, Any, T], timeout: float | None, name: str) -> T:
    """Run a coroutine on the background loop and wait for it here, for at most ``timeout`` seconds.

    Raises:
        SearchError: the time is over; the work is cancelled.
    """

    async def limited() -> T:
        return await asyncio.wait_for(work, timeout)

    future = asyncio.run_coroutine_threadsafe(limited(), _loop())
    try:
        return future.result()
    except TimeoutError:
        raise SearchError(f"{name} did not answer within {timeout:g} s") from None
    except BaseException:
        future.cancel()
        raise


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of several coroutines; when one fails the others are cancelled, not left running."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def place(url: str) -> str:
    """A URL as errors may show it: without user, password, query and fragment.

    Raises:
        ValueError: it is no HTTP URL.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"not a URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError(f"a search server's URL begins with http:// or https:// and has a host, got {url!r}")
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{f':{port}' if port else ''}{parts.path}"


# The loop and its client, those of the process that made them: a fork inherits neither thread nor connections.
_running: tuple[int, asyncio.AbstractEventLoop, Any] | None = None
_lock = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _lock:
        if _running is None or _running[0] != os.getpid():
            httpx = require("httpx")
            # An answer is limited as a whole, by run(). Idle connections are dropped before servers drop them.
            limits = httpx.Limits(max_connections=256, max_keepalive_connections=64, keepalive_expiry=3.0)
            client = httpx.AsyncClient(timeout=None, limits=limits, follow_redirects=False)
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="gem-search", daemon=True).start()
            _running = (os.getpid(), loop, client)
        return _running[1]


def _client() -> Any:
    assert _running is not None
    return _running[2]


def _new_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_new_lock)
