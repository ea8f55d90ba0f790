"""Searching: the tool, an index of one's own, servers and their clients.

Nothing here imports more than the standard library before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gem_tools.search.build import Built, build_index
    from gem_tools.search.client import HttpRetriever
    from gem_tools.search.corpus import Document, Layout, read_corpus
    from gem_tools.search.encoder import Encoder, TransformersEncoder
    from gem_tools.search.index import IndexRetriever
    from gem_tools.search.retriever import Hit, Retriever, SearchError
    from gem_tools.search.shared import shared_retriever
    from gem_tools.search.tool import SearchTool
    from gem_tools.search.web import GoogleRetriever, SerpApiRetriever

__all__ = [
    "Built",
    "Document",
    "Encoder",
    "GoogleRetriever",
    "Hit",
    "HttpRetriever",
    "IndexRetriever",
    "Layout",
    "Retriever",
    "SearchError",
    "SearchTool",
    "SerpApiRetriever",
    "TransformersEncoder",
    "build_index",
    "read_corpus",
    "shared_retriever",
]

_HOME = {
    "build": ("Built", "build_index"),
    "client": ("HttpRetriever",),
    "corpus": ("Document", "Layout", "read_corpus"),
    "encoder": ("Encoder", "TransformersEncoder"),
    "index": ("IndexRetriever",),
    "retriever": ("Hit", "Retriever", "SearchError"),
    "shared": ("shared_retriever",),
    "tool": ("SearchTool",),
    "web": ("GoogleRetriever", "SerpApiRetriever"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"gem_tools.search.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
