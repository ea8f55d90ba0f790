"""The time limit around calls of environments."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from gem.testing.guard import Hang, time_limit


def test_what_sleeps_is_interrupted_in_the_main_thread():
    with pytest.raises(Hang), time_limit(0.05):
        time.sleep(60)


def test_what_computes_is_interrupted_in_any_thread():
    caught = []

    def run() -> None:
        try:
            with time_limit(0.05):
                while True:
                    pass
        except Hang:
            caught.append(True)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert caught


def test_what_ends_in_time_is_left_alone_and_nothing_stays():
    handler, timer = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    with time_limit(3600):
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 3600
    assert signal.getsignal(signal.SIGALRM) is handler
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) == (timer[0] > 0)
    threads = threading.active_count()
    worker = threading.Thread(target=lambda: time_limit(5).__enter__ and None)
    worker.start()
    worker.join()
    assert threading.active_count() == threads


def test_an_outer_timer_goes_on():
    fired = []
    handler = signal.signal(signal.SIGALRM, lambda number, frame: fired.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30)
        with time_limit(5):
            pass
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
