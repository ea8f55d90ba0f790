"""However the process ends, its servers end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from mcp_support import SERVERS, alive, wait_for

PROLOGUE = """
import os, signal, sys, time
from gem.tools import ToolContext
from gem_tools.mcp import MCPTool

config = {{"command": sys.executable, "args": ["-I", "-S", {script!r}, {mode!r}]}}
tool = MCPTool(config)
pid = tool.call({{}}, ToolContext("pid")).content
"""


def start(program: str, mode: str = "stubborn") -> tuple[subprocess.Popen[str], int]:
    """A process that opened a server, and the server's pid. A stubborn one minds neither closed input nor SIGTERM."""
    prologue = PROLOGUE.format(script=str(SERVERS / "plain.py"), mode=mode)
    process = subprocess.Popen(
        [sys.executable, "-c", prologue + "print(pid, flush=True)\n" + textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.strip().isdigit(), process.communicate()[1]
    return process, int(line)


def guardians_of(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes().split(b"\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if len(command) > 5 and command[1:4] == [b"-I", b"-S", b"-c"] and command[5] == str(pid).encode():
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize(
    "end",
    [
        "raise RuntimeError('oops')",
        "os._exit(1)",
        "os.kill(os.getpid(), signal.SIGKILL)",
    ],
)
def test_however_it_ends(end: str) -> None:
    process, server = start(end)
    guardians = guardians_of(process.pid)
    process.communicate(timeout=30)
    assert wait_for(lambda: not alive(server)), "the server was left running"
    assert wait_for(lambda: not any(map(alive, guardians))), "the guardian was left running"


@pytest.mark.parametrize("fork", ["os.fork()", "__import__('ctypes').CDLL(None).fork()"])
def test_killed_during_a_call_and_while_a_fork_lives_on(fork: str, tmp_path: Path) -> None:
    """A fork that Python does not know of holds every pipe: that the process is gone shows only in its pid."""
    process, server = start(
        f"""
        import threading
        path = {str(tmp_path / "x")!r}
        call = {{"path": path, "seconds": 600}}
        threading.Thread(target=tool.call, args=(call, ToolContext("append")), daemon=True).start()
        while not os.path.exists(path):
            time.sleep(0.01)
        child = {fork}
        if child == 0:
            os.close(1), os.close(2)
            time.sleep(600)
        print(child, flush=True)
        time.sleep(600)
        """
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    try:
        process.kill()
        process.communicate()
        assert wait_for(lambda: not alive(server))
    finally:
        os.kill(child, signal.SIGKILL)


def test_ctrl_c_leaves_nothing() -> None:
    process, server = start("time.sleep(600)")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert wait_for(lambda: not alive(server))


def test_a_guardian_that_was_killed_is_replaced(tmp_path: Path) -> None:
    go = tmp_path / "go"
    process, server = start(
        f"""
        other = MCPTool(config)
        while not os.path.exists({str(go)!r}):
            time.sleep(0.01)
        print(other.call({{}}, ToolContext("pid")).content, flush=True)
        time.sleep(600)
        """
    )
    (guardian,) = guardians_of(process.pid)
    os.kill(guardian, signal.SIGKILL)
    assert wait_for(lambda: not alive(guardian))
    go.touch()
    assert process.stdout is not None
    second = int(process.stdout.readline())
    process.kill()
    process.communicate()
    assert wait_for(lambda: not alive(server) and not alive(second))


def test_a_polite_server_ends_by_itself_at_exit() -> None:
    process, server = start("", mode="")
    out: Any = process.communicate(timeout=30)
    assert process.returncode == 0, out
    assert out[1] == ""  # not a word of half-closed loops or unfinished tasks
    assert wait_for(lambda: not alive(server))
