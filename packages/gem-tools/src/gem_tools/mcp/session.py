"""The servers of one configuration over one episode: opened when needed, one live session each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mcp import MCPError
from mcp_types import Tool as Listed
from pydantic import ValidationError

from gem.tools import ToolResult
from gem.wrappers.content import join
from gem_tools.mcp.config import Server
from gem_tools.mcp.connection import Connection, Died, Handlers, NotOpened, Overran, Undelivered
from gem_tools.mcp.content import to_result


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds."""

    #: One call, from the moment it is sent.
    call: float
    #: Opening one server, all attempts together.
    connect: float
    #: Attempts at what may be attempted again.
    attempts: int
    #: Between two of them.
    pause: float
    #: Characters of one result.
    max_chars: int


class Session:
    """Live connections, one a server; everything here runs on the background loop."""

    def __init__(self, servers: Iterable[Server], handlers: Handlers, limits: Limits) -> None:
        self._servers = {server.name: server for server in servers}
        self._handlers = handlers
        self._limits = limits
        self._connections: dict[str, Connection] = {}
        self._locks = {name: asyncio.Lock() for name in self._servers}
        self._lost: set[str] = set()
        self._closed = False

    @property
    def used(self) -> bool:
        """Whether a tool was called: only then may a server hold something of the episode."""
        return bool(self._lost) or any(connection.used for connection in self._connections.values())

    async def list(self) -> dict[str, list[Listed]]:
        """The tools of each server, in the order of the configuration.

        Raises:
            NotOpened: one of them cannot be had.
        """
        deadline = time.monotonic() + self._limits.connect

        async def of(name: str) -> list[Listed]:
            connection = await self._connection(name, deadline)
            try:
                async with asyncio.timeout(max(deadline - time.monotonic(), 0.1)):
                    return await connection.tools()
            except TimeoutError:
                raise NotOpened(f"{connection.server} does not list its tools") from None

        found = await asyncio.gather(*map(of, self._servers), return_exceptions=True)
        for answer in found:
            if isinstance(answer, BaseException):
                raise answer
        return dict(zip(self._servers, found, strict=True))  # type: ignore[arg-type]

    async def call(
        self, name: str, tool: str, arguments: dict[str, Any], allowed: float | None, repeatable: bool
    ) -> ToolResult:
        """Call a tool once; again only where it surely did not run, or where to repeat it does no harm.

        Args:
            allowed: seconds for all of it, opening included; ``None``: as long as the limits say.
            repeatable: the tool says of itself that calling it again changes nothing.
        """
        limits, server = self._limits, self._servers[name]
        arguments = _writable(arguments)
        end = None if allowed is None else time.monotonic() + allowed
        for attempt in range(1, limits.attempts + 1):
            connect_by = time.monotonic() + limits.connect
            try:
                connection = await self._connection(name, connect_by if end is None else min(end, connect_by))
            except NotOpened as error:
                return _failure(f"the call was not carried out: {error}")
            seconds = limits.call if end is None else min(limits.call, end - time.monotonic())
            may_repeat = attempt < limits.attempts
            # Known to the model once, with the first answer of the fresh server.
            fresh = name in self._lost
            try:
                if seconds <= 0:
                    return _failure(f"the call was not carried out: {server} did not come up in time")
                answer = await connection.call(tool, arguments, seconds)
            except Undelivered as error:
                await self._drop(connection)
                if not may_repeat:
                    return _failure(f"the call was not carried out: {server}: {error}")
                continue
            except Died as error:
                await self._drop(connection)
                if may_repeat and repeatable and (end is None or time.monotonic() < end):
                    continue
                return _failure(
                    f"{server} failed during the call: {error}. The outcome of the call is unknown. The next call "
                    "gets a fresh session, without what the server held."
                )
            except Overran:
                return _failure(
                    f"{tool} did not answer within {seconds:.3g} s; its outcome is unknown, and it was not repeated"
                )
            except MCPError as error:
                result = _failure(" ".join(str(error).split()))
            except (ValidationError, RuntimeError) as error:
                result = _failure(f"{server} answered what is no result: {' '.join(str(error).split())[:300]}")
            else:
                result = to_result(answer, limits.max_chars)
            if fresh:
                self._lost.discard(name)
                note = f"[{server} was started afresh; what it held from earlier calls is lost]\n"
                result.content = join((note, result.content))
            return result
        raise AssertionError("unreachable: the last attempt returns")

    async def _connection(self, name: str, deadline: float) -> Connection:
        """The live connection of a server; a fresh one where it has none, or has one that is no use."""
        lock, server = self._locks[name], self._servers[name]
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                await lock.acquire()
        except TimeoutError:
            raise NotOpened(f"{server} did not come up in time") from None
        try:
            if self._closed:
                raise NotOpened("the session was closed")
            connection = self._connections.get(name)
            if connection is not None:
                if connection.alive and connection.suspect:
                    left = deadline - time.monotonic()
                    if not await connection.answers(min(2.0, left / 3)):
                        connection.failure = connection.failure or "the server no longer answers"
                if connection.alive:
                    return connection
                await self._drop(connection)
            return await self._open(server, deadline)
        finally:
            lock.release()

    async def _open(self, server: Server, deadline: float) -> Connection:
        for attempt in range(1, self._limits.attempts + 1):
            if self._closed:  # meanwhile
                raise NotOpened("the session was closed")
            # Known before it is open, so that close() ends it in the middle of that.
            connection = self._connections[server.name] = Connection(server, self._handlers)
            try:
                await connection.open(max(round(deadline - time.monotonic(), 2), 0.01))
                return connection
            except NotOpened as error:
                self._connections.pop(server.name, None)
                enough_time = time.monotonic() + self._limits.pause < deadline
                if error.hopeless or self._closed or attempt == self._limits.attempts or not enough_time:
                    raise
            await asyncio.sleep(self._limits.pause)
        raise AssertionError("unreachable: the last attempt raises")

    async def _drop(self, connection: Connection) -> None:
        name = connection.server.name
        if connection.used:
            self._lost.add(name)
        if self._connections.get(name) is connection:
            del self._connections[name]
        await connection.close(at_once=True)

    async def close(self) -> None:
        """End all sessions; the servers that are child processes are gone when this returns."""
        self._closed = True
        connections = list(self._connections.values())
        self._connections.clear()
        await asyncio.gather(*(connection.close() for connection in connections))


def _failure(message: str) -> ToolResult:
    return ToolResult(f"Error: {message}", is_error=True)


def _writable(value: Any) -> Any:
    """The value without halves of surrogate pairs, which JSON text can spell and UTF-8 cannot."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    elif isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    elif isinstance(value, list):
        return [_writable(item) for item in value]
    return value
