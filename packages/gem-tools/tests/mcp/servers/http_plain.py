"""A streamable HTTP MCP server of the standard library alone, for tests.

python http_plain.py PORT_FILE [TOKEN] [PORT]
"""

import json
import os
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOKEN = sys.argv[2] if len(sys.argv) > 2 else ""
SESSIONS = {}
NO_ARGUMENTS = {"type": "object", "properties": {}}
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps({"jsonrpc": "2.0", **body}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        SESSIONS.pop(self.headers.get("Mcp-Session-Id"), None)
        self.reply(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if TOKEN and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.reply(401)
        if "id" not in message:
            return self.reply(202)
        identity, method, params = message["id"], message["method"], message.get("params") or {}
        if method == "initialize":
            session = uuid.uuid4().hex
            SESSIONS[session] = 0
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "http", "version": "1"},
            }
            return self.reply(200, {"id": identity, "result": result}, Mcp_Session_Id=session)
        session = self.headers.get("Mcp-Session-Id")
        if session not in SESSIONS:
            return self.reply(404, {"id": identity, "error": {"code": -32001, "message": "Session not found"}})
        if method == "tools/list":
            tools = [
                {"name": "add", "description": "Add.", "inputSchema": NUMBERS},
                {"name": "count", "description": "Calls of this session.", "inputSchema": NO_ARGUMENTS},
                {"name": "die", "description": "End.", "inputSchema": NO_ARGUMENTS},
                {"name": "wait", "description": "Think for long.", "inputSchema": NO_ARGUMENTS},
                {"name": "append", "description": "Append an x to a file, then think.", "inputSchema": PATH},
                {"name": "header", "description": "A header.", "inputSchema": NO_ARGUMENTS},
            ]
            return self.reply(200, {"id": identity, "result": {"tools": tools}})
        name, given = params["name"], params.get("arguments") or {}
        if name == "die":
            os._exit(1)
        if name == "append":
            with open(given["path"], "a") as file:
                file.write("x")
        if name in ("wait", "append"):
            time.sleep(60)
        if name == "count":
            SESSIONS[session] += 1
        value = {
            "add": lambda: str(given["a"] + given["b"]),
            "count": lambda: str(SESSIONS[session]),
            "header": lambda: self.headers.get("X-Who", "nobody"),
            "wait": lambda: "",
            "append": lambda: "",
        }[name]()
        return self.reply(200, {"id": identity, "result": {"content": [{"type": "text", "text": value}]}})


def listen(port, seconds=10.0):
    """A server started anew: a client that tries its port may hold it for a moment."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


server = listen(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
server.daemon_threads = True
path = Path(sys.argv[1])
path.with_suffix(".part").write_text(str(server.server_port))
path.with_suffix(".part").rename(path)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()  # ends with the test
server.serve_forever()
