"""One live session with one server, on the background loop."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    CreateMessageResult,
    Implementation,
    PaginatedRequestParams,
    TextContent,
    Tool as Listed,
)
from pydantic import ValidationError

from gem_tools.mcp import loop
from gem_tools.mcp.config import Server
from gem_tools.mcp.stdio import MAX_MESSAGE, stdio_transport

# What it logs about dying servers is told by the error of the call; applications that configure logging still get it.
logging.getLogger("mcp").addHandler(logging.NullHandler())
logging.getLogger("client").addHandler(logging.NullHandler())

#: Errors of opening that another attempt will not mend.
_HOPELESS = (401, 403, 404, 405)
_MAX_PAGES = 1000
#: HTTP statuses of the answers to one request, 0 where nobody could be reached; the SDK sends a request in the context
#: of whoever asked.
_statuses: ContextVar[list[int] | None] = ContextVar("_statuses", default=None)
#: Connections between opening and the end of closing, for whoever has to close them all.
_live: set[Connection] = set()


class NotOpened(Exception):
    """The session could not be opened."""

    def __init__(self, message: str, hopeless: bool = False) -> None:
        super().__init__(message)
        self.hopeless = hopeless


class Undelivered(Exception):
    """The call did not reach the server, or was turned away before any tool ran."""


class Died(Exception):
    """The server, or the way to it, broke during the call; whether the tool ran is unknown."""


class Overran(Exception):
    """No answer within the time; whether the tool ran is unknown."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """What the user wants to hear of, or to answer, while tools run; called from a thread of their own."""

    log: Callable[[Any], Any] | None = None
    progress: Callable[[float, float | None, str | None], Any] | None = None
    sampling: Callable[[list[Any], Any, Any], str] | None = None


class _HttpClient(httpx2.AsyncClient):
    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Note what became of a request, for the one who made it."""
        status = -1
        try:
            response = await super().send(request, **options)
            status = response.status_code
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            status = 0
            raise
        finally:
            seen = _statuses.get()
            if seen is not None and request.method == "POST":
                seen.append(status)
        return response


class _Session(ClientSession):
    async def validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """An answer that breaks the server's own schema is still an answer; the model reads it as it is."""


class Connection:
    """Opened once, closed once; everything here runs on the background loop."""

    def __init__(self, server: Server, handlers: Handlers) -> None:
        self.server = server
        #: Whether a tool was called: the server may hold something of the episode since.
        self.used = False
        #: A call overran: whether the server still answers is to be seen.
        self.suspect = False
        #: Why it is of no use any more; empty while it lives.
        self.failure = ""
        self._handlers = handlers
        self._session: ClientSession | None = None
        self._stop = asyncio.Event()
        self._closed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._greeting: list[int] = []  # HTTP statuses while it opens
        self._hurry = False

    @property
    def alive(self) -> bool:
        return self._session is not None and not self.failure

    @property
    def _status(self) -> int:
        return self._greeting[-1] if self._greeting else 0

    async def open(self, timeout: float) -> None:
        """Connect and shake hands.

        Raises:
            NotOpened: it did not work, or not within ``timeout`` seconds.
        """
        _live.add(self)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.ensure_future(self._run(ready))
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(ready)
        except NotOpened:
            raise
        except TimeoutError:
            raise NotOpened(f"{self.server} did not come up within {timeout:g} s ({self.server.place})") from None
        finally:
            if not self.alive:
                ready.cancel()
                await self.close()

    async def _run(self, ready: asyncio.Future[None]) -> None:
        failure: BaseException | None = None
        _statuses.set(self._greeting)
        try:
            transport = (
                self._http() if self.server.url else stdio_transport(self.server, self._fail, lambda: self._hurry)
            )
            async with transport as (read, write), self._client(read, write) as session:
                try:
                    await self._greet(session)
                except MCPError as error:  # told before the transport ends, which would have its own reason
                    if self._is_closure(error):
                        await self._ended()
                    self._fail(self._explain(error))
                    raise
                if not ready.done():
                    self._session = session
                    ready.set_result(None)
                    await self._stop.wait()
        except BaseException as error:  # told to whoever waits; nobody awaits this task for its outcome
            failure = error
        finally:
            why = self._explain(failure)
            self._fail(why)
            self._session = None
            if not ready.done():
                hopeless = (isinstance(failure, OSError) and not self.server.url) or self._status in _HOPELESS
                ready.set_exception(
                    NotOpened(f"{self.server} could not be opened ({self.server.place}): {why}", hopeless)
                )
                ready.exception()  # nobody may be waiting any more
            self._closed.set()
            _live.discard(self)

    def _fail(self, why: str) -> None:
        self.failure = self.failure or why
        self._stop.set()

    def _explain(self, failure: BaseException | None) -> str:
        if self.failure:
            return self.failure
        cause = _root(failure)
        if self._status >= 400 and not isinstance(cause, httpx2.TransportError):
            return f"the server answered with HTTP status {self._status}"
        if cause is None or isinstance(cause, asyncio.CancelledError):
            return "the session was closed"
        if isinstance(cause, OSError) and cause.strerror:
            return f"{cause.strerror}{f': {cause.filename!r}' if cause.filename else ''}"
        if isinstance(cause, ValidationError):
            return "it does not speak the Model Context Protocol"
        return " ".join(str(cause).split()) or type(cause).__name__

    # -- opening --------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[tuple[Any, Any]]:
        async with (
            _HttpClient(
                headers=dict(self.server.headers),
                auth=self.server.auth,
                # Calls have their own limits; a tool may well think for longer than any default here.
                timeout=httpx2.Timeout(30.0, read=None),
            ) as client,
            streamable_http_client(self.server.url, http_client=client, max_sse_event_size=MAX_MESSAGE) as streams,
        ):
            yield streams

    def _client(self, read: Any, write: Any) -> ClientSession:
        return _Session(
            read,
            write,
            logging_callback=self._on_log if self._handlers.log is not None else None,
            sampling_callback=self._on_sampling if self._handlers.sampling is not None else None,
            client_info=Implementation(name="gem-tools", version="0.1.0"),
        )

    async def _greet(self, session: ClientSession) -> None:
        # The handshake first: it is what gives a session of its own to an episode.
        try:
            await session.initialize()
        except MCPError as error:
            if error.code not in (UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND):
                raise
            await session.discover()

    async def _on_log(self, params: Any) -> None:
        await _in_thread(self._handlers.log, params)

    async def _on_sampling(self, context: Any, params: Any) -> CreateMessageResult:
        text = await _in_thread(self._handlers.sampling, list(params.messages), params, context)
        return CreateMessageResult(role="assistant", content=TextContent(text=str(text)), model="gem")

    async def _on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        await _in_thread(self._handlers.progress, progress, total, message)

    # -- use ------------------------------------------------------------------------------------------

    async def tools(self) -> list[Listed]:
        """What the server offers.

        Raises:
            NotOpened: it cannot say.
        """
        found: list[Listed] = []
        cursor = None
        try:
            for _ in range(_MAX_PAGES):
                page = await self._request(lambda s, c=cursor: s.list_tools(params=PaginatedRequestParams(cursor=c)))
                found += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
        except (Undelivered, Died) as error:
            raise NotOpened(f"{self.server} does not list its tools: {error}") from None
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND:
                return []
            raise NotOpened(f"{self.server} does not list its tools: {error}") from None
        except (ValidationError, RuntimeError):
            raise NotOpened(f"{self.server} lists its tools in a form that the protocol does not know") from None
        return found

    async def call(self, name: str, arguments: dict[str, Any], timeout: float) -> CallToolResult:
        """Call a tool, once.

        Raises:
            Undelivered, Died, Overran: there is no answer; the class says what that means.
            MCPError: the server refuses, as it does for arguments it cannot read.
            ValidationError, RuntimeError: it answers something that is no result.
        """
        progress = self._on_progress if self._handlers.progress is not None else None
        self.used = True
        try:
            async with asyncio.timeout(timeout):
                return await self._request(lambda s: s.call_tool(name, arguments, progress_callback=progress))
        except TimeoutError:
            self.suspect = True
            raise Overran from None

    async def answers(self, timeout: float) -> bool:
        """Whether the server still answers anything."""
        try:
            async with asyncio.timeout(timeout):
                await self.tools()
        except (TimeoutError, NotOpened):
            return False
        self.suspect = False
        return True

    async def _request(self, ask: Callable[[ClientSession], Any]) -> Any:
        session = self._session
        if session is None or self.failure:
            raise Undelivered(self.failure or "the session was closed")
        statuses: list[int] = []

        async def asked() -> Any:
            _statuses.set(statuses)
            return await ask(session)

        asking = asyncio.ensure_future(asked())
        broken = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({asking, broken}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():  # what is on its way in is worth a moment
                await asyncio.wait({asking}, timeout=0.5)
            if not asking.done():
                await self._ended()
                raise self._broken(statuses)
            try:
                return asking.result()
            except MCPError as error:
                if statuses[-1:] == [404]:  # the server knows this session no more, so it ran nothing
                    self._fail("the server no longer knows the session")
                    raise Undelivered(self.failure) from None
                if not self._is_closure(error):
                    raise
                await self._ended()
                self._fail(str(error))
                raise self._broken(statuses) from None
        finally:
            for task in (asking, broken):
                task.cancel()
                task.add_done_callback(lambda t: t.cancelled() or t.exception())  # seen

    def _is_closure(self, error: MCPError) -> bool:
        """Whether the SDK says that the connection is gone; servers use the same code for errors of their own."""
        if error.code != CONNECTION_CLOSED:
            return False
        return self._stop.is_set() or error.message == "Connection closed" or error.message.startswith("SSE stream ")

    async def _ended(self) -> None:
        """Wait a moment for the reason why the session ended."""
        if not self._stop.is_set():
            await asyncio.wait({asyncio.ensure_future(self._stop.wait())}, timeout=1.0)
        if self.server.url and not self._closed.is_set():
            await asyncio.wait({asyncio.ensure_future(self._closed.wait())}, timeout=1.0)

    def _broken(self, statuses: list[int]) -> Exception:
        unreached = statuses[-1:] == [0]
        return (Undelivered if unreached else Died)(self.failure or "the connection was lost")

    async def close(self, at_once: bool = False) -> None:
        """End the session, and the server if it is a child process; safe to call twice.

        Args:
            at_once: it is known to be broken: no time for a farewell.
        """
        self._hurry = self._hurry or at_once
        self._fail("the session was closed")
        if self._task is None or asyncio.current_task() is self._task:
            return
        if self._session is None:  # it waits for the handshake, not for us
            self._task.cancel()
        # A child process ends in less. An HTTP server is told that the session is over, if it listens.
        patience = 15.0 if not self.server.url else 0.2 if at_once else 2.0
        for _ in range(3):
            await asyncio.wait({self._task}, timeout=patience)
            if self._task.done():
                return
            self._task.cancel()


@loop.at_exit
async def close_all() -> None:
    """Close every connection of the process."""
    await asyncio.gather(*(connection.close() for connection in list(_live)), return_exceptions=True)


def _root(error: BaseException | None) -> BaseException | None:
    """The first cause in a group of exceptions, cancellations last."""
    while isinstance(error, BaseExceptionGroup):
        error = next((e for e in error.exceptions if not isinstance(e, asyncio.CancelledError)), error.exceptions[0])
    return error


async def _in_thread(function: Callable[..., Any] | None, *arguments: Any) -> Any:
    """A handler may block, and may call tools; a daemon thread keeps neither loop nor process waiting."""
    assert function is not None
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if not outcome.done():
            outcome.set_result(result) if error is None else outcome.set_exception(error)

    def run() -> None:
        result, failure = None, None
        try:
            result = function(*arguments)
        except Exception as error:
            failure = error
        loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="gem-mcp-handler", daemon=True).start()
    return await outcome


os.register_at_fork(after_in_child=_live.clear)  # they are the parent's
