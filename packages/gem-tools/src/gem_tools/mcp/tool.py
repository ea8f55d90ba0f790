"""The tool that stands for one or several MCP servers."""

from __future__ import annotations

import concurrent.futures
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from gem.errors import GemError, MissingDependency, StateNotSupported
from gem.tools import Tool, ToolContext, ToolResult
from gem_tools.mcp import loop
from gem_tools.mcp.config import ConfigError, Server, read_config

if TYPE_CHECKING:
    from gem_tools.mcp.session import Session

#: Beyond a limit that the session keeps itself: only a loop that is stuck reaches it.
_PATIENCE = 15.0
_tools: weakref.WeakSet[MCPTool] = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class _Route:
    """Where a function of ours is."""

    server: str
    tool: str
    repeatable: bool


class MCPTool(Tool):
    """The tools of one or several MCP servers, over stdio or streamable HTTP.

    Each episode has a session of its own with each server, opened when it is first needed: a server given by
    ``command`` is one process over an episode and a fresh one in the next. With several servers the tools are called
    ``<server>_<tool>``.

    Any number of threads may call; calls of one tool share its session and may run at the same time. What goes wrong
    is what the model reads. A call that was sent is never sent again, unless the server says of the tool that it only
    reads or is idempotent.

    Args:
        config: ``{"mcpServers": {name: {...}}}``, one such entry alone, a path to a JSON file, or the URL of a server
            (see :func:`read_config`). By default the environment variable ``GEM_MCP``, a path or a URL.
        auth: with a URL: a bearer token, or an ``httpx2.Auth``.
        headers: with a URL: headers of every request.
        log_handler: called with what the servers log.
        progress_handler: called with progress, total and message while a tool runs.
        sampling_handler: called with messages, parameters and context when a server asks for a model's text, which it
            returns.
        max_retries: attempts at opening a session, and at calls that may be repeated.
        delay_between_retries: seconds between two attempts at opening.
        execution_timeout: seconds one call may take; then its outcome is unknown.
        validate_on_init: connect and list the tools at once, not when they are first asked for.
        connect_timeout: seconds to open one server, the attempts together.
        max_result_chars: a longer result keeps head and tail around a marker.

    Raises:
        ConfigError: the configuration cannot be used.
        gem.MissingDependency: the MCP library is not installed.
    """

    name = "mcp"
    tool_type = "mcp"
    description = "Tools of MCP servers."

    def __init__(
        self,
        config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        auth: Any = None,
        headers: Mapping[str, str] | None = None,
        log_handler: Callable[[Any], Any] | None = None,
        progress_handler: Callable[[float, float | None, str | None], Any] | None = None,
        sampling_handler: Callable[[list[Any], Any, Any], str] | None = None,
        max_retries: int = 3,
        delay_between_retries: float = 1.0,
        execution_timeout: float = 30.0,
        validate_on_init: bool = False,
        *,
        connect_timeout: float = 30.0,
        max_result_chars: int = 65_536,
    ) -> None:
        for option, value in (
            ("max_retries", max_retries),
            ("execution_timeout", execution_timeout),
            ("connect_timeout", connect_timeout),
            ("max_result_chars", max_result_chars),
        ):
            if not value > 0:
                raise ValueError(f"{option} must be above 0, got {value!r}")
        self.servers = _servers(config, auth, headers)
        self.execution_timeout = execution_timeout
        self.max_retries = max_retries
        self.delay_between_retries = delay_between_retries
        self.connect_timeout = connect_timeout
        self.max_result_chars = max_result_chars
        self._handlers = (log_handler, progress_handler, sampling_handler)
        self._functions: list[dict[str, Any]] | None = None
        self._routes: dict[str, _Route] = {}
        self._in_child()
        _tools.add(self)
        _require()
        if validate_on_init:
            self.functions()

    def _in_child(self) -> None:
        """Sessions belong to one process: after a fork the child opens its own."""
        self._lock = threading.RLock()  # held while tools are listed
        self._swap = threading.Lock()  # held for a moment
        self._session: Session | None = None
        self._closing: concurrent.futures.Future[None] | None = None

    @classmethod
    def from_url(cls, url: str, auth: Any = None, headers: Mapping[str, str] | None = None, **options: Any) -> Self:
        """One server at an address."""
        return cls(url, auth, headers, **options)

    @classmethod
    def from_config_file(cls, config_path: str | os.PathLike[str], **options: Any) -> Self:
        """The servers of a JSON file."""
        return cls(os.fspath(config_path), **options)

    @classmethod
    def from_local_command(cls, server_params: Mapping[str, Any], name: str = "default", **options: Any) -> Self:
        """One server that is a child process: ``{"command": ..., "args": [...], "env": {...}}``."""
        return cls({"mcpServers": {name: server_params}}, **options)

    @classmethod
    def from_multi_server(cls, servers: Mapping[str, str], **options: Any) -> Self:
        """Several servers: name -> URL."""
        return cls({"mcpServers": {name: {"url": url} for name, url in servers.items()}}, **options)

    # -- what can be called ---------------------------------------------------------------------------

    def functions(self) -> list[dict[str, Any]]:
        """The tools of all servers, asked for once.

        Raises:
            gem.GemError: a server cannot be reached, two tools would have one name, or there is none.
        """
        with self._lock:
            if self._functions is None:
                self._functions, self._routes = self._list()
            return self._functions

    #: By its published name.
    get_available_tools = functions

    def _list(self) -> tuple[list[dict[str, Any]], dict[str, _Route]]:
        from gem_tools.mcp.connection import NotOpened

        try:
            listed = loop.run(self._live().list(), self.connect_timeout + _PATIENCE)
        except (NotOpened, TimeoutError) as error:
            self._leave()
            raise GemError(str(error) or "the MCP servers do not list their tools in time") from None
        servers = {server.name: server for server in self.servers}
        functions: list[dict[str, Any]] = []
        routes: dict[str, _Route] = {}
        for server, tools in listed.items():
            changes = servers[server].tools
            if unknown := changes.keys() - {tool.name for tool in tools}:
                names = ", ".join(tool.name for tool in tools) or "none"
                raise ConfigError(f"{servers[server]} has no tool {sorted(unknown)[0]!r}; there are {names}")
            for tool in tools:
                change = changes.get(tool.name, {})
                if change.get("enabled", True) is False:
                    continue
                name = change.get("name") or (f"{server}_{tool.name}" if len(servers) > 1 else tool.name)
                if name in routes:
                    raise GemError(f'two MCP tools are called {name!r}; rename one under "tools" in the configuration')
                hints = tool.annotations
                repeatable = hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)
                routes[name] = _Route(server, tool.name, repeatable)
                description = change.get("description", tool.description) or ""
                functions.append({"name": name, "description": description, "parameters": tool.input_schema})
        if not functions:
            raise GemError(f"no tools: {', '.join(map(str, self.servers))} offer none")
        return functions, routes

    # -- calls ----------------------------------------------------------------------------------------

    def call(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        functions = self.functions()
        name = context.name or (functions[0]["name"] if len(functions) == 1 else "")
        route = self._routes.get(name)
        if route is None:
            return ToolResult(f"Error: there is no tool {name!r}; there are {', '.join(self._routes)}", is_error=True)
        patience = None if context.timeout is None else context.timeout + _PATIENCE
        call = self._live().call(route.server, route.tool, arguments, context.timeout, route.repeatable)
        try:
            return loop.run(call, patience)
        except concurrent.futures.CancelledError:
            return ToolResult(f"Error: {name} was given up; its outcome is unknown", is_error=True)

    # -- its life -------------------------------------------------------------------------------------

    def begin_episode(self) -> None:
        self._renew()

    def end_episode(self) -> None:
        # What was only listed holds nothing, and serves the next episode as well as a new one.
        self._renew()

    def close(self) -> None:
        self._leave()
        with self._swap:
            closing = self._closing
        if closing is not None:
            closing.result()

    def get_state(self) -> None:
        if self._session is not None and self._session.used:
            raise StateNotSupported("what MCP servers hold cannot be saved; take snapshots before the first call")

    def set_state(self, state: Any) -> None:
        self._renew()

    def spawn(self) -> Tool:
        sibling = super().spawn()
        if isinstance(sibling, MCPTool):  # the same servers: they need not be asked again
            sibling._functions, sibling._routes = self._functions, self._routes
        return sibling

    def __reduce__(self) -> Any:
        args, kwargs = self._init_arguments
        return _rebuild, (type(self), args, kwargs)

    def _live(self) -> Session:
        """The session of this episode; its servers are opened when they are called."""
        from gem_tools.mcp.connection import Handlers
        from gem_tools.mcp.session import Limits, Session

        with self._swap:
            closing = self._closing
        if closing is not None:  # the last episode's servers first: they may hold what the next ones need
            with suppress(Exception):
                closing.result(_PATIENCE)
        with self._swap:
            if self._session is None:
                limits = Limits(
                    call=self.execution_timeout,
                    connect=self.connect_timeout,
                    attempts=self.max_retries,
                    pause=self.delay_between_retries,
                    max_chars=self.max_result_chars,
                )
                self._session = Session(self.servers, Handlers(*self._handlers), limits)
                self._end = weakref.finalize(self, _abandon, self._session, os.getpid())
                self._end.atexit = False  # the loop sees to its connections itself
            return self._session

    def _renew(self) -> None:
        if self._session is not None and self._session.used:
            self._leave()

    def _leave(self) -> None:
        """Close the session, in the background."""
        with self._swap:
            session, self._session = self._session, None
            if session is not None:
                self._end.detach()
                self._closing = loop.submit(session.close())

    def __repr__(self) -> str:
        return f"<MCPTool {', '.join(server.name for server in self.servers)}>"


def _servers(config: Any, auth: Any, headers: Any) -> list[Server]:
    if config is None:
        config = os.environ.get("GEM_MCP")
        if not config:
            raise ConfigError("no MCP servers: give a configuration, a path or a URL, or set GEM_MCP to one")
    return read_config(config, auth=auth, headers=headers)


def _require() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise MissingDependency("MCP tools need the library mcp 2.3 or newer: pip install 'gem-tools[mcp]'")


def _abandon(session: Session, pid: int) -> None:
    """A tool that nobody closed was collected."""
    if pid == os.getpid():
        loop.submit(session.close())


def _rebuild(cls: type[MCPTool], args: tuple[Any, ...], kwargs: dict[str, Any]) -> MCPTool:
    return cls(*args, **kwargs)


def _all_in_child() -> None:
    for tool in list(_tools):
        tool._in_child()


os.register_at_fork(after_in_child=_all_in_child)
