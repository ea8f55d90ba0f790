"""Cheap checks of docker, network, gpu and postgres."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from gem import requirements
from gem.requirements import unmet


def test_every_check_answers_here_in_one_line() -> None:
    for name, problem in unmet(requirements.CHECKS).items():
        assert name in requirements.CHECKS
        assert len(problem.splitlines()) == 1


def test_unknown_requirements_are_unmet() -> None:
    assert unmet(["telepathy"]) == {"telepathy": "unknown requirement; known are docker, network, gpu, postgres"}
    assert unmet([]) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="a Unix socket")
def test_docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "d.sock"
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    assert "no Docker socket at" in unmet(["docker"])["docker"]
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        assert "Docker does not answer at" in unmet(["docker"])["docker"]  # nobody listens
        server.listen()
        assert unmet(["docker"]) == {}
    monkeypatch.setenv("DOCKER_HOST", "tcp://somewhere:2375")
    assert unmet(["docker"]) == {}


def test_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    def no_route(self: Any, address: Any) -> None:
        raise OSError("Network is unreachable")

    class Offline(socket.socket):
        connect = no_route

    monkeypatch.setattr(requirements.socket, "socket", Offline)
    assert "no route to the network" in unmet(["network"])["network"]
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    assert unmet(["network"]) == {}


def test_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.sys, "platform", "linux")
    there: set[str] = set()
    monkeypatch.setattr(requirements.os.path, "exists", lambda path: path in there)
    assert unmet(["gpu"]) == {"gpu": "no GPU device found: run where there is one"}
    there.add("/dev/nvidiactl")
    assert unmet(["gpu"]) == {}


def test_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGHOST", raising=False)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setattr(requirements.shutil, "which", lambda name: None)
    assert "no PostgreSQL found" in unmet(["postgres"])["postgres"]
    monkeypatch.setenv("PGHOST", "db")
    assert unmet(["postgres"]) == {}
