"""Items made ahead of time, in one process that all environments of this process share.

The items are the same wherever they are made, so that it only matters for speed which generators run there; except
those that depend on the hash seed, which always do.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections import OrderedDict
from typing import Any

#: ``(name, pickled options, seed, size, idx)``
Key = tuple[str, bytes, int, int, int]

#: Items kept that nobody has asked for yet.
MAX_AHEAD = 4096


class GeneratorDied(RuntimeError):
    """The generating process ended."""


class Generator:
    """One generating process, started when first needed, started again when it died."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._child: subprocess.Popen[bytes] | None = None
        self._pending: set[Key] = set()
        self._items: OrderedDict[Key, tuple[bool, Any]] = OrderedDict()
        #: Processes that have ended: what they were asked for will not come.
        self._deaths = 0

    def prefetch(self, key: Key) -> None:
        """Ask for an item without waiting for it."""
        with self._changed:
            if key not in self._items and key not in self._pending:
                self._ask(key)

    def item(self, key: Key) -> Any:
        """An item, as soon as it is there.

        Raises:
            GeneratorDied: the process ended over it.
            ValueError: the generator raised.
        """
        with self._changed:
            deaths = self._deaths
            while key not in self._items:
                if self._deaths != deaths:
                    raise GeneratorDied(f"the generating process ended over item {key[4]} of {key[0]!r}")
                if key not in self._pending:  # not asked for yet, or another thread took what both waited for
                    self._ask(key)
                self._changed.wait()
            made, value = self._items.pop(key)
        if not made:
            raise ValueError(f"the generator of {key[0]!r} failed at item {key[4]}: {value}")
        return value

    def _ask(self, key: Key) -> None:
        child = self._child
        if child is None or child.poll() is not None:
            child = self._start()
        assert child.stdin is not None
        self._pending.add(key)
        try:
            pickle.dump(key, child.stdin)
            child.stdin.flush()
        except OSError:
            self._pending.discard(key)

    def _start(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-m", "gem_reasoning.generate_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        self._child = child
        threading.Thread(target=self._receive, args=(child,), name="gem-reasoning-items", daemon=True).start()
        return child

    def _receive(self, child: subprocess.Popen[bytes]) -> None:
        """Take replies as they come, so that the process never waits for a reader."""
        assert child.stdout is not None
        assert child.stdin is not None
        with contextlib.suppress(EOFError, pickle.UnpicklingError, OSError, ValueError):
            while True:
                key, made, value = pickle.load(child.stdout)
                with self._changed:
                    self._pending.discard(key)
                    self._items[key] = (made, value)
                    while len(self._items) > MAX_AHEAD:
                        self._items.popitem(last=False)
                    self._changed.notify_all()
        child.kill()
        child.wait()
        child.stdout.close()
        with self._changed:
            with contextlib.suppress(OSError):
                child.stdin.close()
            if self._child is child:
                self._child = None
            self._pending.clear()
            self._deaths += 1
            self._changed.notify_all()

    def close(self) -> None:
        """End the process."""
        child = self._child
        if child is not None:
            child.kill()
            child.wait()

    @property
    def pid(self) -> int | None:
        """Process id of the generating process, if there is one."""
        child = self._child
        return child.pid if child is not None else None


generator = Generator()


def _after_fork() -> None:
    global generator
    generator = Generator()  # the parent's process stays the parent's


os.register_at_fork(after_in_child=_after_fork)
atexit.register(lambda: generator.close())
