"""Cheap checks of what an environment needs at run time: ``EnvSpec.requires``."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterable


def _docker() -> str | None:
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not host.startswith("unix://"):
        return None  # a remote daemon: only using it would tell
    path = host.removeprefix("unix://")
    if not os.path.exists(path):
        return f"no Docker socket at {path}: install and start Docker, or set DOCKER_HOST"
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1.0)
        try:
            client.connect(path)
        except OSError as error:
            return f"Docker does not answer at {path} ({error.strerror or error}): start it, or ask for access to it"
    return None


def _network() -> str | None:
    # A name and an address outside this machine; a proxy counts, whatever it lets through.
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # asks for a route only: no packet is sent
        except OSError:
            return "this machine has no route to the network: connect it, or set HTTPS_PROXY"
    return None


def _gpu() -> str | None:
    if sys.platform == "darwin" or os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/kfd"):
        return None
    return "no GPU device found: run where there is one"


def _postgres() -> str | None:
    if os.environ.get("PGHOST") or os.environ.get("DATABASE_URL") or shutil.which("postgres") or shutil.which("psql"):
        return None
    return "no PostgreSQL found: install it, or set PGHOST to a server's name"


#: Requirement -> a check that returns ``None``, or what is missing and what to do.
CHECKS: dict[str, Callable[[], str | None]] = {
    "docker": _docker,
    "network": _network,
    "gpu": _gpu,
    "postgres": _postgres,
}


def unmet(requires: Iterable[str]) -> dict[str, str]:
    """Those requirements that are not met here, each with one line that says what to do. Takes milliseconds."""
    problems = {}
    for name in requires:
        check = CHECKS.get(name)
        if check is None:
            problem: str | None = f"unknown requirement; known are {', '.join(CHECKS)}"
        else:
            problem = check()
        if problem is not None:
            problems[name] = problem
    return problems
