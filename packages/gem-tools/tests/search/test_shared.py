"""Which retriever a name means, and that it is one a process."""

from __future__ import annotations

import os

import pytest

import gem
from gem_tools.search import GoogleRetriever, HttpRetriever, IndexRetriever, SerpApiRetriever, shared_retriever
from gem_tools.search.shared import source_of


def test_one_for_all(index, monkeypatch):
    first = shared_retriever(index)
    assert isinstance(first, IndexRetriever)
    assert shared_retriever(str(index)) is first
    monkeypatch.chdir(index.parent)
    assert shared_retriever(index.name) is first
    assert shared_retriever(index, "bm25") is not first
    assert shared_retriever("http://host:1") is shared_retriever("http://host:1")
    assert isinstance(shared_retriever("http://host:1"), HttpRetriever)


def test_from_the_environment(index, monkeypatch):
    with pytest.raises(ValueError, match=r"nothing to search in: pass retriever=\.\.\. or set GEM_SEARCH") as caught:
        shared_retriever()
    assert "\n" not in str(caught.value)
    monkeypatch.setenv("SEARCH_URL", "http://published:8000/retrieve")
    assert shared_retriever().url == "http://published:8000/retrieve"
    monkeypatch.setenv("GEM_SEARCH", str(index))
    assert shared_retriever() is shared_retriever(index)
    assert source_of("~") == os.path.expanduser("~")


def test_web_search(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="SERPAPI_API_KEY"):
        shared_retriever("serpapi")
    monkeypatch.setenv("SERPAPI_API_KEY", "k")
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    monkeypatch.setenv("GOOGLE_CSE_ID", "c")
    assert isinstance(shared_retriever("serpapi"), SerpApiRetriever)
    assert isinstance(shared_retriever("google"), GoogleRetriever)
    (tmp_path / "google").mkdir()  # a folder of that name goes first
    with pytest.raises(gem.DataError, match="holds no search index"):
        shared_retriever("google")


def test_what_cannot_be(tmp_path):
    with pytest.raises(gem.DataError, match="does not exist: make one with `gem search build"):
        shared_retriever(tmp_path / "none")
    with pytest.raises(ValueError, match="begins with http://"):
        shared_retriever("ftp://host/x")
    with pytest.raises(ValueError, match="method='bm25' is for an index folder"):
        shared_retriever("http://host", "bm25")
