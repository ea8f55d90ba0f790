"""The stdio transport: a server as a child process of ours, in a process group of its own.

The SDK has one too; this one tells why a server ended, takes long messages in linear time, notices a server that died
while a child of its own holds the pipes, and leaves nothing of the group behind.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from gem_tools.mcp import guardian
from gem_tools.mcp.config import Server

#: Bytes of one message; a server that sends more is taken for broken.
MAX_MESSAGE = 64 * 2**20
#: Seconds a server has to end after its standard input closed, and again after SIGTERM.
GRACE = 1.0
_ERROR_TAIL = 4096

_ending: set[asyncio.Task[None]] = set()  # the loop itself remembers its tasks weakly
_processes: weakref.WeakSet[subprocess.Popen[bytes]] = weakref.WeakSet()


@asynccontextmanager
async def stdio_transport(
    server: Server, ended: Callable[[str], None], hurry: Callable[[], bool]
) -> AsyncIterator[tuple[Any, Any]]:
    """Start the server and yield the two streams of an MCP session.

    Args:
        ended: called once, with the reason, when the server ends or closes its output.
        hurry: asked in the end: whether the server is given no time to end by itself.

    Raises:
        OSError: it cannot be started.
    """
    process = _Process(server)
    try:
        await process.connect(ended)
        yield process.received, process.to_send
    finally:
        # To its end, whatever cancels the session.
        ending = asyncio.ensure_future(process.shut_down(hurry()))
        _ending.add(ending)
        ending.add_done_callback(_ending.discard)
        await asyncio.shield(ending)


class _Process:
    def __init__(self, server: Server) -> None:
        self._popen = subprocess.Popen(
            [server.command, *server.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**get_default_environment(), **server.env},
            cwd=server.cwd,
            start_new_session=True,
            bufsize=0,
        )
        self.pid = self._popen.pid
        _processes.add(self._popen)
        guardian.watch(self.pid)
        self._receive, self.received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self.to_send, self._send = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.BaseTransport] = []
        self._writer: asyncio.StreamWriter | None = None
        self._errors = bytearray()
        self._pidfd = -1
        self._gone = asyncio.Event()
        self._trouble = ""

    async def connect(self, ended: Callable[[str], None]) -> None:
        loop = asyncio.get_running_loop()
        output, errors = asyncio.StreamReader(limit=MAX_MESSAGE), asyncio.StreamReader()
        for reader, pipe in ((output, self._popen.stdout), (errors, self._popen.stderr)):
            protocol = asyncio.StreamReaderProtocol(reader)
            self._transports.append((await loop.connect_read_pipe(lambda p=protocol: p, pipe))[0])
        transport, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, self._popen.stdin)
        self._transports.append(transport)
        self._writer = asyncio.StreamWriter(transport, flow, None, loop)
        if hasattr(os, "pidfd_open"):
            self._pidfd = os.pidfd_open(self.pid)
            loop.add_reader(self._pidfd, self._exited)
        reading = asyncio.ensure_future(self._read(output))
        self._tasks = [
            reading,
            asyncio.ensure_future(self._write(self._writer)),
            asyncio.ensure_future(self._read_errors(errors)),
            asyncio.ensure_future(self._watch(reading, ended)),
        ]

    def _exited(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        self._gone.set()

    # -- messages -------------------------------------------------------------------------------------

    async def _read(self, output: asyncio.StreamReader) -> None:
        async with self._receive:
            while True:
                try:
                    line = await output.readline()
                except ValueError:
                    self._trouble = f"it sent a message of more than {MAX_MESSAGE >> 20} MB"
                    return
                if not line:
                    return
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    continue  # servers print all sorts of things
                try:
                    await self._receive.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the session is gone

    async def _write(self, writer: asyncio.StreamWriter) -> None:
        async with self._send:
            async for item in self._send:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    writer.write(text.encode("utf-8", "replace") + b"\n")
                    await writer.drain()
                except OSError:
                    return  # the end of its output says the rest

    async def _read_errors(self, errors: asyncio.StreamReader) -> None:
        while data := await errors.read(_ERROR_TAIL):
            self._errors += data
            del self._errors[:-_ERROR_TAIL]

    # -- its end --------------------------------------------------------------------------------------

    async def _watch(self, reading: asyncio.Task[None], ended: Callable[[str], None]) -> None:
        gone = asyncio.ensure_future(self._gone.wait())
        await asyncio.wait({reading, gone}, return_when=asyncio.FIRST_COMPLETED)
        # What it wrote last is read; a child that holds the pipe open is not waited for. And the other way round:
        # a server that closed its output mostly ends in a moment, and then there is a reason to tell.
        await asyncio.wait({reading, gone}, timeout=0.3)
        for task in (reading, gone):
            task.cancel()
        await asyncio.wait({reading, gone})
        ended(self._reason())

    def _reason(self) -> str:
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        said = f": {lines[-1].strip()[:300]}" if lines else ""
        if self._trouble:
            return self._trouble
        status = self._status()
        if status is None:
            return f"it closed its output{said}"
        how = f"with exit code {status.si_status}"
        if status.si_code != os.CLD_EXITED:
            with suppress(ValueError):
                how = f"by {signal.Signals(status.si_status).name}"
        return f"its process ended {how}{said}"

    def _status(self) -> os.waitid_result | None:
        """How it ended, not yet reaped: until then its number, and that of its group, mean nothing else."""
        if self._popen.returncode is not None:
            return None
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)

    async def shut_down(self, at_once: bool) -> None:
        """Close its input, give it a moment, then end the whole group."""
        if self._writer is not None:
            self._writer.close()
        elif self._popen.stdin is not None:
            self._popen.stdin.close()
        for stream in (self.received, self.to_send):
            stream.close()
        if not at_once and not await self._ends_within(GRACE):
            self._signal(signal.SIGTERM)
            await self._ends_within(GRACE)
        self._signal(signal.SIGKILL)  # also what it left behind
        await self._ends_within(10.0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for transport in self._transports:
            transport.close()
        if self._pidfd >= 0:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()
        for stream in (self._receive, self._send):
            stream.close()
        self._popen.poll()
        guardian.forget(self.pid)

    async def _ends_within(self, seconds: float) -> bool:
        deadline = asyncio.get_running_loop().time() + seconds
        pause = 0.002
        while self._status() is None:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return False
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, 0.05)
        return True

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _in_child() -> None:
    # The servers are the parent's. Open ends here would keep them from seeing that it closed theirs. Through the file
    # objects, so that nobody closes the numbers again when they mean something else.
    for process in list(_processes):
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        process.returncode = 0
    _processes.clear()


os.register_at_fork(after_in_child=_in_child)
