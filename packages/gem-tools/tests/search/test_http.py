"""Requests: time limits, connections, addresses."""

from __future__ import annotations

import threading
import time

import pytest

from gem_tools.search import http
from gem_tools.search.retriever import SearchError


def get(url, timeout=5.0):
    return http.run(http.request("GET", url, name="the server"), timeout, "the server")


def test_an_answer(raw_server, helpers):
    url, requests = raw_server(lambda c, _: c.sendall(helpers.answer(b"hello", "418 Teapot")))
    assert get(url) == (418, b"hello")
    assert requests[0].startswith(b"GET /retrieve HTTP/1.1")


def test_nobody_there_is_tried_again(monkeypatch):
    pauses = []
    real = http.asyncio.sleep

    async def sleep(seconds):
        pauses.append(seconds)
        await real(0)

    monkeypatch.setattr(http.asyncio, "sleep", sleep)
    with pytest.raises(SearchError, match="the server cannot be reached"):
        get("http://127.0.0.1:9/")
    assert pauses == [0.1, 0.2]


def test_a_server_that_dies_is_not_asked_twice(raw_server):
    url, requests = raw_server(lambda c, _: c.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhal"))
    with pytest.raises(SearchError, match=r"the server broke off \(RemoteProtocolError\)"):
        get(url)
    url, silent = raw_server(lambda c, _: None)
    with pytest.raises(SearchError, match="the server broke off"):
        get(url)
    assert (len(requests), len(silent)) == (1, 1)


@pytest.mark.parametrize("prelude", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n"])
def test_a_slow_server_is_cut_off_however_it_drips(raw_server, prelude):
    gone = threading.Event()

    def drip(connection, _):
        connection.sendall(prelude)
        try:
            for _ in range(100):
                connection.sendall(b"H")
                time.sleep(0.02)
                if gone.is_set():
                    return
        except OSError:
            gone.set()

    url, _ = raw_server(drip)
    with pytest.raises(SearchError, match=r"the server did not answer within 0\.2 s"):
        get(url, timeout=0.2)
    gone.set()


def test_an_endless_answer_is_not_kept(raw_server, monkeypatch):
    monkeypatch.setattr(http, "MAX_ANSWER", 100_000)

    def flood(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    url, _ = raw_server(flood)
    with pytest.raises(SearchError, match="more than 100000 bytes"):
        get(url)


def test_one_loop_for_all_threads(raw_server, helpers):
    url, requests = raw_server(lambda c, _: c.sendall(helpers.answer(b"x")))
    got = []
    threads = [threading.Thread(target=lambda: got.append(get(url))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [(200, b"x")] * 16
    assert len(requests) == 16
    assert sum(thread.name == "gem-search" for thread in threading.enumerate()) == 1


def test_together_cancels_what_is_left():
    ended = []

    async def slow():
        try:
            await http.asyncio.sleep(60)
        finally:
            ended.append("slow")

    async def bad():
        await http.asyncio.sleep(0.01)
        raise SearchError("no")

    with pytest.raises(SearchError, match="no"):
        http.run(http.together([slow(), bad()]), 5.0, "x")
    assert ended == ["slow"]


def test_places_show_no_secrets():
    assert http.place("http://me:word@host:81/path?key=1#x") == "http://host:81/path"
    assert http.place("https://[::1]:8/x") == "https://[::1]:8/x"
    for bad in ("host:80", "ftp://x/", "http://", "http://[", "http://x:99999/", ""):
        with pytest.raises(ValueError, match="URL"):
            http.place(bad)
