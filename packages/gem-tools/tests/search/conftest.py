"""A small corpus, its index, and servers that go away with the test."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gem_tools.search import build_index

ROWS = [
    {"id": "p", "title": "Paris", "contents": "Paris\nParis is the capital of France."},
    {"id": "r", "title": "Rome", "contents": "Rome\nRome is the capital of Italy."},
    {"id": "z", "title": "Zebra", "contents": "Zebra\nZebras run in herds over the savanna."},
    {"id": "t", "title": "東京", "contents": "東京\n東京は日本の首都です。"},
]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture(scope="session")
def index(corpus: Path, tmp_path_factory) -> Path:
    """Read it; tests that write build their own."""
    folder = tmp_path_factory.mktemp("index") / "small"
    build_index(corpus, folder)
    return folder


@pytest.fixture(autouse=True)
def _no_search_variables(monkeypatch):
    for name in ("GEM_SEARCH", "SEARCH_URL", "SERPAPI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CSE_ID"):
        monkeypatch.delenv(name, raising=False)


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """``gem search serve`` on a free port: its URL and its process, which is ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gem", "search", "serve", *arguments, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        assert " at http://" in line, process.stderr.read()
        yield line.split(" at ")[1].split(";")[0], process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.fixture(scope="session")
def server(index: Path) -> Iterator[str]:
    with serving(str(index)) as (url, _):
        yield url


Behaviour = Callable[[socket.socket, bytes], None]


@pytest.fixture
def raw_server() -> Iterator[Callable[[Behaviour], tuple[str, list[bytes]]]]:
    """A server that does as it is told with each connection: its URL, and the requests that came in."""
    stop = threading.Event()
    listening: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def start(behaviour: Behaviour) -> tuple[str, list[bytes]]:
        requests: list[bytes] = []
        door = socket.create_server(("127.0.0.1", 0))
        door.settimeout(0.05)
        listening.append(door)

        def one(connection: socket.socket) -> None:
            with connection, contextlib.suppress(OSError):
                connection.settimeout(5.0)
                requests.append(_read_request(connection))
                behaviour(connection, requests[-1])

        def loop() -> None:
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    connection, _ = door.accept()
                    threads.append(threading.Thread(target=one, args=(connection,)))
                    threads[-1].start()

        threads.append(threading.Thread(target=loop))
        threads[-1].start()
        return f"http://127.0.0.1:{door.getsockname()[1]}/retrieve", requests

    yield start
    stop.set()
    for thread in threads:
        thread.join()
    for door in listening:
        door.close()


def _read_request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65536)
        if not chunk:
            return received
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(h.split(b":")[1]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def answer(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body


@pytest.fixture
def helpers():
    """The functions above, for test modules: they are not importable from each other."""

    class Helpers:
        pass

    Helpers.serving = staticmethod(serving)
    Helpers.answer = staticmethod(answer)
    Helpers.rows = ROWS
    Helpers.open_files = staticmethod(lambda: len(os.listdir("/proc/self/fd")))
    return Helpers
