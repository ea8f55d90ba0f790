"""Web search: SerpApi and Google's Programmable Search, each behind a key."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from gem_tools.search.http import place, request, run, together
from gem_tools.search.retriever import Hit, SearchError, require

#: Longer queries do not fit into a URL.
_QUERY_CHARACTERS = 1000


class WebRetriever:
    """What the services have in common. Thread-safe, and it can be pickled. Errors never show a key."""

    #: What it is called in errors.
    name = ""

    def __init__(self, base_url: str, timeout: float) -> None:
        place(base_url)
        self.base_url = base_url
        self.timeout = timeout
        require("httpx")

    def search(self, queries: list[str], topk: int, *, timeout: float | None = None) -> list[list[Hit]]:
        asked = together(self._one(query, topk) for query in queries)
        return run(asked, self.timeout if timeout is None else timeout, self.name)

    async def _one(self, query: str, topk: int) -> list[Hit]:
        query = " ".join(query.encode("utf-8", "replace").decode("utf-8").split())[:_QUERY_CHARACTERS]
        if not query:
            return []
        parameters = self._parameters(query, topk)
        status, answer = await request("GET", self.base_url, name=self.name, params=parameters)
        try:
            message = json.loads(answer)
        except (ValueError, RecursionError):
            message = None
        if status != 200:
            raise SearchError(f"{self.name} answers {status}{self._without_keys(_error_of(message))}")
        if not isinstance(message, dict):
            raise SearchError(f"{self.name} answers what is no search result")
        return [Hit(link, title, text, 1.0 / rank) for rank, (link, title, text) in enumerate(self._found(message), 1)][
            :topk
        ]

    def _parameters(self, query: str, topk: int) -> dict[str, Any]:
        """The parameters of a request."""
        raise NotImplementedError

    def _found(self, message: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
        """Link, title and text of what an answer holds, best first."""
        raise NotImplementedError

    def _secrets(self) -> list[str]:
        raise NotImplementedError

    def _without_keys(self, text: str) -> str:
        for secret in self._secrets():
            text = text.replace(secret, "***")
        return text

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class SerpApiRetriever(WebRetriever):
    """SerpApi (serpapi.com): the answer box first, then results, then related questions.

    Args:
        api_key: by default that of the environment variable ``SERPAPI_API_KEY``.
        engine: which search engine it asks.
        base_url, timeout: where, and seconds for an answer.

    Raises:
        ValueError: there is no key.
    """

    name = "SerpApi"

    def __init__(
        self,
        api_key: str | None = None,
        engine: str = "google",
        base_url: str = "https://serpapi.com/search",
        timeout: float = 5.0,
    ) -> None:
        super().__init__(base_url, timeout)
        self._key = _key(api_key, "SERPAPI_API_KEY", "api_key")
        self.engine = engine

    def _parameters(self, query: str, topk: int) -> dict[str, Any]:
        return {"engine": self.engine, "q": query, "num": min(topk, 100), "api_key": self._key, "output": "json"}

    def _found(self, message: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
        box = message.get("answer_box")
        if isinstance(box, dict) and (text := _text(box, "answer") or _text(box, "snippet")):
            yield _text(box, "link"), _text(box, "title"), text
        for section, title in (("organic_results", "title"), ("related_questions", "question")):
            for item in _items(message, section):
                yield _text(item, "link"), _text(item, title), _text(item, "snippet")

    def _secrets(self) -> list[str]:
        return [self._key]


class GoogleRetriever(WebRetriever):
    """Google's Programmable Search (the Custom Search JSON API): at most 10 results.

    Args:
        api_key: by default that of the environment variable ``GOOGLE_API_KEY``.
        cse_id: the search engine's id, by default that of ``GOOGLE_CSE_ID``.
        base_url, timeout: where, and seconds for an answer.

    Raises:
        ValueError: there is no key, or no id.
    """

    name = "Google"

    def __init__(
        self,
        api_key: str | None = None,
        cse_id: str | None = None,
        base_url: str = "https://www.googleapis.com/customsearch/v1",
        timeout: float = 5.0,
    ) -> None:
        super().__init__(base_url, timeout)
        self._key = _key(api_key, "GOOGLE_API_KEY", "api_key")
        self._engine_id = _key(cse_id, "GOOGLE_CSE_ID", "cse_id")

    def _parameters(self, query: str, topk: int) -> dict[str, Any]:
        return {"key": self._key, "cx": self._engine_id, "q": query, "num": min(topk, 10)}

    def _found(self, message: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
        for item in _items(message, "items"):
            yield _text(item, "link"), _text(item, "title"), _text(item, "snippet")

    def _secrets(self) -> list[str]:
        return [self._key, self._engine_id]


def _key(given: str | None, variable: str, option: str) -> str:
    key = given or os.environ.get(variable)
    if not key:
        raise ValueError(f"no key: pass {option}=..., or set {variable}")
    return key


def _items(message: dict[str, Any], section: str) -> list[dict[str, Any]]:
    items = message.get(section)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value.strip() if isinstance(value, str) else ""


def _error_of(message: Any) -> str:
    """What an error answer says, in one line; SerpApi gives a text, Google a map with ``message``."""
    error = message.get("error") if isinstance(message, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return f": {' '.join(error.split())[:200]}" if isinstance(error, str) else ""
