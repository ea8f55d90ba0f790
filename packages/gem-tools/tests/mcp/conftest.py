"""Servers to test with; every test must leave none of them behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp_support import SERVERS, HttpServer, servers_of, wait_for

from gem_tools.mcp import MCPTool


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    before = servers_of(os.getpid())
    yield
    assert wait_for(lambda: servers_of(os.getpid()) <= before), "servers were left running"


@pytest.fixture
def plain() -> Callable[..., dict[str, object]]:
    """The configuration of a stdio server that does what it is told."""

    def config(mode: str = "", **more: object) -> dict[str, object]:
        args = ["-I", "-S", str(SERVERS / "plain.py"), *([mode] if mode else [])]
        return {"command": sys.executable, "args": args, **more}

    return config


@pytest.fixture
def make() -> Iterator[Callable[..., MCPTool]]:
    """Tools that are closed at the end."""
    made: list[MCPTool] = []

    def tool(*args: object, **options: object) -> MCPTool:
        made.append(MCPTool(*args, **options))  # type: ignore[arg-type]
        return made[-1]

    yield tool
    for one in made:
        one.close()


@pytest.fixture
def http(tmp_path: Path) -> Iterator[Callable[..., HttpServer]]:
    """Streamable HTTP servers."""
    made: list[HttpServer] = []

    def start(token: str = "", port: int = 0) -> HttpServer:
        made.append(HttpServer(tmp_path / f"port{len(made)}", token, port))
        return made[-1]

    yield start
    for server in made:
        server.stop()
