"""The warm interpreter: started once inside the isolation, it forks for every program.

This file runs alone, on nothing but the standard library, as ``python zygote.py CONTROL_FD``. In the isolated
backend it is process 1 of its own process namespace: what runs there can neither signal nor trace it, what it
kills stays dead, and when it ends the kernel ends everything else.

It never reads what a program is made of. A request is a fixed header, read here, and a body, read by the fork
that will run it; output passes through buffers that are cleared after each run. So its memory, which every later
fork inherits, holds nothing of earlier programs.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

    Hook = Callable[[], object] | None


class ForkHooks:
    """What modules ask to be done in every fork, put off: most programs need none of it, and it costs a third of a run.

    A fork of the zygote skips the hooks (it has one thread, and :func:`reseed` does what ``random`` asks for); a fork
    that a program makes itself runs them.
    """

    def __init__(self) -> None:
        self.hooks = []
        self.mine = True
        self.register = os.register_at_fork
        self.register(before=self._before, after_in_parent=self._in_parent, after_in_child=self._in_child)

    def __enter__(self) -> None:
        os.register_at_fork = self._put_off

    def __exit__(self, *_: object) -> None:
        os.register_at_fork = self.register

    def _put_off(self, *, before: Hook = None, after_in_parent: Hook = None, after_in_child: Hook = None) -> None:
        self.hooks.append((before, after_in_parent, after_in_child))

    def _run(self, position: int, hooks: Iterable[tuple[Hook, Hook, Hook]]) -> None:
        for hook in hooks:
            if hook[position] is not None:
                hook[position]()

    def _before(self) -> None:
        if not self.mine:
            self._run(0, reversed(self.hooks))

    def _in_parent(self) -> None:
        if not self.mine:
            self._run(1, self.hooks)

    def _in_child(self) -> None:
        if self.mine:
            self.mine = False
        else:
            self._run(2, self.hooks)


if __name__ == "__main__":
    hooks = ForkHooks()
    hooks.__enter__()

# The hooks come before whatever registers one; what a fork runs calls nothing that costs it a module more.
# ruff: noqa: E402, B905, SIM105, SIM115
# Little of the standard library, and nothing that loads shared libraries without need: every one is a
# handful of mappings that each fork copies. So _socket and not socket, no shutil, no fcntl.
import _socket
import atexit
import builtins
import ctypes
import gc
import importlib
import io
import marshal
import resource
import select
import signal
import struct
import sys
import threading
import time
import types

# The same without the enumerations of the module around it:
from _signal import SIG_DFL, SIG_IGN, pthread_sigmask, signal as set_handler, sigtimedwait as wait_for_signal

#: A request: what to do, its wall limit in seconds (0: none), and the length of the body that follows. That of a plain
#: program is its source: there is nothing else to tell, and it cannot look at its process.
REQUEST = struct.Struct("<cdQ")
RUN, PLAIN, CALL, OPEN, CELL, PRELOAD = b"R", b"N", b"F", b"O", b"C", b"P"

#: A reply: why it ended, exit status or signal, wall and CPU seconds, peak kilobytes, then for stdout and stderr
#: the total and the kept head and tail lengths, the lengths of the returned value and of the compiled code, and
#: whether there can be a next one (of the session, or in this zygote at all).
REPLY = struct.Struct("<cqddQ6QQQ?")
EXITED, SIGNALLED, TIMEOUT, MEMORY, CPU, READY = b"E", b"S", b"T", b"M", b"C", b"Y"

#: Above every descriptor of the zygote (it counts on this: it opens few, and closes them all).
TOP_FD = 24
#: Seconds a program has to flush its streams when its time is up.
LAST_WORDS = 0.1
#: Seconds a session has to come back from an interrupt with its state kept.
GRACE = 1.0
#: Seconds between two looks at the memory of a run.
WATCH = 0.02
#: Bytes that a local socket can hold, with what the kernel needs to keep them.
LOCAL_SOCKET = 1 << 19
#: Seconds in which a program may be done before anybody looks at its output.
HURRY = 0.003
#: Newlines written at once, before output is buffered in blocks.
EAGER_LINES = 200
MAIN_FILE = "main.py"

_libc = ctypes.CDLL(None, use_errno=True)
_libc_in_line = ctypes.PyDLL(None)  # without giving way to other threads, of which there are none
#: What a fork of Python's own sets right takes its time, and is nothing that a plain program can see.
_plain_fork = _libc_in_line.fork
_processor = _libc_in_line.sched_getcpu
_libc.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]


# -- confinement -----------------------------------------------------------------------------------------


def confine(config: dict[str, Any]) -> None:
    """Take what the zygote needs, then give up every right to take more."""
    os.umask(0o022)
    if config["isolated"]:
        options = f"size={config['disk']},nr_inodes={config['inodes']},mode=1777".encode()
        # nosuid, nodev; /tmp is there, and may hold what has to be readable: it is only bounded
        _check(_libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 2 | 4 | 32, options), "bound /tmp")
        _check(_libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 2 | 4, options), "mount /dev/shm")
        os.chmod("/tmp", 0o1777)
        if config["uid"] is not None:
            os.setgroups([])
            os.setresgid(config["uid"], config["uid"], config["uid"])
            os.setresuid(config["uid"], config["uid"], config["uid"])
        _prctl(47, 4)  # PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL
        header, data = struct.pack("<Ii", 0x20080522, 0), bytes(24)
        _check(_libc.capset(header, data), "drop capabilities")
    else:
        _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: orphans come to us, to be killed
    _prctl(38, 1)  # PR_SET_NO_NEW_PRIVS
    _prctl(4, 0)  # PR_SET_DUMPABLE: no tracing, no /proc/1/mem, not even by the same user
    if config["filter"]:
        program = config["filter"]
        buffer = ctypes.create_string_buffer(program, len(program))
        fprog = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))  # struct sock_fprog
        _prctl(22, 2, fprog)  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
    for name, value in config["limits"].items():
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))


def _prctl(option: int, argument: int, pointer: bytes | None = None) -> None:
    _check(_libc.prctl(option, argument, pointer, 0, 0), "confine programs (prctl)")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot {what}: {os.strerror(number)}")


# -- captured output -------------------------------------------------------------------------------------


class Capture:
    """One output stream of a run: its first bytes, its last bytes, and how many there were.

    The buffers are allocated once and cleared after use, so that no later fork inherits what they held.
    """

    scratch = bytearray(65536)
    view = memoryview(scratch)

    def __init__(self, limit: int) -> None:
        self.half = max(1, limit // 2)
        self.head = bytearray(self.half)
        self.tail = bytearray(self.half)
        self.fd = -1
        self.total = 0

    def open(self) -> int:
        """A fresh pipe (its flags must not leak from one run to the next); returns the end to write to."""
        self.fd, write_end = os.pipe()
        os.set_blocking(self.fd, False)
        self.total = 0
        return write_end

    def pump(self) -> int:
        """Read once; the bytes read, 0 when every writer is gone, -1 when there is nothing now."""
        try:
            count = os.readv(self.fd, [self.scratch])
        except BlockingIOError:
            return -1
        if count:
            self.keep(count)
        return count

    def keep(self, count: int) -> None:
        start = 0
        if self.total < self.half:
            start = min(self.half - self.total, count)
            self.head[self.total : self.total + start] = self.view[:start]
        rest = count - start
        if rest:
            half = self.half
            begin = max(start, count - half)
            length = count - begin
            # the ring's write position follows the stream's, so that no second counter is needed
            position = (self.total + begin - half) % half
            first = min(length, half - position)
            self.tail[position : position + first] = self.view[begin : begin + first]
            if first < length:
                self.tail[: length - first] = self.view[begin + first : count]
        self.total += count

    def drain(self) -> None:
        """What is still in the pipe; at most what a pipe holds, as every writer is dead or waiting."""
        for _ in range(32):
            if self.pump() <= 0:
                break

    def parts(self) -> tuple[list[memoryview], int, int]:
        """The kept bytes in order, as views."""
        head = min(self.total, self.half)
        tail = min(self.total - head, self.half)
        views = [memoryview(self.head)[:head]]
        if tail < self.half:
            views.append(memoryview(self.tail)[:tail])
        else:
            position = (self.total - self.half) % self.half
            views += [memoryview(self.tail)[position:], memoryview(self.tail)[:position]]
        return views, head, tail

    def clear(self) -> None:
        used = min(self.total, 65536)
        self.scratch[:used] = bytes(used)
        for buffer in (self.head, self.tail):
            used = min(self.total, self.half)
            buffer[:used] = bytes(used)
        self.total = 0

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


# -- processes ---------------------------------------------------------------------------------------------


def descendants(isolated: bool) -> list[int]:
    """The processes of the run in progress: in a namespace of our own, everything but us."""
    me = os.getpid()
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if isolated:
        return [pid for pid in pids if pid != me]
    children = {}
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(pid)
    found, stack = [], [me]
    while stack:
        below = children.get(stack.pop(), [])
        found += below
        stack += below
    return found


def kill_everything(isolated: bool) -> tuple[float, int]:
    """Kill and reap the whole run. Returns the CPU seconds and the peak kilobytes of what was reaped."""
    cpu, peak = 0.0, 0
    while True:
        if isolated:
            try:
                os.kill(-1, signal.SIGKILL)  # everything but process 1, in one sweep that no fork escapes
            except ProcessLookupError:
                pass
        else:
            for pid in descendants(False):
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
        try:
            pid, _, usage = os.wait4(-1, 0)
            while pid:
                cpu += usage.ru_utime + usage.ru_stime
                peak = max(peak, usage.ru_maxrss)
                pid, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return cpu, peak


def memory_used(isolated: bool, base: int) -> tuple[int, list[int]]:
    """Resident bytes of the run beyond the pages each process shares with the zygote."""
    pids = descendants(isolated)
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                total += max(0, int(file.read().split()[1]) - base)
        except (OSError, IndexError):
            continue
    return total * _PAGE, pids


def proportional(pids: list[int]) -> int:
    """Bytes resident, each shared page counted once in all: dear to ask, and what the limit is about."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                for line in file:
                    if line.startswith(b"Pss:"):
                        total += int(line.split()[1]) * 1024
                        break
        except OSError:
            try:
                with open(f"/proc/{pid}/statm", "rb") as file:
                    total += int(file.read().split()[1]) * _PAGE
            except (OSError, IndexError):
                continue
    return total


def socket_memory() -> int:
    """Bytes that wait in the sockets of the run, which are no process's pages.

    Local sockets do not tell: each counts as the most that it can hold.
    """
    try:
        total, inuse = 0, {}
        for table in ("sockstat", "sockstat6"):
            with open(f"/proc/net/{table}", "rb") as file:
                for line in file:
                    name, _, count = line.split()[:3]
                    inuse[name] = int(count)
        for table, name in (("tcp", b"TCP:"), ("tcp6", b"TCP6:"), ("udp", b"UDP:"), ("udp6", b"UDP6:")):
            if inuse.get(name):
                with open(f"/proc/net/{table}", "rb") as file:
                    for line in file.readlines()[1:]:
                        sent, _, received = line.split()[4].partition(b":")
                        total += int(sent, 16) + int(received, 16)
        return total + inuse.get(b"sockets:", 0) * LOCAL_SOCKET
    except OSError:
        return 0  # a kernel without a network


_SET_MASK = signal.SIG_SETMASK.value
_CHILD = (signal.SIGCHLD.value,)
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Workplace:
    """The folder of programs, and whatever else they can write to: the same and empty for each of them."""

    def __init__(self, path: str, roots: list[str], private: bool) -> None:
        self.path = path
        self.roots = roots
        #: What was there before any program: the way to readable files that happen to lie below.
        self.kept = {entry.path for root in roots for entry in os.scandir(root)} if private else set()
        os.mkdir(path, 0o700)
        os.chdir(path)
        self.kept.add(path)
        self.folder = self._folder()
        #: Free inodes of the empty file systems, where they are ours alone.
        self.free = self._free() if private else None

    def _folder(self) -> tuple[int, int]:
        facts = os.lstat(self.path)
        return facts.st_ino, facts.st_mode

    def _free(self) -> int:
        return sum(os.statvfs(root).f_ffree for root in self.roots)

    def wipe(self, held: int = 0) -> bool:
        """Empty it all; whether that worked. If not, the zygote ends, and its file systems with it.

        ``held`` files are the zygote's own: unlinked already, and open until the answer is out.
        """
        try:
            facts = self._folder()
            if self.free is not None and facts == self.folder and self.free == self._free() + held:
                return True  # not a file more than there was
            if facts[0] != self.folder[0]:
                return False
            os.chmod(self.path, 0o700)
            for folder in (self.path, *self.roots):
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.path in self.kept:
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            remove_tree(entry.path)
                        else:
                            os.unlink(entry.path)
            return self.free is None or self.free == self._free() + held
        except (OSError, RecursionError):
            return False


def remove_tree(path: str) -> None:
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                remove_tree(entry.path)
            else:
                os.unlink(entry.path)
    os.rmdir(path)


# -- inside the fork ---------------------------------------------------------------------------------------


class EagerWriter(io.TextIOWrapper):
    """Standard output that writes its first lines at once, so that a program killed at its limit has said them.

    Beyond :data:`EAGER_LINES` the override removes itself: programs that print a lot pay nothing for it.
    """

    _left = EAGER_LINES

    def write(self, text: str) -> int:
        written = io.TextIOWrapper.write(self, text)
        if "\n" in text:
            self.flush()
            self._left -= 1
            if self._left <= 0 and "write" in type(self).__dict__:
                del type(self).write
        return written


def standard_streams() -> None:
    """The streams of all programs to come, made before the first fork: each finds them unused."""
    spare = os.pipe()
    os.dup2(spare[1], 1)
    os.dup2(spare[1], 2)  # a stream on a pipe knows that it cannot seek
    stdin, stdout, stderr = open(0, "rb", closefd=False), open(1, "wb", closefd=False), open(2, "wb", closefd=False)
    sys.stdin = io.TextIOWrapper(stdin, encoding="utf-8", errors="surrogateescape")
    sys.stdout = EagerWriter(stdout, encoding="utf-8", errors="surrogateescape")
    sys.stderr = io.TextIOWrapper(stderr, encoding="utf-8", errors="backslashreplace", line_buffering=True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.stdin.mode, sys.stdout.mode, sys.stderr.mode = "r", "w", "w"
    for fd in spare:
        os.close(fd)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def reseed() -> None:
    """Random numbers of its own for a program that may want some."""
    for name in ("random", "numpy.random", "sympy.core.random"):
        if name in sys.modules:
            sys.modules[name].seed()


def last_words(signum: int, frame: types.FrameType | None) -> None:
    """At the time limit: what the program printed must not die in a buffer."""
    if hooks.mine:
        return  # a program sent it to the zygote
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    set_handler(signal.SIGXCPU, SIG_DFL)
    os.kill(os.getpid(), signal.SIGXCPU)


def receive(sock: _socket.socket, length: int) -> bytes:
    data = sock.recv(length, _socket.MSG_WAITALL) if length else b""
    if len(data) < length:
        os._exit(1)
    return data


def stage(config: dict[str, Any]) -> None:
    """Set the scene, in the zygote: what every program finds, so that no fork has to make it."""
    module = types.ModuleType("__main__")
    module.__file__ = os.path.join(config["folder"], MAIN_FILE)
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    sys.argv = [MAIN_FILE]
    sys.path[0] = config["folder"]
    set_handler(signal.SIGXCPU, last_words)


def become_program(config: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """In the fork, before the first line of the program: what is left to do. Returns the program's namespace."""
    if len(body) > 1:
        if "system" in body:
            pthread_sigmask(_SET_MASK, ())
            if config["isolated"]:
                _libc.prctl(4, 1, None, 0, 0)  # dumpable again: /proc/self belongs to the program
        for name, content in body.get("files", {}).items():
            if "/" in name:
                os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "wb") as file:
                file.write(content)
        if "argv" in body:
            sys.argv += body["argv"]
        if "random" in body:
            reseed()
        if "cpu" in body:
            resource.setrlimit(resource.RLIMIT_CPU, (body["cpu"], body["cpu"] + 1))
    return sys.modules["__main__"].__dict__


def compile_program(body: dict[str, Any]) -> types.CodeType:
    code = body.get("compiled")
    if code is not None:
        return marshal.loads(code)
    source = body["source"].decode("utf-8", "surrogatepass")
    return compile(source, MAIN_FILE, "exec", dont_inherit=True)


def split_last_expression(source: str) -> list[types.CodeType]:
    """The program with its last expression shown, as a notebook does."""
    import ast

    tree = ast.parse(source, MAIN_FILE)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return [compile(tree, MAIN_FILE, "exec", dont_inherit=True)]
    last = ast.Interactive([tree.body.pop()])
    return [compile(tree, MAIN_FILE, "exec", dont_inherit=True), compile(last, MAIN_FILE, "single", dont_inherit=True)]


def supply_imports(codes: list[types.CodeType], namespace: dict[str, Any], table: dict[str, str]) -> None:
    """Bind the usual names (``math``, ``np``, ``deque``) that a program uses and forgot to import.

    A name that the program binds itself is simply bound over; nothing is run twice.
    """
    for code in codes:
        for name in code.co_names:
            if name in table and name not in namespace:
                module, _, attribute = table[name].partition(":")
                try:
                    found = importlib.import_module(module)
                    namespace[name] = getattr(found, attribute) if attribute else found
                except Exception:
                    continue  # not installed: the program's own NameError says what it lacks
        inner = [constant for constant in code.co_consts if type(constant) is types.CodeType]
        if inner:
            supply_imports(inner, namespace, table)


_sources: list[bytes] = []


def write_main(source: bytes) -> None:
    """The program as a file, for whatever reads it there."""
    with open(os.path.join(sys.path[0], MAIN_FILE), "wb") as file:
        file.write(source)


def report(error: BaseException) -> None:
    """Print a traceback that begins at the program, not at us."""
    if _sources:
        try:
            write_main(_sources.pop())
        except OSError:
            pass  # a full disk: the traceback goes without the line
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.excepthook(type(error), error, trace)


def leave(status: int, thorough: bool = True) -> NoReturn:
    finish(thorough)
    os._exit(status)


def finish(thorough: bool) -> None:
    """What an interpreter does at its end, short of tearing itself down.

    ``thorough``: let go of what the program holds, for it may have finalizers, or streams that are not flushed.
    """
    try:
        if len(threading._active) > 1:
            threading._shutdown()
        atexit._run_exitfuncs()
        if thorough:
            sys.modules["__main__"].__dict__.clear()
            gc.collect()
    except BaseException:
        pass
    for stream in (sys.stdout, sys.stderr, sys.__stdout__) if thorough else (sys.stdout, sys.__stdout__):
        try:
            stream.flush()
        except BaseException:
            pass


def exit_status(error: SystemExit) -> int:
    """The status of ``sys.exit(x)``, its message printed if it is one."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    try:
        print(code, file=sys.stderr)
    except BaseException:
        pass
    return 1


def execute(codes: list[types.CodeType], namespace: dict[str, Any]) -> int | None:
    """Run code objects; returns an exit status, or ``None`` where they came to their end."""
    try:
        for code in codes:
            exec(code, namespace)
    except SystemExit as error:
        return exit_status(error)
    except BaseException as error:
        try:
            report(error)
        except BaseException:
            pass
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return None


def call_function(namespace: dict[str, Any], body: dict[str, Any], fd: int) -> int:
    """Call what the program defined (a function, or a method of its class ``Solution``); write the value as JSON."""
    import json

    name = body["function"]
    try:
        function = namespace.get(name)
        if function is None and "Solution" in namespace:
            function = getattr(namespace["Solution"](), name, None)
        if function is None:
            raise NameError(f"the program defines no function {name!r}")
        value = json.dumps(function(*json.loads(body["arguments"])), default=_plain).encode()
        with open(fd, "wb", closefd=False) as file:
            file.write(value)
    except SystemExit as error:
        return exit_status(error)
    except BaseException as error:
        report(error)
        return 1
    return 0


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    for method in ("tolist", "item"):  # numpy arrays and scalars
        if hasattr(value, method):
            return getattr(value, method)()
    return list(value)


def perform(config: dict[str, Any], body: dict[str, Any], value_fd: int = -1, code_fd: int = -1) -> int:
    """One program, from its source to its exit status."""
    try:
        namespace = become_program(config, body)
        try:
            if "show_last" in body:
                codes = split_last_expression(body["source"].decode("utf-8", "surrogatepass"))
            else:
                codes = [compile_program(body)]
        except BaseException as error:
            error.__traceback__ = None
            report(error)
            return 1
        if code_fd >= 0:
            with open(code_fd, "wb") as file:  # closed before the program begins, so it cannot forge it
                marshal.dump(codes[0], file)
        if "file" in body:
            write_main(body["source"])
        else:
            _sources.append(body["source"])  # written when a traceback wants to quote it
        if "imports" in body:
            supply_imports(codes, namespace, body["imports"])
        status = execute(codes, namespace)
        if status is None and "function" in body:
            status = call_function(namespace, body, value_fd)
        return status or 0
    except BaseException as error:  # a broken stream, a full disk: the program's run, not ours
        try:
            report(error)
        except BaseException:
            pass
        return 1


def rehearse(config: dict[str, Any]) -> None:
    """Do in the zygote what every fork will do, until the interpreter has settled on how to do it.

    Every page that a fork need not write to, because the zygote has, saves a copy.
    """
    request = marshal.dumps({"source": b"print(1 + 1)\n", "system": True}, 2)
    for _ in range(20):
        stage(config)
        perform(config, marshal.loads(request))
        finish(False)
        _sources.clear()
    stage(config)
    pthread_sigmask(_SET_MASK, _CHILD)  # to be waited for


def session_fork(config: dict[str, Any], sock: _socket.socket) -> NoReturn:
    """A program that goes on: cells arrive on ``sock`` and share one namespace. Never returns."""
    namespace = become_program(config, {"random": True, "system": True})
    number = 0
    set_handler(signal.SIGINT, signal.default_int_handler)
    while True:
        try:
            head = sock.recv(8, _socket.MSG_WAITALL)
            if len(head) < 8:
                leave(0)
            cell = marshal.loads(receive(sock, int.from_bytes(head, "little")))
        except KeyboardInterrupt:
            continue
        number += 1
        source = bytes(cell["source"]).decode("utf-8", "surrogatepass")
        name = MAIN_FILE if number == 1 else f"cell {number}"
        status = 0
        try:
            import linecache

            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            if "show_last" in cell:
                codes = split_last_expression(source)
            else:
                codes = [compile(source, name, "exec", dont_inherit=True)]
        except BaseException as error:
            error.__traceback__ = None
            report(error)
            status = 1
        else:
            if "imports" in cell:
                supply_imports(codes, namespace, cell["imports"])
            status = execute(codes, namespace)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        sock.send(bytes([status or 0]))


# -- the server --------------------------------------------------------------------------------------------


class Server:
    """One program at a time, asked for over the control socket."""

    def __init__(self, control: _socket.socket, config: dict[str, Any]) -> None:
        self.control = control
        self.config = config
        self.isolated = config["isolated"]
        self.out, self.err = Capture(config["output"]), Capture(config["output"])
        self.workplace = Workplace(config["folder"], config["wipe"], self.isolated)
        self.base = 0
        self.processors = os.sched_getaffinity(0)
        #: The program of the session: its process, a descriptor of it, the socket it is asked over.
        self.session: tuple[int, int, _socket.socket] | None = None

    def serve(self) -> None:
        while True:
            header = self.control.recv(REQUEST.size, _socket.MSG_WAITALL)
            if len(header) < REQUEST.size:
                return  # whoever started us is gone
            what, timeout, length = REQUEST.unpack(header)
            if what in (RUN, PLAIN, CALL):
                if not self.run(timeout, length, what):
                    return
            elif what == OPEN:
                self.open_session()
            elif what == CELL:
                if not self.run_cell(timeout, length):
                    return
            elif what == PRELOAD:
                self.preload(bytes(receive(self.control, length)).decode().split())
            else:
                return  # out of step

    def end(self) -> None:
        """Leave nothing. In a namespace of our own that is the kernel's affair; otherwise it is ours."""
        if not self.isolated:
            kill_everything(False)
            os.chdir("/")
            for folder in self.config["wipe"]:
                try:
                    os.chmod(self.config["folder"], 0o700)
                    remove_tree(folder)
                except OSError:
                    pass  # the caller, if it lives, tries harder

    def preload(self, names: list[str]) -> None:
        """Import for all programs to come. What cannot be imported is left to the program that asks for it."""
        with hooks:
            for name in names:
                try:
                    importlib.import_module(name)
                except Exception:
                    continue
        self.settle()
        self.answer(READY, 0, 0.0, 0.0, 0)

    def settle(self) -> None:
        """Before forking: leave nothing for the collector, whose marks would be written all over the heap."""
        gc.collect()
        gc.freeze()
        with open("/proc/self/statm", "rb") as file:
            self.base = int(file.read().split()[1])

    # -- one program

    def run(self, timeout: float, length: int, what: bytes) -> bool:
        # What can be done before the fork is: afterwards every page written is a page copied.
        call = what == CALL
        self.direct()
        value, code = (self.scratch_file(), self.scratch_file()) if call else (-1, -1)
        began = time.monotonic()
        pid = self.fork(_plain_fork if what == PLAIN else os.fork)
        if pid == 0:
            try:
                hooks.mine = False
                told = receive(self.control, length)
                body = {"source": told} if what == PLAIN else marshal.loads(told)
                if "stdin" in body:
                    self.feed(body.pop("stdin"))
                if call:
                    self.keep_only(value, code)
                else:
                    os.closerange(3, TOP_FD)
                leave(perform(self.config, body, value, code), "thorough" in body)
            finally:
                os._exit(1)
        # Most programs end at once, and what they print fits a pipe: one short wait does for all of it.
        why = EXITED
        wait_for_signal(_CHILD, HURRY)
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if not done:
            pidfd = os.pidfd_open(pid)
            why = self.watch(pidfd, None, began + timeout if timeout else None, pid)
            os.close(pidfd)
            send_signal(pid, signal.SIGKILL)
            _, status, usage = os.wait4(pid, 0)
        wall = time.monotonic() - began
        cpu, peak = self.reap_rest(usage)
        self.out.drain()
        self.err.drain()
        alive = self.workplace.wipe(2 if call else 0) and not (status and self.out_of_step())
        if why == EXITED and status:
            why, status = _cause(status)
        self.answer(why, status, wall, cpu, peak, alive, value, code)
        self.forget(value, code)
        return alive

    def fork(self, fork: Callable[[], int]) -> int:
        """Fork, and have the fork begin on this processor: its memory is near here, and we are about to sleep.

        From its first line on it may go anywhere.
        """
        self.move(())
        try:
            pid = fork()
            return pid if pid >= 0 else os.fork()  # which says what is wrong
        finally:
            self.move(self.processors)

    def move(self, processors: Iterable[int]) -> None:
        """Run on these processors; on the current one alone if there are none."""
        if len(self.processors) > 1:
            try:
                os.sched_setaffinity(0, processors or (_processor(),))
            except OSError:  # they have been taken away from us: the system knows better
                self.processors = set()

    def direct(self) -> None:
        """Turn our own standard output and error into fresh pipes, for the fork to find."""
        for fd, stream in ((1, self.out), (2, self.err)):
            write_end = stream.open()
            os.dup2(write_end, fd)
            os.close(write_end)

    def feed(self, stdin: bytes) -> None:
        """In the fork: this is its standard input."""
        source = self.scratch_file()
        _write_all(source, stdin)
        os.lseek(source, 0, os.SEEK_SET)
        os.dup2(source, 0)

    def keep_only(self, *kept: int) -> None:
        """In the fork: nothing of ours but the three streams and ``kept``."""
        low = 3
        for fd in sorted(kept):
            os.closerange(low, fd)
            low = fd + 1
        os.closerange(low, TOP_FD)

    def out_of_step(self) -> bool:
        """Whether the fork died before it had read all of its request."""
        try:
            return bool(self.control.recv(1, _socket.MSG_PEEK | _socket.MSG_DONTWAIT))
        except BlockingIOError:
            return False

    def scratch_file(self) -> int:
        path = self.config["scratch"] + "/scratch"
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        os.unlink(path)
        return fd

    def watch(self, pidfd: int, sock: _socket.socket | None, deadline: float | None, pid: int) -> bytes:
        """Collect output until the program ends (or its session answers), or a limit is reached: which."""
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        poll.register(self.control, 0)  # only its end
        poll.register(self.out.fd, select.POLLIN)
        poll.register(self.err.fd, select.POLLIN)
        streams = {self.out.fd: self.out, self.err.fd: self.err}
        if sock is not None:
            poll.register(sock, select.POLLIN)
        next_look = time.monotonic() + WATCH
        why = None
        while True:
            now = time.monotonic()
            if now >= next_look:
                if why is None and self.over_memory():
                    return MEMORY
                next_look = now + WATCH
            until = next_look
            if deadline is not None:
                if now >= deadline:
                    if why is not None or sock is not None:
                        return TIMEOUT
                    why, deadline = TIMEOUT, now + LAST_WORDS
                    send_signal(pid, signal.SIGXCPU)
                until = min(until, deadline)
            ended = answered = False
            for fd, event in poll.poll(max(0, (until - now) * 1000)):
                if fd == self.control.fileno():
                    if event & (select.POLLHUP | select.POLLERR):  # whoever asked is gone
                        self.end()
                        os._exit(1)
                elif fd == pidfd:
                    ended = True
                elif sock is not None and fd == sock.fileno():
                    answered = True
                elif streams[fd].pump() == 0:
                    poll.unregister(fd)
            if ended or answered:
                return why or EXITED

    def over_memory(self) -> bool:
        limit = self.config["memory"]
        used, pids = memory_used(self.isolated, self.base)
        held = socket_memory() if self.isolated else 0
        return used + held > limit and proportional(pids) + held > limit

    def reap_rest(self, usage: resource.struct_rusage) -> tuple[float, int]:
        """Kill and reap what the program started; CPU seconds and peak kilobytes of it all."""
        cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        if self.orphans():
            more, high = kill_everything(self.isolated)
            cpu, peak = cpu + more, max(peak, high)
        return cpu, peak

    def orphans(self) -> bool:
        """Whether the run left anything alive: every orphan is by now our child."""
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return True

    def answer(
        self, why: bytes, status: int, wall: float, cpu: float, peak: int, alive: bool = True,
        value: int = -1, code: int = -1,
    ) -> None:  # fmt: skip
        out, out_head, out_tail = self.out.parts()
        err, err_head, err_tail = self.err.parts()
        kept = (self.out.total, out_head, out_tail, self.err.total, err_head, err_tail)
        lengths = [min(os.fstat(fd).st_size, self.config["value"]) if fd >= 0 else 0 for fd in (value, code)]
        self.send([REPLY.pack(why, status, wall, cpu, peak, *kept, *lengths, alive), *out, *err])
        for fd, length in zip((value, code), lengths):
            offset = 0
            while offset < length:
                offset += os.sendfile(self.control.fileno(), fd, offset, length - offset)

    def send(self, parts: list[bytes | memoryview]) -> None:
        parts = [memoryview(part) for part in parts if len(part)]
        while parts:
            sent = self.control.sendmsg(parts)
            while parts and sent >= len(parts[0]):
                sent -= len(parts.pop(0))
            if sent:
                parts[0] = parts[0][sent:]

    def forget(self, *fds: int) -> None:
        """After the answer is out: nothing of this run stays in memory."""
        for fd in fds:
            if fd >= 0:
                os.close(fd)
        for stream in (self.out, self.err):
            stream.close()
            stream.clear()

    # -- sessions: one in the life of a zygote

    def open_session(self) -> None:
        ours, theirs = _socket.socketpair()
        self.direct()
        pid = os.fork()
        if pid == 0:
            try:
                self.keep_only(theirs.fileno())
                session_fork(self.config, theirs)
            finally:
                os._exit(1)
        theirs.close()
        self.session = (pid, os.pidfd_open(pid), ours)
        self.answer(READY, 0, 0.0, 0.0, 0)

    def run_cell(self, timeout: float, length: int) -> bool:
        body = receive(self.control, length)
        pid, pidfd, sock = self.session
        self.signal_all(signal.SIGCONT)
        began = time.monotonic()
        try:
            sock.sendall(len(body).to_bytes(8, "little") + body)
        except OSError:
            pass  # it died between two cells; the watch sees that
        why = self.watch(pidfd, sock, began + timeout if timeout else None, pid)
        if why == TIMEOUT:
            # Interrupt, as a notebook does: a program that lets itself be interrupted keeps its state.
            send_signal(pid, signal.SIGINT)
            if self.watch(pidfd, sock, time.monotonic() + GRACE, pid) == MEMORY:
                why = MEMORY
        wall = time.monotonic() - began
        status = None if why == MEMORY else _cell_status(sock)
        alive = status is not None
        cpu, peak = 0.0, 0
        if not alive:
            send_signal(pid, signal.SIGKILL)
            _, ended, usage = os.wait4(pid, 0)
            cpu, peak = self.reap_rest(usage)
            status = 0
            if why == EXITED:
                why, status = _cause(ended)
        if alive:
            self.signal_all(signal.SIGSTOP)  # nobody looks at its limits until the next cell
        self.out.drain()
        self.err.drain()
        self.answer(why, status, wall, cpu, peak, alive)
        self.out.clear()
        self.err.clear()
        return alive

    def signal_all(self, number: int) -> None:
        """Signal the program of the session and everything it started."""
        if not self.isolated:
            for pid in descendants(False):
                send_signal(pid, number)
            return
        try:
            os.kill(-1, number)
        except ProcessLookupError:
            pass


def _cell_status(sock: _socket.socket) -> int | None:
    """The exit status a cell answered with, or ``None`` where the program has not come back."""
    try:
        status = sock.recv(1, _socket.MSG_DONTWAIT)
    except OSError:
        return None
    return status[0] if status else None


def _cause(status: int) -> tuple[bytes, int]:
    """Why a process ended, from its wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return (CPU if number == signal.SIGXCPU else SIGNALLED), number
    return EXITED, os.WEXITSTATUS(status)


def send_signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def lowered(fd: int) -> int:
    """Move our one descriptor to the lowest place, whatever number the trainer's open files gave it.

    A fork closes what lies below :data:`TOP_FD`: a control socket above it would be in every program's hands.
    """
    if fd != 3:
        os.dup2(fd, 3, inheritable=False)
    else:
        os.set_inheritable(fd, False)
    os.closerange(4, 65536)
    return 3


def main() -> None:
    sys.set_int_max_str_digits(0)  # programs may print the integers they compute
    hooks.__exit__()
    control = _socket.socket(fileno=lowered(int(sys.argv[1])))
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        set_handler(number, SIG_DFL if number == signal.SIGINT else SIG_IGN)
    head = control.recv(8, _socket.MSG_WAITALL)
    if len(head) < 8:
        return
    config = marshal.loads(receive(control, int.from_bytes(head, "little")))
    standard_streams()
    os.environ.pop("LD_BIND_NOW", None)  # it was for us: see Slot
    rehearse(config)
    confine(config)
    server = Server(control, config)
    server.preload(config["preload"])
    try:
        server.serve()
    finally:
        server.end()


if __name__ == "__main__":
    main()
