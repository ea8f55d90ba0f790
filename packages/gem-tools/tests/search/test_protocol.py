"""The wire: what the published client sends and reads, and whatever else may arrive."""

from __future__ import annotations

import contextlib
import json
import math

import msgpack
import pytest
from hypothesis import example, given, settings, strategies as st

from gem_tools.search.protocol import (
    encoding_of,
    read_request,
    read_response,
    write_request,
    write_response,
)
from gem_tools.search.retriever import Hit

HITS = [Hit("7", "Paris", "The capital\nof France.", 2.5), Hit("8", "", "no title", 1.0)]


def pack(message, encoding):
    return msgpack.packb(message) if encoding == "msgpack" else json.dumps(message).encode()


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
def test_requests(encoding):
    body = pack({"query": "café", "topk": 3, "return_scores": True}, encoding)
    assert encoding_of(body) == encoding
    request = read_request(body)
    assert (request.queries, request.topk, request.return_scores, request.single) == (["café"], 3, True, True)
    request = read_request(pack({"queries": ["a", "b"]}, encoding))
    assert (request.queries, request.topk, request.return_scores, request.single) == (["a", "b"], None, False, False)
    assert read_request(pack({"query": "a", "topk": 0}, encoding)).topk is None  # the default, as published
    assert read_request(write_request("x\ud800", 5, encoding)).queries == ["x?"]


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ([1], "a request is a map"),
        ({}, "'query' must be a text"),
        ({"query": 3}, "'query' must be a text"),
        ({"queries": "abc"}, "'queries' a list of texts"),
        ({"queries": ["a", None]}, "'queries' a list of texts"),
        ({"queries": ["a"] * 1001}, "at most 1000 queries"),
        ({"query": "a", "topk": -1}, "from 1 to 1000, got -1"),
        ({"query": "a", "topk": 10**9}, "from 1 to 1000"),
        ({"query": "a", "topk": "3"}, "from 1 to 1000, got '3'"),
        ({"query": "a", "topk": True}, "from 1 to 1000, got True"),
    ],
)
def test_bad_requests(encoding, message, reason):
    with pytest.raises(ValueError, match=reason):
        read_request(pack(message, encoding))


VALUES = st.none() | st.text(max_size=5) | st.integers(-5, 5) | st.lists(st.text(max_size=5), max_size=3)
MESSAGES = st.dictionaries(st.sampled_from(["query", "queries", "topk", "result", "return_scores"]), VALUES)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda b: b"{" + b) | MESSAGES.map(msgpack.packb))
@example(b"[" * 100_000)
@example(b"\x91" * 100_000)
def test_fuzzed_messages(body):
    for read in (read_request, read_response):
        with contextlib.suppress(ValueError):
            read(body)


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
def test_responses(encoding):
    request = read_request(pack({"query": "a", "return_scores": True}, encoding))
    body = write_response(request, [HITS], encoding)
    assert read_response(body) == HITS
    message = msgpack.unpackb(body) if encoding == "msgpack" else json.loads(body)
    assert message["result"][0] == {
        "document": {"id": "7", "contents": "Paris\nThe capital\nof France."}, "score": 2.5
    }  # fmt: skip
    request = read_request(pack({"queries": ["a", "b"]}, encoding))
    body = write_response(request, [HITS, []], encoding)
    message = msgpack.unpackb(body) if encoding == "msgpack" else json.loads(body)
    assert [len(hits) for hits in message["result"]] == [2, 0]
    assert message["result"][0][0]["score"] is None


def test_answers_of_other_servers():
    body = json.dumps({"result": [[{"id": 3, "title": "T", "text": "x"}, {"contents": "one line"}]]}).encode()
    first, second = read_response(body)
    assert first[:3] == ("3", "T", "x")
    assert second[:3] == ("", "one line", "")
    assert math.isnan(first.score)
    for message in ({}, [], {"result": 3}, {"result": [3]}, {"result": [{"document": 3}]}, {"result": [{"id": 1}]}):
        with pytest.raises(ValueError, match=r"result|document"):
            read_response(json.dumps(message).encode())
