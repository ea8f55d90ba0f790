"""What an environment does to the process around it."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import signal
import stat
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

#: Seconds that a thread or process gets to end after ``close``.
GRACE = 2.0


@dataclass
class Surroundings:
    """The settings of a process that environments must leave alone."""

    cwd: str
    environ: dict[str, str]
    signals: dict[int, Any]
    filters: list[Any]
    logging: tuple[int, list[Any], int, bool]

    @classmethod
    def now(cls) -> Surroundings:
        root = logging.getLogger()
        return cls(
            os.getcwd(),
            dict(os.environ),
            # SIGALRM belongs to the time limit that is around every call.
            {n: signal.getsignal(n) for n in signal.valid_signals() if n != getattr(signal, "SIGALRM", None)},
            list(warnings.filters),
            (root.level, list(root.handlers), logging.root.manager.disable, logging.raiseExceptions),
        )

    def restore(self) -> None:
        """Set everything back, as far as it changed."""
        now = Surroundings.now()
        if now.cwd != self.cwd:
            os.chdir(self.cwd)
        if now.environ != self.environ:
            for name in now.environ.keys() - self.environ.keys():
                del os.environ[name]
            os.environ.update(self.environ)
        if threading.current_thread() is threading.main_thread():
            for number, handler in self.signals.items():
                if handler is not None and now.signals[number] is not handler:
                    with contextlib.suppress(OSError, ValueError):  # KILL and STOP
                        signal.signal(number, handler)
        if now.filters != self.filters:
            warnings.resetwarnings()  # tells what was remembered about warnings that the filters changed
            warnings.filters[:] = self.filters  # type: ignore[index]
        if now.logging != self.logging:
            root = logging.getLogger()
            root.level, root.handlers[:] = self.logging[0], self.logging[1]
            logging.root.manager.disable, logging.raiseExceptions = self.logging[2], self.logging[3]

    def changes(self, after: Surroundings) -> Iterator[tuple[str, str]]:
        """What changed: the rule's code, and what in words."""
        if after.cwd != self.cwd:
            yield "GEM602", f"the working directory became {after.cwd}"
        for name in sorted(self.environ.keys() | after.environ.keys()):
            if self.environ.get(name) != after.environ.get(name):
                # Names only: values may be secrets.
                yield "GEM604", f"the environment variable {name} was {_change(self.environ, after.environ, name)}"
        for number, handler in self.signals.items():
            if after.signals.get(number) != handler:
                yield "GEM607", f"the handler of {signal.Signals(number).name} was replaced"
        if after.filters != self.filters:
            yield "GEM608", f"there are {len(after.filters)} warning filters, before there were {len(self.filters)}"
        if after.logging != self.logging:
            names = (
                "the root logger's level",
                "the root logger's handlers",
                "logging.disable",
                "logging.raiseExceptions",
            )
            changed = [n for n, a, b in zip(names, self.logging, after.logging, strict=True) if a != b]
            yield "GEM609", f"{' and '.join(changed)} changed"


def _change(before: dict[str, str], after: dict[str, str], name: str) -> str:
    return "added" if name not in before else "removed" if name not in after else "changed"


@dataclass
class Deeds:
    """What was done while it was watched: addresses asked for, files opened for writing."""

    network: list[str] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)


#: The record in progress. An audit hook cannot be removed, so there is one for the process, idle when this is None.
_watched: Deeds | None = None
_hooked = False


def _audit(name: str, args: tuple[Any, ...]) -> None:
    deeds = _watched
    if deeds is None:
        return
    if name == "socket.connect":
        address = args[1]
        if isinstance(address, tuple):  # of the internet families; others are paths
            deeds.network.append(f"a connection to {address[0]}:{address[1]}")
    elif name in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
        if host not in (None, "", "localhost", b"localhost"):
            deeds.network.append(f"the address of {host!r}")
    elif name == "open":
        path, mode, flags = args
        if isinstance(path, str | bytes) and (_writes(mode) or (isinstance(flags, int) and flags & _WRITE_FLAGS)):
            deeds.files[os.path.abspath(os.fsdecode(path))] = None
    elif name == "os.mkdir":
        if isinstance(args[0], str | bytes):
            deeds.files[os.path.abspath(os.fsdecode(args[0]))] = None
    elif name == "os.rename" and isinstance(args[1], str | bytes):
        deeds.files[os.path.abspath(os.fsdecode(args[1]))] = None


_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def _writes(mode: Any) -> bool:
    return isinstance(mode, str) and any(letter in mode for letter in "wax+")


@contextlib.contextmanager
def watching() -> Iterator[Deeds]:
    """Record network use and files opened for writing, in every thread of this process."""
    global _watched, _hooked
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked = True
    deeds = Deeds()
    outer, _watched = _watched, deeds
    try:
        yield deeds
    finally:
        _watched = outer


def left_behind(files: dict[str, None]) -> list[str]:
    """Those of the paths that exist, apart from compiled modules, caches and devices."""
    caches = [os.path.abspath(path) for path in _cache_folders()]
    found = []
    for path in files:
        if "__pycache__" in path or any(path == c or path.startswith(c + os.sep) for c in caches):
            continue
        try:
            kind = os.stat(path).st_mode
        except OSError:
            continue
        if (stat.S_ISREG(kind) or stat.S_ISDIR(kind)) and not path.startswith(("/proc/", "/dev/", "/sys/")):
            found.append(path)
    return found


def _cache_folders() -> Iterator[str]:
    yield os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for name in ("HF_HOME", "HF_DATASETS_CACHE", "GEM_CACHE", "MPLCONFIGDIR", "NUMBA_CACHE_DIR"):
        if os.environ.get(name):
            yield os.environ[name]


def child_processes() -> set[int]:
    """The process ids of this process's children, where they can be had."""
    found: set[int] = set()
    tasks = f"/proc/{os.getpid()}/task"
    if not os.path.isdir(tasks):
        import multiprocessing

        return {child.pid for child in multiprocessing.active_children() if child.pid is not None}
    for task in os.listdir(tasks):
        with contextlib.suppress(OSError), open(f"{tasks}/{task}/children") as file:
            found.update(map(int, file.read().split()))
    return found


def wait_until_gone(before: set[Any], now: Any) -> set[Any]:
    """What ``now()`` has beyond ``before`` after giving it some time to go."""
    deadline = time.monotonic() + GRACE
    while (left := now() - before) and time.monotonic() < deadline:
        time.sleep(0.01)
    return set(left)


def running_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.is_alive()}


#: The modules whose global generators are looked at.
GENERATORS = ("random", "numpy.random")


@dataclass
class GeneratorState:
    """The state of a global generator before and after."""

    before: Any
    after: Any = None


@contextlib.contextmanager
def global_generators(seed: int) -> Iterator[dict[str, GeneratorState]]:
    """Seed the global generators, see what becomes of them, and set them back at the end."""
    import numpy as np

    python, array = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    states = {name: GeneratorState(state) for name, state in _generator_states(np).items()}
    try:
        yield states
    finally:
        for name, state in _generator_states(np).items():
            states[name].after = state
        random.setstate(python)
        np.random.set_state(array)


def _generator_states(np: Any) -> dict[str, Any]:
    name, keys, *rest = np.random.get_state()
    return {"random": random.getstate(), "numpy.random": (name, keys.tobytes(), *rest)}
