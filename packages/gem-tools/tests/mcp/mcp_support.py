"""What the tests of MCP share beside fixtures."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import gem
from gem.tools import ToolContext, ToolResult
from gem_tools.mcp import MCPTool

SERVERS = Path(__file__).parent / "servers"


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def servers_of(pid: int) -> set[int]:
    """The processes of test servers that a process started."""
    children: set[int] = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            children.update(map(int, (thread / "children").read_text().split()))
    return {child for child in children if alive(child) and str(SERVERS).encode() in _command(child)}


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> bool:
    """Whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class HttpServer:
    """One such server in a process of its own."""

    def __init__(self, port_file: Path, token: str = "", port: int = 0) -> None:
        script = str(SERVERS / "http_plain.py")
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", script, str(port_file), token, str(port)], stdin=subprocess.PIPE
        )
        assert wait_for(port_file.exists)
        self.port = int(port_file.read_text())
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()


def ask(tool: MCPTool, name: str, timeout: float | None = None, **arguments: object) -> ToolResult:
    """One call, as a tool environment makes it."""
    return tool.call(arguments, ToolContext(name, timeout))


class Question(gem.Env):
    """Ends with the first answer."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return "Go.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return f"end: {action}", 1.0, True, False, {"success": True}


def write(name: str, arguments: str = "{}") -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'
