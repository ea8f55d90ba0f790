"""One executor for all who ask for the same: a thousand environments share a pool as wide as the machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

from gem_tools.python.executor import Executor

_executors: dict[tuple[int, str], Executor] = {}
_lock = threading.Lock()


def shared_executor(**settings: Any) -> Executor:
    """The executor with these settings (those of :class:`Executor`), made when first asked for and kept."""
    key = (os.getpid(), repr(sorted((k, _plain(v)) for k, v in settings.items())))
    with _lock:
        if key not in _executors:
            _executors[key] = Executor(**settings)
        return _executors[key]


def restore_executor(settings: dict[str, Any]) -> Executor:
    """What a pickled or deep-copied executor becomes: the shared one with its settings."""
    return shared_executor(**settings)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return sorted(value.items())
    return list(value) if isinstance(value, list | tuple) else value


def _new_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_new_lock)
