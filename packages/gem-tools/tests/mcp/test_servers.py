"""Servers that others wrote: the reference time server over stdio, and the SDK's own over streamable HTTP."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_support import SERVERS, Question, ask, wait_for, write

from gem.tools import ToolEnv
from gem_tools.mcp import MCPTool


def test_the_reference_time_server() -> None:
    env = ToolEnv(Question(), [MCPTool({"command": sys.executable, "args": ["-m", "mcp_server_time"]})])
    try:
        observation, _ = env.reset(seed=0)
        assert '"name": "convert_time"' in observation
        arguments = '{"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Kolkata"}'
        observation, *_, info = env.step(write("convert_time", arguments))
        assert "08:30" in observation
        assert not info["tool_calls"][0]["is_error"]
        wrong = arguments.replace("Asia/Tokyo", "Asia/Nowhere")
        observation, _, terminated, _, info = env.step(write("convert_time", wrong))
        assert "Asia/Nowhere" in observation
        assert info["tool_calls"][0]["is_error"]
        assert not terminated
    finally:
        env.close()


@pytest.fixture
def sdk_url(tmp_path: Path) -> Iterator[str]:
    port_file = tmp_path / "port"
    process = subprocess.Popen([sys.executable, str(SERVERS / "http_sdk.py"), str(port_file)], stdin=subprocess.PIPE)
    try:
        assert wait_for(port_file.exists, 60)
        yield f"http://127.0.0.1:{port_file.read_text()}/mcp"
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


def test_the_sdks_server_over_streamable_http(sdk_url: str) -> None:
    env = ToolEnv(Question(), [MCPTool(sdk_url)], max_tool_uses=None)
    try:
        env.reset(seed=0)
        assert "\n3\n" in env.step(write("add", '{"a": 1, "b": 2}'))[0]
        sessions = [env.step(write("session"))[0] for _ in range(2)]
        assert sessions[0] == sessions[1]
        # long results come as events, for which the SDK has a limit of its own
        assert "characters left out" in env.step(write("big", '{"n": 20000000}'))[0]
        env.reset(seed=0)
        assert env.step(write("session"))[0] != sessions[0]
    finally:
        env.close()


def test_the_sdks_server_dies_during_a_call(sdk_url: str) -> None:
    tool = MCPTool(sdk_url, delay_between_retries=0.01)
    try:
        result = ask(tool, "die", timeout=20)
        assert result.is_error
        assert "outcome of the call is unknown" in result.content
    finally:
        tool.close()
