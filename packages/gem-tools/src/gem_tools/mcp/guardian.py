"""A small process that outlives this one and ends the servers left behind, however this one dies."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading

#: Reads process groups (negative: forget that one) until its parent is gone, then gives the groups a second to end by
#: themselves: a closed standard input tells a server to. It asks for its parent as well as for the end of the pipe,
#: which a fork of the parent may hold open.
_PROGRAM = """
import os, select, signal, sys, time

parent, groups, rest = int(sys.argv[1]), set(), b""

def read(wait):
    global rest
    if not select.select([0], [], [], wait)[0]:
        return True
    data = os.read(0, 65536)
    *lines, rest = (rest + data).split(b"\\n")
    for line in lines:
        group = int(line)
        groups.add(group) if group > 0 else groups.discard(-group)
    return bool(data)

def alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True

while os.getppid() == parent and read(1.0):
    pass
while select.select([0], [], [], 0)[0] and read(0):
    pass
deadline = time.monotonic() + 1.0
while time.monotonic() < deadline and any(map(alive, groups)):
    time.sleep(0.02)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
"""

_lock = threading.Lock()
_process: subprocess.Popen[bytes] | None = None
_groups: set[int] = set()


def watch(group: int) -> None:
    """End this process group when this process has died."""
    with _lock:
        _groups.add(group)
        if _process is None or not _tell(group):
            _start()


def forget(group: int) -> None:
    """The group is gone; its number may come to mean another."""
    with _lock:
        if group in _groups:
            _groups.discard(group)
            if not _tell(-group):
                _start()


def _tell(number: int) -> bool:
    if _process is None or _process.stdin is None:
        return False
    try:
        _process.stdin.write(b"%d\n" % number)
    except OSError:  # somebody ended the guardian
        return False
    return True


def _start() -> None:
    global _process
    _let_go()
    _process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the trainer
        bufsize=0,
    )
    for group in _groups:
        _tell(group)


@atexit.register
def _stop() -> None:
    with _lock:
        _let_go()


def _let_go() -> None:
    """End the guardian, and with it what it still watches."""
    global _process
    if _process is not None:
        if _process.stdin is not None:
            _process.stdin.close()
        _process.wait()
        _process = None


def _in_child() -> None:
    # The guardian is the parent's: a child that held the pipe open would only hide the parent's end from it.
    global _process, _lock
    _lock = threading.Lock()
    _groups.clear()
    if _process is not None:
        if _process.stdin is not None:
            _process.stdin.close()
        _process.returncode = 0  # not a child of this process: nothing to wait for
        _process = None


os.register_at_fork(after_in_child=_in_child)
