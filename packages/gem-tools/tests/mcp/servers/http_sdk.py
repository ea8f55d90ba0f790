"""A streamable HTTP server made with the SDK, for tests: python http_sdk.py PORT_FILE"""

import os
import socket
import sys
import threading
from pathlib import Path

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

app = MCPServer("sdk")


@app.tool()
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@app.tool()
def session(context: Context) -> str:
    """The session."""
    return str(context.headers.get("mcp-session-id"))


@app.tool()
def big(n: int) -> str:
    """Many characters."""
    return "x" * n


@app.tool()
def die() -> str:
    """End the server."""
    os._exit(1)


listening = socket.create_server(("127.0.0.1", 0))
path = Path(sys.argv[1])
path.with_suffix(".part").write_text(str(listening.getsockname()[1]))
path.with_suffix(".part").rename(path)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()  # ends with the test
uvicorn.Server(uvicorn.Config(app.streamable_http_app(), log_level="error")).run([listening])
