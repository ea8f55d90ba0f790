from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gem_tools.mcp import ConfigError, Server, read_config


def test_a_url_is_one_server() -> None:
    assert read_config("https://example.org/mcp") == [Server("default", url="https://example.org/mcp")]


def test_token_and_headers_of_a_url() -> None:
    (server,) = read_config("https://example.org/mcp", auth="secret", headers={"X-Who": "me"})
    assert server.headers == {"X-Who": "me", "Authorization": "Bearer secret"}


def test_servers_of_a_dict_in_order() -> None:
    servers = read_config(
        {
            "mcpServers": {
                "files": {"command": "npx", "args": ["-y", "server"], "env": {"A": "1"}, "cwd": "/tmp"},
                "web": {"url": "http://localhost:1/mcp", "transport": "streamable-http", "headers": {"X": "y"}},
            }
        }
    )
    assert servers == [
        Server("files", command="npx", args=("-y", "server"), env={"A": "1"}, cwd="/tmp"),
        Server("web", url="http://localhost:1/mcp", headers={"X": "y"}),
    ]


def test_one_server_alone() -> None:
    assert read_config({"command": "x"}) == [Server("default", command="x")]


@pytest.mark.parametrize("as_path", [str, Path])
def test_a_file(tmp_path: Path, as_path: Any) -> None:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"a": {"command": "x"}}}))
    assert [server.name for server in read_config(as_path(path))] == ["a"]


def test_the_key_servers_of_other_clients() -> None:
    assert read_config({"servers": {"a": {"type": "http", "url": "http://h/"}}})[0].name == "a"


def test_disabled_servers_are_left_out() -> None:
    config = {"mcpServers": {"a": {"command": "x"}, "b": {"command": "y", "disabled": True}}}
    assert [server.name for server in read_config(config)] == ["a"]


def test_the_configuration_is_not_changed() -> None:
    config = {"mcpServers": {"a": {"url": "http://h/", "auth": "t", "headers": {}}}}
    before = json.dumps(config)
    read_config(config)
    assert json.dumps(config) == before


def test_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_X", "s3")
    monkeypatch.delenv("NOWHERE", raising=False)
    (server,) = read_config(
        {"url": "http://h/${TOKEN_X}", "headers": {"A": "Bearer ${env:TOKEN_X}", "B": "${NOWHERE:-none}"}}
    )
    assert (server.url, server.headers) == ("http://h/s3", {"A": "Bearer s3", "B": "none"})
    with pytest.raises(ConfigError, match="NOWHERE is not set"):
        read_config({"url": "http://h/", "auth": "${NOWHERE}"})


def test_a_place_shows_no_secret() -> None:
    (server,) = read_config("https://h/mcp?key=secret")
    assert "secret" not in server.place


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'no "mcpServers"'),
        ({"mcpserver": {}}, "did you mean that by 'mcpserver'"),
        ({"mcpServers": []}, "must map names to servers, got list"),
        ({"mcpServers": {}}, "names no server"),
        ({"mcpServers": {"a": "x"}}, "'a' must be an object, got str"),
        ({"mcpServers": {"a": {}}}, '\'a\' needs a "command" or "url"'),
        ({"mcpServers": {"a": {"command": "x", "url": "http://h/"}}}, "only one of"),
        ({"mcpServers": {"a": {"commnd": "x"}}}, "no setting 'commnd'; did you mean 'command'"),
        ({"command": "x", "args": "y"}, '"args" must be a list'),
        ({"command": "x", "args": [1]}, '"args" must be a list'),
        ({"command": ["x"]}, '"command" must be a string, got list'),
        ({"command": "x", "env": {"A": 1}}, "'A' in \"env\" must be a string, got int"),
        ({"command": "x", "env": []}, "fine"),
        ({"command": "x", "transport": "http"}, "write 'stdio'"),
        ({"url": "http://h/", "transport": "stdio"}, "write 'http'"),
        ({"url": "http://h/", "type": "sse"}, "sse transport is not supported"),
        ({"url": "ftp://h/"}, "no http:// or https:// address"),
        ({"url": "http://h/", "auth": "oauth"}, "oauth needs a person"),
        ({"url": "http://h/", "auth": 7}, "auth must be a token"),
        ({"command": "x", "tools": {"a": {"nme": "b"}}}, "cannot change 'nme'"),
        ({"command": "x", "tools": ["a"]}, '"tools" must map'),
        (7, "got int"),
        ("/no/such/file.json", "No such file"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(config: Any, message: str) -> None:
    if message == "fine":
        read_config(config)
        return
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("{'a': 1}")
    with pytest.raises(ConfigError, match="not valid JSON"):
        read_config(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot read"):
        read_config(path)


def test_token_without_url() -> None:
    with pytest.raises(ConfigError, match="go with a URL"):
        read_config({"command": "x"}, auth="t")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["mcpServers", "command", "url", "args", "env", "headers", "auth", "tools", "type", "a"])
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_servers_or_a_config_error(config: Any) -> None:
    if isinstance(config, str):
        config = {"url": config}
    try:
        servers = read_config(config)
    except ConfigError:
        return
    assert all(bool(server.command) != bool(server.url) for server in servers)
