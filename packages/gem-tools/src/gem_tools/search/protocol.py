"""What goes over the wire between a search client and a search server, as msgpack or JSON.

A request is ``{"query": str, "topk": int, "return_scores": bool}``, or has ``"queries"``, a list of them. The answer is
``{"result": [{"document": {"id", "contents"}, "score"}, ...]}``, a list of such lists for several queries. The first
line of ``contents`` is the title.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gem_tools.search.retriever import Hit, require

Encoding = Literal["msgpack", "json"]

MEDIA_TYPES: dict[Encoding, str] = {"msgpack": "application/msgpack", "json": "application/json"}
#: Bounds of a request.
MAX_TOPK, MAX_QUERIES = 1000, 1000


@dataclass(frozen=True)
class Request:
    """A search as it was asked for."""

    queries: list[str]
    topk: int | None
    return_scores: bool
    #: Whether the answer is one list, or a list of lists.
    single: bool


def encoding_of(body: bytes) -> Encoding:
    """How a message is written: JSON begins with a bracket or a blank, which begins no map or list of msgpack."""
    return "json" if body[:1] in (b"{", b"[", b" ", b"\n", b"\r", b"\t") else "msgpack"


def write_request(query: str, topk: int, encoding: Encoding) -> bytes:
    """The published request: one query, with scores."""
    query = query.encode("utf-8", "replace").decode("utf-8")
    return _pack({"query": query, "topk": topk, "return_scores": True}, encoding)


def read_request(body: bytes) -> Request:
    """A request, in either encoding.

    Raises:
        ValueError: it is none; the message says what is wrong with it.
    """
    message = _unpack(body)
    if not isinstance(message, dict):
        raise ValueError("a request is a map with 'query'")
    single = message.get("query") is not None
    queries = [message["query"]] if single else message.get("queries")
    if not isinstance(queries, list) or not all(isinstance(query, str) for query in queries):
        raise ValueError("'query' must be a text, or 'queries' a list of texts")
    if len(queries) > MAX_QUERIES:
        raise ValueError(f"at most {MAX_QUERIES} queries in a request, got {len(queries)}")
    topk = message.get("topk") or None  # 0 and null: the server's default, as published
    if topk is not None and (not isinstance(topk, int) or isinstance(topk, bool) or not 1 <= topk <= MAX_TOPK):
        raise ValueError(f"'topk' must be a number from 1 to {MAX_TOPK}, got {topk!r:.40}")
    return Request(queries, topk, bool(message.get("return_scores", False)), single)


def write_response(request: Request, results: list[list[Hit]], encoding: Encoding) -> bytes:
    """The answer to a request."""
    lists = [
        [
            {
                "document": {"id": hit.id, "contents": f"{hit.title}\n{hit.text}"},
                "score": hit.score if request.return_scores else None,
            }
            for hit in hits
        ]
        for hits in results
    ]
    return _pack({"result": lists[0] if request.single else lists}, encoding)


def read_response(body: bytes) -> list[Hit]:
    """The hits of an answer to one query, from this server or another that speaks the protocol.

    Raises:
        ValueError: it is no such answer.
    """
    message = _unpack(body)
    result = message.get("result") if isinstance(message, dict) else None
    if isinstance(result, list) and len(result) == 1 and isinstance(result[0], list):
        result = result[0]
    if not isinstance(result, list):
        raise ValueError("there is no list 'result'")
    return [_hit(item) for item in result]


def _hit(item: Any) -> Hit:
    if not isinstance(item, Mapping):
        raise ValueError("a document is not a map")
    document = item.get("document", item)
    if not isinstance(document, Mapping):
        raise ValueError("a document is not a map")
    title, contents = document.get("title"), document.get("contents", document.get("text"))
    if not isinstance(contents, str):
        raise ValueError("a document has no text 'contents'")
    if isinstance(title, str):
        text = contents.removeprefix(f"{title}\n")
    else:
        title, _, text = contents.partition("\n")
    score = item.get("score")
    return Hit(
        str(document.get("id", "")), title, text, float(score) if isinstance(score, int | float) else float("nan")
    )


def _pack(message: Any, encoding: Encoding) -> bytes:
    if encoding == "json":
        return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    packed: bytes = require("msgpack").packb(message, unicode_errors="replace")
    return packed


def _unpack(body: bytes) -> Any:
    if encoding_of(body) == "json":
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not JSON: {error}") from None
    msgpack = require("msgpack")
    try:
        return msgpack.unpackb(body, unicode_errors="replace", strict_map_key=False)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise ValueError(f"neither JSON nor msgpack: {error or type(error).__name__}") from None
