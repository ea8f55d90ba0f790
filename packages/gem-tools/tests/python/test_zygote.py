"""What the warm interpreter does at a fork. What it does for programs is in the tests of executors and isolation."""

from __future__ import annotations

import os

import pytest

from gem_tools.python.zygote import Server


@pytest.fixture
def server():
    """A server that serves nobody."""
    server = Server.__new__(Server)
    server.processors = os.sched_getaffinity(0)
    return server


def test_a_fork_begins_where_we_are_and_may_go_anywhere(server):
    before, seen = os.sched_getaffinity(0), []

    def fork():
        seen.append(os.sched_getaffinity(0))
        return 7

    assert server.fork(fork) == 7
    assert len(seen[0]) == 1
    assert seen[0] <= before
    assert os.sched_getaffinity(0) == before


def test_processors_that_are_taken_away_are_no_failure(server, monkeypatch):
    def refuse(pid, processors):
        raise OSError("not yours")

    server.processors = {0, 1}
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert server.fork(lambda: 7) == 7
    assert server.processors == set()


def test_a_fork_that_fails_says_why(server, monkeypatch):
    def fail():
        raise BlockingIOError("no more processes")

    before = os.sched_getaffinity(0)
    monkeypatch.setattr(os, "fork", fail)
    with pytest.raises(BlockingIOError, match="no more processes"):
        server.fork(lambda: -1)
    assert os.sched_getaffinity(0) == before
