"""The client of a search server."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from gem_tools.search.http import place, request, run, together
from gem_tools.search.protocol import MEDIA_TYPES, Encoding, read_response, write_request
from gem_tools.search.retriever import Hit, SearchError, require


class HttpRetriever:
    """Asks a server that speaks :mod:`gem_tools.search.protocol`: ``gem search serve``, or any other.

    A request is repeated only where no connection came about. Thread-safe, and it can be pickled.

    Args:
        url: where requests are posted; ``/retrieve`` where it names no path.
        timeout: seconds for an answer, connecting included, where a search states no other.
        encoding: ``"msgpack"``, as published, or ``"json"``.
        headers: sent with every request, for servers that want a key.

    Raises:
        ValueError: the URL or the encoding is none.
        gem.MissingDependency: httpx or msgpack is not installed.
    """

    def __init__(
        self, url: str, timeout: float = 5.0, encoding: Encoding = "msgpack", headers: dict[str, str] | None = None
    ) -> None:
        if encoding not in MEDIA_TYPES:
            raise ValueError(f"encoding must be 'msgpack' or 'json', got {encoding!r}")
        place(url)
        parts = urlsplit(url)
        self.url = urlunsplit(parts._replace(path="/retrieve")) if parts.path in ("", "/") else url
        self.timeout = timeout
        self.encoding: Encoding = encoding
        self.headers = {**(headers or {}), "content-type": MEDIA_TYPES[encoding]}
        self._name = f"the search server at {place(self.url)}"
        require("httpx")
        if encoding == "msgpack":
            require("msgpack")

    def search(self, queries: list[str], topk: int, *, timeout: float | None = None) -> list[list[Hit]]:
        # One query a request: that is all the published servers take.
        asked = together(self._one(query, topk) for query in queries)
        return run(asked, self.timeout if timeout is None else timeout, self._name)

    async def _one(self, query: str, topk: int) -> list[Hit]:
        body = write_request(query, topk, self.encoding)
        status, answer = await request("POST", self.url, name=self._name, content=body, headers=self.headers)
        if status != 200:
            raise SearchError(f"{self._name} answers {status}: {_reason(answer)}")
        try:
            return read_response(answer)[:topk]
        except ValueError as error:
            raise SearchError(f"{self._name} answers what is no search result: {error}") from None

    def __deepcopy__(self, memo: object) -> HttpRetriever:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return HttpRetriever, (self.url, self.timeout, self.encoding, self.headers)

    def __repr__(self) -> str:
        return f"<HttpRetriever {place(self.url)}>"


def _reason(answer: bytes) -> str:
    return " ".join(answer[:200].decode("utf-8", "replace").split()) or "no reason given"
