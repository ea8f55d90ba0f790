"""The client: protocol, faults, processes."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import threading

import msgpack
import pytest

import gem
from gem_tools.search import HttpRetriever, Retriever, SearchError, retriever as retriever_module


def reply(helpers, message, status="200 OK"):
    body = msgpack.packb(message) if not isinstance(message, bytes) else message
    return lambda connection, _: connection.sendall(helpers.answer(body, status))


RESULT = {"result": [{"document": {"contents": '"Paris"\nIn France.'}, "score": 0.5}] * 4}


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
def test_what_is_sent(raw_server, helpers, encoding):
    url, requests = raw_server(reply(helpers, RESULT))
    retriever = HttpRetriever(url, encoding=encoding, headers={"authorization": "Bearer k"})
    assert isinstance(retriever, Retriever)
    (hits,) = retriever.search(["where is Paris?"], 2)
    assert [hit[1:] for hit in hits] == [('"Paris"', "In France.", 0.5)] * 2  # a server may not heed topk
    head, _, body = requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /retrieve HTTP/1.1")
    assert b"authorization: Bearer k" in head
    assert f"content-type: application/{encoding}".encode() in head
    read = msgpack.unpackb if encoding == "msgpack" else json.loads
    assert read(body) == {"query": "where is Paris?", "topk": 2, "return_scores": True}


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
def test_against_our_server(server, index, encoding):
    from gem_tools.search import IndexRetriever

    queries = ["the capital of France", "日本", "\ud800 zebra", "", "x" * 100_000]
    assert HttpRetriever(server, encoding=encoding).search(queries, 3) == IndexRetriever(index).search(
        [query.encode("utf-8", "replace").decode() for query in queries], 3
    )
    assert HttpRetriever(server).search([], 3) == []


@pytest.mark.parametrize(
    ("message", "status", "error"),
    [
        (b"overloaded\n now", "503 Busy", "answers 503: overloaded now"),
        (b"", "500 Oops", "answers 500: no reason given"),
        (b"<html>", "200 OK", "answers what is no search result"),
        ({"result": None}, "200 OK", "answers what is no search result: there is no list 'result'"),
        (b"", "302 Found", "answers 302"),
    ],
)
def test_answers_that_are_none(raw_server, helpers, message, status, error):
    url, requests = raw_server(reply(helpers, message, status))
    with pytest.raises(SearchError, match=error) as caught:
        HttpRetriever(url).search(["x"], 1)
    assert "\n" not in str(caught.value)
    assert len(requests) == 1


def test_limits_of_time(raw_server):
    hold = threading.Event()
    url, _ = raw_server(lambda c, _: hold.wait(10))
    with pytest.raises(SearchError, match=r"/retrieve did not answer within 0\.1 s"):
        HttpRetriever(url, timeout=0.1).search(["x"], 1)
    with pytest.raises(SearchError, match=r"did not answer within 0\.05 s"):
        HttpRetriever(url, timeout=60).search(["x", "y"], 1, timeout=0.05)
    hold.set()


def test_addresses():
    assert HttpRetriever("http://host:8000").url == "http://host:8000/retrieve"
    assert HttpRetriever("http://host:8000/").url == "http://host:8000/retrieve"
    assert HttpRetriever("http://host/other?a=b").url == "http://host/other?a=b"
    with pytest.raises(ValueError, match="begins with http:// or https://"):
        HttpRetriever("localhost:8000")
    with pytest.raises(ValueError, match="'msgpack' or 'json', got 'xml'"):
        HttpRetriever("http://x", encoding="xml")
    with pytest.raises(SearchError) as caught:
        HttpRetriever("http://me:secret@127.0.0.1:9/x?key=secret").search(["x"], 1)
    assert "secret" not in str(caught.value) + repr(HttpRetriever("http://me:secret@h/?key=secret"))


def test_missing_packages(monkeypatch):
    def missing(module):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(retriever_module, "import_module", missing)
    with pytest.raises(gem.MissingDependency, match=r"httpx, .*: pip install 'gem-tools\[search\]'"):
        HttpRetriever("http://x")


def ask(retriever, queue):
    queue.put(retriever.search(["France"], 1))


def test_other_processes(server):
    retriever = HttpRetriever(server)
    expected = retriever.search(["France"], 1)  # the loop runs before the fork, which does not inherit it
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=ask, args=(retriever, queue), daemon=True)
    process.start()
    assert queue.get(timeout=60) == expected
    process.join()
    assert pickle.loads(pickle.dumps(retriever)).search(["France"], 1) == expected
