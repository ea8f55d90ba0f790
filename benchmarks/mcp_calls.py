"""A call of an MCP tool over stdio: ours, the server by itself, and the published package's tool, in one run.

    python benchmarks/mcp_calls.py --published PATH/TO/PYTHON [--json FILE]

Two servers: one of the standard library alone, which starts in a moment and answers in a fraction of a millisecond, and
one written with an MCP library, as servers in the field are (with the library of the interpreter that is measured).
The server by itself is measured by writing to its standard input and reading its standard output with blocking calls.
The first calls are left out, for the published tool too, which starts the server anew for each.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from _harness import Clock, Contender, Numbers, Row, main

PLAIN = Path(__file__).resolve().parent.parent / "packages" / "gem-tools" / "tests" / "mcp" / "servers" / "plain.py"
LIBRARY = """
try:
    from mcp.server import MCPServer as Server
except ImportError:
    from fastmcp import FastMCP as Server

app = Server("numbers")


@app.tool()
def add(a: int, b: int) -> str:
    "Add two integers."
    return str(a + b)


app.run()
"""
CALL = '<tool_call><tool_name>add</tool_name><arguments>{"a": 1, "b": 2}</arguments></tool_call>'
WARM_CALLS = 200


def arguments(server: str) -> list[str]:
    if server == "plain":
        return ["-I", "-S", str(PLAIN)]
    return ["-c", LIBRARY]


def timed(call: Callable[[], str], calls: int, warm_up: int) -> Numbers:
    def once() -> float:
        began = time.perf_counter()
        answer = call()
        seconds = time.perf_counter() - began
        if "3" not in answer:
            raise RuntimeError(f"wrong answer: {answer}")
        return seconds

    for _ in range(warm_up):
        once()
    clock = Clock()
    walls = [once() for _ in range(calls)]
    return {"ms": statistics.median(walls) * 1e3, "worst ms": max(walls) * 1e3, "cpu ms": clock.cpu / calls * 1e3}


def by_itself(server: str) -> Numbers:
    process = subprocess.Popen(
        [sys.executable, *arguments(server)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def send(**message: object) -> None:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()

    def request(method: str, params: dict[str, object]) -> str:
        send(id=1, method=method, params=params)
        return json.dumps(json.loads(process.stdout.readline()).get("result"))

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    request("initialize", client)
    send(method="notifications/initialized")
    try:
        return timed(lambda: request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}), WARM_CALLS, 20)
    finally:
        process.kill()
        process.communicate()


def ours(server: str) -> Numbers:
    from gem.tools import ToolContext
    from gem_tools.mcp import MCPTool

    tool = MCPTool({"command": sys.executable, "args": arguments(server)})
    try:
        return timed(lambda: str(tool.call({"a": 1, "b": 2}, ToolContext("add", 30.0)).content), WARM_CALLS, 20)
    finally:
        tool.close()


def published(server: str) -> Numbers:
    from gem.tools.mcp_tool import MCPTool

    tool = MCPTool({"mcpServers": {"numbers": {"command": sys.executable, "args": arguments(server)}}})
    return timed(lambda: tool.execute_action(CALL)[2], 5, 1)


def report(medians: dict[str, Numbers]) -> list[Row]:
    rows = []
    for server, name in (("plain", "standard library"), ("library", "MCP library")):
        alone, mine = medians[f"server/{server}"], medians[f"ours/{server}"]
        more = mine["ms"] - alone["ms"]
        rows += [
            Row(f"{name}: the server by itself", f"{alone['ms']:.2f} ms"),
            Row(f"{name}: ours, warm", f"{mine['ms']:.2f} ms, CPU {mine['cpu ms']:.2f} ms"),
            Row(f"{name}: ours beyond the server", f"{more:.2f} ms", "under 10 ms", more < 10),
        ]
        if f"published/{server}" in medians:
            theirs = medians[f"published/{server}"]
            rows.append(Row(f"{name}: published", f"{theirs['ms']:.0f} ms, {theirs['ms'] / mine['ms']:.0f} times ours"))
    return rows


CONTENDERS = {
    f"{who}/{server}": Contender(lambda run=run, server=server: run(server), published=who == "published")
    for server in ("plain", "library")
    for who, run in (("server", by_itself), ("ours", ours), ("published", published))
}

if __name__ == "__main__":
    main("A call of an MCP tool over stdio", CONTENDERS, report, repeats=3)
