"""The server: protocol, batches, bounds, and how it ends."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import threading
import time
from urllib.parse import urlsplit

import msgpack
import pytest

import gem_tools.search.server as module
from gem_tools.search import Hit, HttpRetriever, SearchError
from gem_tools.search.server import Batcher, Overloaded, make_app


def post(url, body, headers=None, path="/retrieve", method="POST"):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.getheader("content-type"), response.read()
    finally:
        connection.close()


def test_the_published_message(server):
    """Byte for byte what the published client sends, which names no content type."""
    body = b"\x83\xa5query\xa6France\xa4topk\x01\xadreturn_scores\xc3"
    status, kind, answer = post(server, body)
    assert (status, kind) == (200, "application/msgpack")
    ((document, score),) = [(item["document"], item["score"]) for item in msgpack.unpackb(answer)["result"]]
    assert document == {"id": "p", "contents": "Paris\nParis is the capital of France."}
    assert score > 0


def test_json_and_several_queries(server):
    status, kind, answer = post(server, json.dumps({"queries": ["France", "nosuch"], "topk": 2}))
    assert (status, kind) == (200, "application/json")
    first, second = json.loads(answer)["result"]
    assert (first[0]["document"]["id"], first[0]["score"], second) == ("p", None, [])
    assert len(json.loads(post(server, json.dumps({"query": "capital"}))[2])["result"]) == 2  # the default is 10


def test_health_and_other_paths(server):
    status, _, answer = post(server, None, path="/health", method="GET")
    assert (status, json.loads(answer)) == (200, {"status": "ok", "documents": 4, "method": "bm25"})
    assert post(server, b"", path="/")[0] == 404
    assert post(server, None, method="GET")[0] == 405


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xc1", b"[]", b'{"query": 1}', b'{"query": "x", "topk": -3}', b"\x91" * 999]
)
def test_bad_requests_are_refused_in_one_line(server, body):
    status, _, answer = post(server, body)
    assert status == 400
    assert "\n" not in json.loads(answer)["error"]


def test_a_request_that_is_too_large(server):
    try:
        status = post(server, b'{"query": "' + b"x" * (3 * 2**20) + b'"}')[0]
    except (BrokenPipeError, ConnectionResetError):  # it may hang up before all of it is sent
        status = 413
    assert status == 413
    assert post(server, b'{"query": "' + b"x" * 2**20 + b'"}')[0] == 200


def test_clients_that_go_away(index, helpers):
    with helpers.serving(str(index)) as (url, process):
        parts = urlsplit(url)
        line = b"POST /retrieve HTTP/1.1\r\n"
        for sent in (b"", line, line + b"host: x\r\ncontent-length: 9\r\n\r\n{"):
            with socket.create_connection((parts.hostname, parts.port)) as client:
                client.sendall(sent)
        assert post(url, b'{"query": "France"}')[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("stopped\n", "")  # and no traceback


def test_many_at_once(server):
    retriever, wrong = HttpRetriever(server, timeout=60), []
    expected = {query: retriever.search([query], 2) for query in ("France", "capital", "zebra", "nosuch")}

    def work():
        try:
            for query, hits in list(expected.items()) * 3:
                if retriever.search([query], 2) != hits:
                    wrong.append(query)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_how_it_ends(index, helpers, how):
    with helpers.serving(str(index), "--topk", "1") as (url, process):
        assert len(json.loads(post(url, b'{"query": "capital"}')[2])["result"]) == 1
        process.send_signal(how)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (0 if how == signal.SIGINT else -signal.SIGTERM, "")
        assert out == ("stopped\n" if how == signal.SIGINT else "")
        with pytest.raises(OSError, match="refused"):
            post(url, b"{}")


def test_killed_while_it_is_asked(index, helpers):
    with helpers.serving(str(index)) as (url, process):
        retriever = HttpRetriever(url, timeout=20)
        retriever.search(["France"], 1)
        process.send_signal(signal.SIGSTOP)
        threading.Timer(0.2, process.send_signal, (signal.SIGKILL,)).start()
        with pytest.raises(SearchError, match=r"broke off|cannot be reached"):
            retriever.search(["France"], 1)


# -- batches ----------------------------------------------------------------------------------------------


class Slow:
    """Waits until it is let go, and notes what it was given together."""

    def __init__(self):
        self.batches, self.go, self.error = [], threading.Event(), None

    def search(self, queries, topk, *, timeout=None):
        self.batches.append((list(queries), topk))
        self.go.wait(20)
        if self.error is not None:
            raise self.error
        return [[Hit(query, "", query, 1.0)] for query in queries]


def batching(scenario, **options):
    async def run():
        retriever = Slow()
        batcher = Batcher(retriever, workers=1, **options)
        try:
            await asyncio.wait_for(scenario(batcher, retriever), 30)
        finally:
            retriever.go.set()
            batcher.close()

    asyncio.run(run())


async def start(batcher, *requests):
    """Searches under way, after each of them has been taken or queued."""
    tasks = []
    for queries, topk in requests:
        tasks.append(asyncio.ensure_future(batcher.search(queries, topk)))
        await asyncio.sleep(0.01)
    return tasks


def test_what_waits_goes_together():
    async def scenario(batcher, retriever):
        tasks = await start(batcher, (["a"], 1), (["b"], 1), (["c", "d"], 1), (["e"], 2), (["f"], 1))
        retriever.go.set()
        results = await asyncio.gather(*tasks)
        assert [[hits[0].id for hits in result] for result in results] == [["a"], ["b"], ["c", "d"], ["e"], ["f"]]
        assert retriever.batches == [(["a"], 1), (["b", "c", "d"], 1), (["e"], 2), (["f"], 1)]

    batching(scenario)


def test_batches_are_bounded():
    async def scenario(batcher, retriever):
        tasks = await start(batcher, (["a"], 1), (["b"], 1), (["c"], 1), (["d"], 1), (list("efgh"), 1))
        retriever.go.set()
        await asyncio.gather(*tasks)
        assert [len(queries) for queries, _ in retriever.batches] == [1, 2, 1, 4]

    batching(scenario, max_batch=2)


def test_too_many_wait():
    async def scenario(batcher, retriever):
        tasks = await start(batcher, (["a"], 1), (["b"], 1), (["c"], 1))
        with pytest.raises(Overloaded):
            await batcher.search(["d"], 1)
        retriever.go.set()
        await asyncio.gather(*tasks)
        assert (await batcher.search(["d"], 1))[0][0].id == "d"

    batching(scenario, max_waiting=2)


def test_who_went_away_is_not_searched_for():
    async def scenario(batcher, retriever):
        first, second, third = await start(batcher, (["a"], 1), (["b"], 1), (["c"], 1))
        second.cancel()
        first.cancel()
        await asyncio.sleep(0)
        retriever.go.set()
        await third
        assert retriever.batches == [(["a"], 1), (["c"], 1)]

    batching(scenario)


def test_a_failing_retriever():
    async def scenario(batcher, retriever):
        retriever.error = SearchError("no")
        retriever.go.set()
        with pytest.raises(SearchError, match="no"):
            await batcher.search(["a"], 1)
        retriever.error = None
        assert await batcher.search(["b"], 1)

    batching(scenario)


def test_what_the_server_says_of_failures(monkeypatch):
    """In this process, through ASGI: status and reason for each kind of failure."""
    import httpx

    class Failing:
        error: Exception = SearchError("the model is gone")

        def search(self, queries, topk, *, timeout=None):
            raise self.error

    async def ask(retriever, body=b'{"query": "x"}', **options):
        app = make_app(retriever, workers=1, **options)
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport) as client:
            return await client.post("http://test/retrieve", content=body)

    answer = asyncio.run(ask(Failing()))
    assert (answer.status_code, answer.json()) == (502, {"error": "the model is gone"})
    answer = asyncio.run(ask(Failing(), b"x" * 11, max_body=10))
    assert (answer.status_code, answer.json()) == (413, {"error": "a request may have 10 bytes"})

    async def for_ever():
        yield b"{"
        await asyncio.sleep(60)

    monkeypatch.setattr(module, "PATIENCE", 0.05)
    answer = asyncio.run(ask(Failing(), for_ever()))
    assert (answer.status_code, answer.json()) == (408, {"error": "the request was not complete within 0.05 s"})
    failing = Failing()
    failing.error = RuntimeError("a defect")
    assert asyncio.run(ask(failing)).status_code == 500

    async def refuse(self, queries, topk):
        raise Overloaded

    monkeypatch.setattr(module.Batcher, "search", refuse)
    assert asyncio.run(ask(Failing())).status_code == 503


def test_a_port_that_is_taken(index, helpers):
    import subprocess
    import sys

    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = subprocess.run(
            [sys.executable, "-m", "gem", "search", "serve", str(index), "--port", str(taken.getsockname()[1])],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert "Address already in use" in done.stderr
    assert done.stderr.count("\n") == 1


def test_requests_under_way_are_finished(index, helpers):
    with helpers.serving(str(index)) as (url, process):
        parts = urlsplit(url)
        body = b'{"query": "France"}'
        with socket.create_connection((parts.hostname, parts.port)) as client:
            head = b"POST /retrieve HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: %d\r\n\r\n"
            client.sendall(head % len(body))
            assert client.recv(65536).startswith(b"HTTP/1.1 100")  # it reads the request now
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            client.sendall(body)
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
        process.communicate(timeout=30)
        assert process.returncode == 0
