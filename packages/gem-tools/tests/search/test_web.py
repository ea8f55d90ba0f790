"""SerpApi and Google, against servers that answer as they do."""

from __future__ import annotations

import json
import pickle
from urllib.parse import parse_qs, urlsplit

import pytest

from gem_tools.search import GoogleRetriever, Retriever, SearchError, SerpApiRetriever

SERPAPI = {
    "search_metadata": {"status": "Success"},
    "answer_box": {"type": "organic_result", "title": "Box", "answer": "Paris", "link": "https://a"},
    "organic_results": [
        {"position": 1, "title": "First", "link": "https://b", "snippet": "One."},
        {"position": 2, "title": "Second", "link": "https://c"},
        "odd",
    ],
    "related_questions": [{"question": "Why?", "snippet": "Because.", "title": "unused", "link": "https://d"}],
}
GOOGLE = {
    "kind": "customsearch#search",
    "items": [
        {"title": "First", "link": "https://b", "snippet": "One."},
        {"title": "Second", "link": "https://c", "snippet": "Two."},
    ],
}


def parameters(request):
    return {key: value[0] for key, value in parse_qs(urlsplit(request.split()[1].decode()).query).items()}


def test_serpapi(raw_server, helpers):
    url, requests = raw_server(lambda c, _: c.sendall(helpers.answer(json.dumps(SERPAPI).encode())))
    retriever = SerpApiRetriever("k3y", base_url=url)
    assert isinstance(retriever, Retriever)
    (hits,) = retriever.search(['"capital" of\nFrance & more'], 10)
    assert [hit[:3] for hit in hits] == [
        ("https://a", "Box", "Paris"), ("https://b", "First", "One."), ("https://c", "Second", ""),
        ("https://d", "Why?", "Because."),
    ]  # fmt: skip
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert parameters(requests[0]) == {
        "engine": "google", "q": '"capital" of France & more', "num": "10", "api_key": "k3y", "output": "json"
    }  # fmt: skip
    assert len(retriever.search(["x"], 1)[0]) == 1
    assert pickle.loads(pickle.dumps(retriever)).search(["x"], 2) == retriever.search(["x"], 2)


def test_google(raw_server, helpers, monkeypatch):
    url, requests = raw_server(lambda c, _: c.sendall(helpers.answer(json.dumps(GOOGLE).encode())))
    monkeypatch.setenv("GOOGLE_API_KEY", "k3y")
    monkeypatch.setenv("GOOGLE_CSE_ID", "cx1")
    first, second = GoogleRetriever(base_url=url).search(["a", "b" * 5000], 20)
    assert [hit[:3] for hit in first] == [("https://b", "First", "One."), ("https://c", "Second", "Two.")]
    assert first == second
    sent = sorted((parameters(request) for request in requests), key=lambda p: p["q"])
    assert sent[0] == {"key": "k3y", "cx": "cx1", "q": "a", "num": "10"}
    assert len(sent[1]["q"]) == 1000


@pytest.mark.parametrize("nothing", [{}, {"items": None}, {"organic_results": {}, "answer_box": []}])
def test_nothing_found(raw_server, helpers, nothing):
    url, requests = raw_server(lambda c, _: c.sendall(helpers.answer(json.dumps(nothing).encode())))
    assert SerpApiRetriever("k", base_url=url).search(["x"], 3) == [[]]
    assert GoogleRetriever("k", "c", base_url=url).search(["x"], 3) == [[]]
    assert GoogleRetriever("k", "c", base_url=url).search([" ", "\n"], 3) == [[], []]  # not asked
    assert len(requests) == 2


def test_errors_say_why_and_never_the_key(raw_server, helpers):
    body = json.dumps({"error": {"message": "API key k3y of cx1\nis not valid"}}).encode()
    url, _ = raw_server(lambda c, _: c.sendall(helpers.answer(body, "403 Forbidden")))
    with pytest.raises(SearchError, match=r"^Google answers 403: API key \*\*\* of \*\*\* is not valid$"):
        GoogleRetriever("k3y", "cx1", base_url=url).search(["x"], 1)
    url, _ = raw_server(lambda c, _: c.sendall(helpers.answer(b'{"error": "Invalid API key k3y"}', "401 No")))
    with pytest.raises(SearchError, match=r"^SerpApi answers 401: Invalid API key \*\*\*$"):
        SerpApiRetriever("k3y", base_url=url).search(["x"], 1)
    for odd in (b"<html>", b"[]"):
        url, _ = raw_server(lambda c, _, odd=odd: c.sendall(helpers.answer(odd)))
        with pytest.raises(SearchError, match="answers what is no search result"):
            SerpApiRetriever("k3y", base_url=url).search(["x"], 1)
    with pytest.raises(SearchError) as caught:
        SerpApiRetriever("k3y", base_url="http://127.0.0.1:9/").search(["x"], 1)
    assert "k3y" not in str(caught.value) + repr(SerpApiRetriever("k3y"))


def test_without_keys():
    with pytest.raises(ValueError, match=r"pass api_key=\.\.\., or set SERPAPI_API_KEY"):
        SerpApiRetriever()
    with pytest.raises(ValueError, match="GOOGLE_API_KEY"):
        GoogleRetriever()
    with pytest.raises(ValueError, match="GOOGLE_CSE_ID"):
        GoogleRetriever("k")
