from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_support import HttpServer

from gem.cli import main
from gem_tools.mcp.command import _signature

Capture = pytest.CaptureFixture[str]


def test_list_shows_what_an_agent_sees(plain: Callable[..., Any], tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"a": plain()}}))
    assert main(["mcp", "list", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "add(a: integer, b: integer)\n    Add two integers.\n" in shown
    assert shown.endswith("21 tools of 1 server\n")


def test_list_as_json(http: Callable[..., HttpServer], capsys: Capture) -> None:
    assert main(["mcp", "list", http(token="t").url, "--auth", "t", "--json"]) == 0
    tools = json.loads(capsys.readouterr().out)
    assert [tool["function"]["name"] for tool in tools] == ["add", "count", "die", "wait", "append", "header"]
    assert tools[0]["type"] == "function"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('{"mcpServers": {"a": {"comand": "x"}}}', "did you mean 'command'"),
        ("{", "not valid JSON"),
        ('{"command": "no-such-program"}', "No such file or directory: 'no-such-program'"),
        ('{"command": "cat", "cwd": "/no/such/folder"}', "No such file or directory: '/no/such/folder'"),
    ],
)
def test_what_is_wrong_is_one_line(config: str, message: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "servers.json"
    path.write_text(config)
    assert main(["mcp", "list", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_signatures() -> None:
    schema = {
        "properties": {
            "a": {"type": "integer"},
            "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "c": {"enum": ["x", "y"], "default": "x"},
            "d": {},
            "e": True,
        },
        "required": ["a"],
    }
    assert _signature(schema) == 'a: integer, b?: string | null, c: "x" | "y" = "x", d?: any, e?: any'
    assert _signature({}) == ""
