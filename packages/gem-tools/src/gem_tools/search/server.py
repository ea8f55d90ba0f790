"""A search server: speaks :mod:`gem_tools.search.protocol` over HTTP, in batches, several at once."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from gem_tools.search.protocol import MEDIA_TYPES, encoding_of, read_request, write_response
from gem_tools.search.retriever import Hit, Retriever, SearchError, require

#: The largest request that is read, in bytes.
MAX_BODY = 2 * 1024 * 1024
#: Seconds that a client may take to send one.
PATIENCE = 30
#: Seconds that requests under way are given when the server is told to stop.
GRACE = 5


class Overloaded(Exception):
    """Too many queries are waiting."""


@dataclass(frozen=True)
class _Waiting:
    """Queries of one request, and who waits for their hits."""

    queries: list[str]
    topk: int
    answer: asyncio.Future[list[list[Hit]]]


class Batcher:
    """Hands queries to a retriever: what came in while it worked goes to it together.

    Nothing is delayed to fill a batch, so a lone query costs nothing extra.

    Args:
        retriever: called from ``workers`` threads.
        workers: batches at a time.
        max_batch: queries in a batch; one request is not divided.
        max_waiting: requests that wait; more are refused.
    """

    def __init__(self, retriever: Retriever, workers: int, max_batch: int = 64, max_waiting: int = 1024) -> None:
        self._retriever = retriever
        self._max_batch = max_batch
        self._max_waiting = max_waiting
        self._free = workers
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="gem-search")
        self._queue: deque[_Waiting] = deque()
        self._running: set[asyncio.Task[None]] = set()

    async def search(self, queries: list[str], topk: int) -> list[list[Hit]]:
        """The hits for each query.

        Raises:
            Overloaded: too many requests wait already.
            SearchError: the search failed.
        """
        if len(self._queue) >= self._max_waiting:
            raise Overloaded
        waiting = _Waiting(queries, topk, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        self._dispatch()
        return await waiting.answer

    def close(self) -> None:
        """End the threads; what they work on is finished first."""
        self._threads.shutdown(wait=True)

    def _dispatch(self) -> None:
        while self._free and self._queue:
            batch = self._take()
            if batch:
                self._free -= 1
                task = asyncio.ensure_future(self._carry_out(batch))
                self._running.add(task)
                task.add_done_callback(self._running.discard)

    def _take(self) -> list[_Waiting]:
        """Requests from the front of the queue that want equally many documents."""
        batch: list[_Waiting] = []
        size = 0
        while self._queue:
            first = self._queue[0]
            if first.answer.done():  # whoever asked went away
                self._queue.popleft()
                continue
            if batch and (first.topk != batch[0].topk or size + len(first.queries) > self._max_batch):
                break
            batch.append(self._queue.popleft())
            size += len(first.queries)
        return batch

    async def _carry_out(self, batch: list[_Waiting]) -> None:
        try:
            queries = [query for waiting in batch for query in waiting.queries]
            loop = asyncio.get_running_loop()
            hits = iter(await loop.run_in_executor(self._threads, self._retriever.search, queries, batch[0].topk))
            for waiting in batch:
                own = [next(hits) for _ in waiting.queries]
                if not waiting.answer.done():
                    waiting.answer.set_result(own)
        except Exception as error:
            for waiting in batch:
                if not waiting.answer.done():
                    waiting.answer.set_exception(error)
        finally:
            self._free += 1
            self._dispatch()


def make_app(retriever: Retriever, *, topk: int = 10, workers: int | None = None, max_body: int = MAX_BODY) -> Any:
    """The server as an ASGI application: ``POST /retrieve`` and ``GET /health``.

    Args:
        topk: documents for a request that does not say how many.
        workers: searches at a time; by default as many as this process may use cores.
        max_body: bytes of the largest request.
    """
    applications = require("starlette.applications")
    requests = require("starlette.requests")
    responses = require("starlette.responses")
    routing = require("starlette.routing")
    require("msgpack")
    batcher: Batcher | None = None

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        nonlocal batcher
        batcher = Batcher(retriever, workers or len(os.sched_getaffinity(0)))
        try:
            yield
        finally:
            batcher.close()

    def refusal(status: int, reason: str) -> Any:
        return responses.JSONResponse({"error": reason}, status_code=status)

    async def retrieve(request: Any) -> Any:
        body = bytearray()
        try:
            async with asyncio.timeout(PATIENCE):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > max_body:
                        return refusal(413, f"a request may have {max_body} bytes")
        except TimeoutError:
            return refusal(408, f"the request was not complete within {PATIENCE} s")
        except requests.ClientDisconnect:
            return responses.Response()  # nobody reads it
        try:
            asked = read_request(bytes(body))
        except ValueError as error:
            return refusal(400, str(error))
        assert batcher is not None
        try:
            results = await batcher.search(asked.queries, asked.topk or topk)
        except Overloaded:
            return refusal(503, "too many requests are waiting: try again later")
        except SearchError as error:
            return refusal(502, str(error))
        encoding = encoding_of(bytes(body))
        return responses.Response(write_response(asked, results, encoding), media_type=MEDIA_TYPES[encoding])

    async def health(request: Any) -> Any:
        documents = len(retriever) if isinstance(retriever, Sized) else None
        return responses.JSONResponse(
            {"status": "ok", "documents": documents, "method": getattr(retriever, "method", None)}
        )

    return applications.Starlette(
        routes=[
            routing.Route("/retrieve", retrieve, methods=["POST"]),
            routing.Route("/health", health, methods=["GET"]),
        ],
        lifespan=lifespan,
    )


def serve(
    retriever: Retriever,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    topk: int = 10,
    workers: int | None = None,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until interrupted (Ctrl-C, or the signal TERM); requests under way are finished first.

    Args:
        host, port: where to listen; port 0 takes a free one.
        topk, workers: see :func:`make_app`.
        ready: called with the URL of searches once connections are accepted.

    Raises:
        OSError: the port is taken, or the host is none of this machine's.
        ValueError: there is no such port.
    """
    if not 0 <= port <= 65535:
        raise ValueError(f"a port is a number from 0 to 65535, got {port}")
    uvicorn = require("uvicorn")
    app = make_app(retriever, topk=topk, workers=workers)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=1024) as listening:
        config = uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=GRACE)
        server = uvicorn.Server(config)
        ready(f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/retrieve")
        with suppress(KeyboardInterrupt):  # how the server passes Ctrl-C on once it has stopped
            server.run(sockets=[listening])
