"""A time limit around a call, so that an environment that hangs is reported instead of hanging its checks."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Hang(BaseException):
    """The limit passed. Not an ``Exception``: the environment's own handlers must not swallow it."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`Hang` in the calling thread when the body takes longer.

    In the main thread the timer signal also interrupts sleeping and waiting. Elsewhere, and where there is no such
    signal, only Python code is interrupted: a call that never returns to it stays.
    """
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        with _by_signal(seconds):
            yield
    else:
        with _by_watchdog(seconds):
            yield


@contextlib.contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Hang

    # Only SIGALRM's own handler is set back: the handlers the environment changed are what is being looked for.
    handler = signal.signal(signal.SIGALRM, interrupt)
    remaining, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining)
        signal.signal(signal.SIGALRM, handler)


@contextlib.contextmanager
def _by_watchdog(seconds: float) -> Iterator[None]:
    target = ctypes.c_ulong(threading.get_ident())
    lock = threading.Lock()  # held by whichever of body and watchdog comes first to the end
    over = False

    def interrupt() -> None:
        with lock:
            if not over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(Hang))

    watchdog = threading.Timer(seconds, interrupt)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        with lock:
            over = True
        watchdog.cancel()
        watchdog.join()
