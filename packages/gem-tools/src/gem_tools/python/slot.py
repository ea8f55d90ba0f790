"""One warm interpreter and the wire to it. What comes over that wire is data from an untrusted place."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from gem.errors import MissingDependency
from gem_tools.python import bubblewrap, zygote
from gem_tools.python.interpreter import Interpreter
from gem_tools.python.names import USUAL_MODULES
from gem_tools.python.seccomp import build_filter

#: Seconds beyond a program's own limit after which its interpreter counts as lost (a loaded machine is slow).
PATIENCE = 30.0
#: Seconds a warm interpreter may take to start, preloaded packages included.
START = 120.0
#: Largest value a called function may return, bytes of JSON; also the largest compiled program kept.
LARGEST_VALUE = 16 << 20

_numbers = count()
_slots: weakref.WeakSet[Slot] = weakref.WeakSet()
_fork_lock = threading.Lock()


class SlotLost(Exception):
    """The warm interpreter is gone, or no longer makes sense."""


@dataclass(frozen=True)
class SlotConfig:
    """What a slot allows its programs."""

    isolated: bool
    interpreter: Interpreter
    memory: int  # bytes, all processes of a run together
    disk: int  # bytes
    file_size: int  # bytes
    processes: int
    open_files: int
    output: int  # bytes kept of each stream
    readable: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


class Reply(NamedTuple):
    """A zygote's reply, as it came."""

    why: bytes
    status: int
    wall: float
    cpu: float
    peak: int
    stdout: tuple[bytes, bytes, int]  # head, tail, total
    stderr: tuple[bytes, bytes, int]
    value: bytes
    code: bytes
    alive: bool


class Slot:
    """A warm interpreter in its isolation, running one program at a time.

    Raises:
        gem.MissingDependency: it cannot be started here; the message says what to do.
    """

    def __init__(self, config: SlotConfig) -> None:
        self.config = config
        self.preloaded: set[str] = set()
        self.usable = True
        folder = None if config.isolated else tempfile.mkdtemp(prefix="gem-python-")
        with _fork_lock:  # a fork of this process in between would keep an end of the wire open for good
            ours, theirs = socket.socketpair()
            self.control = ours
            _slots.add(self)
            try:
                process, inner, errors = self._start(theirs, folder)
            except BaseException:
                ours.close()
                theirs.close()
                if folder is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                raise
        self._finalizer = weakref.finalize(self, _end, os.getpid(), ours, process, inner, folder)
        try:
            self._greet(inner, folder)
        except SlotLost:
            message = errors()
            self.close()
            if config.isolated:
                raise MissingDependency(bubblewrap.explain(message)) from None
            cause = (message.strip().splitlines() or ["it ended without a word"])[-1]
            raise MissingDependency(f"the interpreter {config.interpreter.executable} did not start: {cause}") from None
        except BaseException:
            errors()
            self.close()
            raise
        errors()

    # -- starting -------------------------------------------------------------------------------------

    def _start(self, theirs: socket.socket, folder: str | None) -> tuple[subprocess.Popen[bytes], list[int], Any]:
        """Start the process. Returns it, a box with the descriptor of what runs inside (until it has said hello: of
        the pipe on which bubblewrap tells who that is), and what reads its complaints, once, and closes them.
        """
        config, number = self.config, next(_numbers)
        opened: list[int] = []

        def text(content: bytes) -> int:
            fd = os.memfd_create("gem")
            opened.append(fd)
            os.write(fd, content)
            os.lseek(fd, 0, os.SEEK_SET)
            return fd

        error_read, error_write = os.pipe()
        info_read, info_write = os.pipe()
        opened += [error_write, info_write]
        self._uid: int | None = None
        options: dict[str, Any] = {}
        try:
            if config.isolated:
                source = Path(zygote.__file__).read_bytes()
                passwd = b"root:x:0:0::/:/bin/false\nprogram:x:1000:1000::/tmp:/bin/sh\n"
                fds = {
                    "control": theirs.fileno(),
                    "info": info_write,
                    "source": text(source),
                    "passwd": text(passwd),
                }
                enclosure = bubblewrap.enclose(config.interpreter, config.readable, fds, number)
                command, self._uid, options = enclosure.command, enclosure.inner_uid, dict(enclosure.popen)
                pass_fds = tuple(fds.values())
            else:
                command = [config.interpreter.executable, "-B", zygote.__file__, str(theirs.fileno())]
                pass_fds = (theirs.fileno(),)
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=error_write,
                env=self._environment(folder),
                cwd="/",
                pass_fds=pass_fds,
                start_new_session=True,  # Ctrl-C in the trainer's terminal is the trainer's
                **options,
            )
        except BaseException:
            os.close(error_read)
            os.close(info_read)
            raise
        finally:
            for fd in opened:
                os.close(fd)
        theirs.close()

        def errors() -> str:
            with open(error_read, "rb") as file:
                os.set_blocking(error_read, False)
                return (file.read(8192) or b"").decode("utf-8", "replace")

        return process, [info_read], errors

    def _environment(self, folder: str | None) -> dict[str, str]:
        """Nothing of the caller's: what a program needs, and what was asked for by name."""
        python = self.config.interpreter
        home = folder or "/tmp"
        environment = {
            "PATH": f"{os.path.dirname(python.executable)}:/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": home,
            "USER": "program",
            "LOGNAME": "program",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",  # sets iterate in the same order in every run
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUTF8": "1",
            "MALLOC_ARENA_MAX": "2",
            "LD_BIND_NOW": "1",  # resolve symbols once, not in every fork
            **{f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMEXPR")},
        }
        if python.user_base is not None:
            environment["PYTHONUSERBASE"] = python.user_base
        return {**environment, **dict(self.config.environment)}

    def _greet(self, inner: list[int], folder: str | None) -> None:
        config = self.config
        limits = {
            "RLIMIT_AS": config.memory + (512 << 20),
            "RLIMIT_FSIZE": config.file_size,
            "RLIMIT_NOFILE": config.open_files,
            "RLIMIT_CORE": 0,
            "RLIMIT_MEMLOCK": 65536,
        }
        if config.isolated:
            limits["RLIMIT_NPROC"] = config.processes + 1  # and the zygote
        home = folder or "/tmp"
        hello = {
            "isolated": config.isolated,
            "uid": self._uid,
            "filter": build_filter() if config.isolated else b"",
            "limits": limits,
            "memory": config.memory,
            "disk": config.disk,
            "inodes": max(1024, min(32768, config.disk // 4096)),
            "output": config.output,
            "value": LARGEST_VALUE,
            "folder": f"{home}/program",
            "scratch": home,
            "wipe": ["/tmp", "/dev/shm"] if config.isolated else [folder],
            "preload": list(USUAL_MODULES),
        }
        data = marshal.dumps(hello, 2)
        self.control.settimeout(START)
        self._send(len(data).to_bytes(8, "little") + data)
        self._receive_reply()
        if config.isolated:
            inner[0] = _open_child(inner[0])

    # -- asking ---------------------------------------------------------------------------------------

    def ask(self, what: bytes, body: bytes, timeout: float | None = None) -> Reply:
        """Send one request and wait for its reply.

        Raises:
            SlotLost: there is no reply to be had; the slot is closed.
        """
        try:
            self.control.settimeout(None if timeout is None else timeout + PATIENCE)
            self._send(zygote.REQUEST.pack(what, timeout or 0.0, len(body)) + body)
            reply = self._receive_reply()
        except BaseException:
            # Interrupted in the middle (Ctrl-C), or lost: either way the wire is out of step.
            self.close()
            raise
        if not reply.alive:
            self.close()
        return reply

    def preload(self, names: list[str]) -> None:
        """Import packages once for all programs to come."""
        self.ask(zygote.PRELOAD, " ".join(names).encode(), START)
        self.preloaded.update(names)

    def connected(self) -> bool:
        """Whether the interpreter is still there."""
        if not self.usable:
            return False
        poll = select.poll()
        poll.register(self.control, 0)
        return not poll.poll(0)

    def _send(self, data: bytes) -> None:
        try:
            self.control.sendall(data)
        except OSError as error:
            raise SlotLost(str(error)) from error

    def _receive(self, view: memoryview) -> None:
        """Fill ``view``."""
        while view:
            view = view[self._received(self.control.recv_into, view) :]

    def _received(self, receive: Callable[[Any], Any], argument: Any) -> Any:
        """What one receiving call returns."""
        try:
            received = receive(argument)
        except OSError as error:
            raise SlotLost(str(error)) from error
        if not received:
            raise SlotLost("the interpreter ended")
        return received

    def _receive_reply(self) -> Reply:
        # Most replies arrive whole, and one look is enough for those.
        head = zygote.REPLY.size
        data: bytes | bytearray = self._received(self.control.recv, 4096)
        while len(data) < head:
            data += self._received(self.control.recv, 4096)
        (why, status, wall, cpu, peak, *lengths, value, code, alive) = zygote.REPLY.unpack_from(data)
        out_total, out_head, out_tail, err_total, err_head, err_tail = lengths
        length = head + out_head + out_tail + err_head + err_tail + value + code
        too_much = max(out_head, out_tail, err_head, err_tail) > self.config.output or max(value, code) > LARGEST_VALUE
        if too_much or len(data) > length:
            raise SlotLost("the interpreter's reply makes no sense")
        if len(data) < length:
            arrived, data = data, bytearray(length)
            data[: len(arrived)] = arrived
            self._receive(memoryview(data)[len(arrived) :])
        position = head
        cuts = []
        for size in (out_head, out_tail, err_head, err_tail, value, code):
            cuts.append(bytes(data[position : position + size]))
            position += size
        stdout, stderr = (cuts[0], cuts[1], out_total), (cuts[2], cuts[3], err_total)
        return Reply(why, status, wall, cpu, peak, stdout, stderr, cuts[4], cuts[5], alive)

    # -- ending ---------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the interpreter and everything in it. Safe to call twice."""
        self.usable = False
        self._finalizer()


def _open_child(info: int) -> int:
    """A descriptor of the process inside, from what bubblewrap tells about it."""
    import json

    with open(info, "rb") as file:
        facts = json.loads(file.read())
    return os.pidfd_open(facts["child-pid"])


def _end(
    owner: int, control: socket.socket, process: subprocess.Popen[bytes], inner: list[int], folder: str | None
) -> None:
    """Close a slot; in a forked copy of its owner only let go of it."""
    if os.getpid() == owner:
        with contextlib.suppress(OSError):
            control.shutdown(socket.SHUT_RDWR)  # closing alone is not seen while a thread waits on it
    control.close()
    if os.getpid() == owner:
        if folder is None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(inner[0], signal.SIGKILL)  # process 1: the kernel ends the rest
        try:
            process.wait(10)  # the closed socket tells it; it ends what it runs first
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if folder is not None:
            remove_folder(folder)
    with contextlib.suppress(OSError):
        os.close(inner[0])


def remove_folder(folder: str) -> None:
    """Remove a program's folder and what it made unreadable there; nothing outside is touched, nothing raises."""

    def unlock(function: Any, path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            for blocked in (os.path.dirname(path), path):
                inside = blocked == folder or blocked.startswith(f"{folder}/")
                if inside and stat.S_ISDIR(os.lstat(blocked).st_mode):
                    os.chmod(blocked, 0o700)
            if function in (os.unlink, os.rmdir):
                function(path)
            elif os.path.lexists(path):
                shutil.rmtree(path, ignore_errors=True)

    if os.path.lexists(folder):
        shutil.rmtree(folder, onerror=unlock)


def _forget_in_child() -> None:
    """After a fork: our copies of the sockets must not keep the parent's interpreters alive."""
    _fork_lock.release()
    for slot in list(_slots):
        slot.usable = False
        slot.control.close()


os.register_at_fork(before=_fork_lock.acquire, after_in_parent=_fork_lock.release, after_in_child=_forget_in_child)
