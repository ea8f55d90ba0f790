"""Which servers there are: the ``mcpServers`` configuration that MCP clients share, from a dict, a file or a URL."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gem.errors import GemError

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
#: What a server may state; other keys are for other clients and left alone, unless they look like one of these.
_KNOWN = ("command", "args", "env", "cwd", "url", "headers", "auth", "transport", "type", "tools", "disabled")
#: Keys of other clients that are near to one of ours.
_FOREIGN = {"timeout", "name", "tags", "description", "icon", "alwaysAllow", "autoApprove", "disabledTools"}
_HTTP = {"http", "streamable-http", "streamable_http", "streamableHttp"}
_TOOL_KEYS = ("name", "description", "enabled")


class ConfigError(GemError, ValueError):
    """A configuration of MCP servers that cannot be used; the message names the server and what is wrong."""


@dataclass(frozen=True, slots=True)
class Server:
    """How to reach one server: either ``command`` (stdio) or ``url`` (streamable HTTP) is set."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    #: Beside the few harmless variables every server is given; the rest of the environment is not passed on.
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    #: An ``httpx2.Auth``, for what a header cannot do.
    auth: Any = None
    #: The server's own name of a tool -> ``name``, ``description``, ``enabled``.
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"MCP server {self.name!r}"

    @property
    def place(self) -> str:
        """Its command line or address, for people; arguments may hold secrets and are left out."""
        return self.url.partition("?")[0] if self.url else self.command


def read_config(
    config: str | os.PathLike[str] | Mapping[str, Any], *, auth: Any = None, headers: Mapping[str, str] | None = None
) -> list[Server]:
    """The servers of a configuration.

    Args:
        config: ``{"mcpServers": {name: {...}}}``, one such entry alone, a path to a JSON file that holds either, or
            the URL of one server. ``${NAME}`` and ``${NAME:-default}`` in its strings are environment variables.
        auth: with a URL: a bearer token, or an ``httpx2.Auth``.
        headers: with a URL: headers of every request.

    Raises:
        ConfigError: it cannot be read or understood.
    """
    if isinstance(config, str) and re.match(r"https?://", config):
        return [_server("default", {"url": config, "headers": dict(headers or {}), "auth": auth})]
    if auth is not None or headers is not None:
        raise ConfigError("auth and headers go with a URL; in a configuration each server has its own")
    if isinstance(config, str | os.PathLike):
        config = _read_file(config)
    if not isinstance(config, Mapping):
        raise ConfigError(f"a configuration is a dict, a path or a URL, got {type(config).__name__}")
    entries = config.get("mcpServers", config.get("servers"))
    if entries is None:
        if not {"command", "url"} & config.keys():
            near = difflib.get_close_matches("mcpServers", [str(key) for key in config], n=1, cutoff=0.7)
            hint = f"did you mean that by {near[0]!r}?" if near else 'write {"mcpServers": {NAME: {...}}}'
            raise ConfigError(f'the configuration has no "mcpServers"; {hint}')
        entries = {"default": config}
    if not isinstance(entries, Mapping):
        raise ConfigError(f'"mcpServers" must map names to servers, got {type(entries).__name__}')
    servers = [_server(str(name), entry) for name, entry in entries.items() if not _is_disabled(entry)]
    if not servers:
        raise ConfigError("the configuration names no server")
    return servers


def _read_file(path: str | os.PathLike[str]) -> Any:
    path = Path(path).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(f"cannot read the MCP configuration {str(path)!r}: {reason}") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the MCP configuration {str(path)!r} is not valid JSON: {error}") from None


def _is_disabled(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("disabled") is True


def _server(name: str, entry: Any) -> Server:
    who = f"MCP server {name!r}"
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{who} must be an object, got {type(entry).__name__}")
    for key in entry:
        near = difflib.get_close_matches(str(key), _KNOWN, n=1, cutoff=0.8)
        if key not in _KNOWN and key not in _FOREIGN and near:
            raise ConfigError(f"{who} has no setting {key!r}; did you mean {near[0]!r}?")
    has_command, has_url = bool(entry.get("command")), bool(entry.get("url"))
    if has_command == has_url:
        raise ConfigError(f'{who} needs {"only one of" if has_command else "a"} "command" or "url"')
    transport = entry.get("transport", entry.get("type"))
    if transport == "sse":
        raise ConfigError(f"{who}: the sse transport is not supported; use the server's streamable HTTP address")
    if transport is not None and transport not in ({"stdio"} if has_command else _HTTP):
        fitting = "stdio" if has_command else "http"
        raise ConfigError(f"{who}: transport {transport!r} does not fit; leave it out, or write {fitting!r}")
    headers = _strings(who, entry, "headers")
    auth = entry.get("auth")
    if isinstance(auth, str):
        if auth == "oauth":
            raise ConfigError(f'{who}: oauth needs a person at a browser; give a token as "auth" or in "headers"')
        headers["Authorization"] = f"Bearer {_expand(who, auth)}"
        auth = None
    elif auth is not None and not callable(getattr(auth, "auth_flow", None)):
        raise ConfigError(f"{who}: auth must be a token or an httpx2.Auth, got {type(auth).__name__}")
    args = entry.get("args") or []
    if not isinstance(args, list | tuple) or not all(isinstance(arg, str) for arg in args):
        raise ConfigError(f'{who}: "args" must be a list of strings')
    for key in ("command", "url", "cwd"):
        if not isinstance(entry.get(key) or "", str):
            raise ConfigError(f'{who}: "{key}" must be a string, got {type(entry[key]).__name__}')
    url = _expand(who, entry.get("url") or "")
    if has_url and not re.match(r"https?://[^/]", url):
        raise ConfigError(f"{who}: {url!r} is no http:// or https:// address")
    return Server(
        name=name,
        command=_expand(who, entry.get("command") or ""),
        args=tuple(_expand(who, arg) for arg in args),
        env=_strings(who, entry, "env"),
        cwd=_expand(who, entry["cwd"]) if entry.get("cwd") else None,
        url=url,
        headers=headers,
        auth=auth,
        tools=_tools(who, entry.get("tools") or {}),
    )


def _strings(who: str, entry: Mapping[str, Any], key: str) -> dict[str, str]:
    values = entry.get(key) or {}
    if not isinstance(values, Mapping):
        raise ConfigError(f'{who}: "{key}" must map names to strings, got {type(values).__name__}')
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise ConfigError(f'{who}: {name!r} in "{key}" must be a string, got {type(value).__name__}')
    return {name: _expand(who, value) for name, value in values.items()}


def _expand(who: str, text: str) -> str:
    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1], match[2])
        if found is None:
            raise ConfigError(f"{who}: the environment variable {match[1]} is not set")
        return found

    return _VARIABLE.sub(value, text)


def _tools(who: str, tools: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(tools, Mapping) or not all(isinstance(changes, Mapping) for changes in tools.values()):
        raise ConfigError(f'{who}: "tools" must map names of tools to changes such as {{"name": ...}}')
    for tool, changes in tools.items():
        for key in changes:
            if key not in _TOOL_KEYS:
                raise ConfigError(f"{who}: tool {tool!r} cannot change {key!r}; there are {', '.join(_TOOL_KEYS)}")
    return {str(tool): dict(changes) for tool, changes in tools.items()}
