"""From what a user names to a retriever; one a process for all who ask for the same."""

from __future__ import annotations

import os
import threading

from gem_tools.search.retriever import Retriever

#: Environment variables looked at when none is named; the second is the published one.
VARIABLES = ("GEM_SEARCH", "SEARCH_URL")

_retrievers: dict[tuple[str, str | None], Retriever] = {}
_lock = threading.Lock()


def source_of(source: str | os.PathLike[str] | None) -> str:
    """What to search: ``source``, or what the environment names. Paths become absolute.

    Raises:
        ValueError: neither says.
    """
    if source is None:
        source = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)
    if source is None or not os.fspath(source):
        raise ValueError(
            "nothing to search in: pass retriever=... or set GEM_SEARCH to an index folder "
            "(gem search build CORPUS FOLDER) or to a search server's URL"
        )
    source = os.fspath(source)
    if "://" in source or (source in ("serpapi", "google") and not os.path.isdir(source)):
        return source
    return os.path.abspath(os.path.expanduser(source))


def shared_retriever(source: str | os.PathLike[str] | None = None, method: str | None = None) -> Retriever:
    """The retriever of a source, made when first asked for and kept: a thousand environments open an index once.

    Args:
        source: folder of an index, URL of a search server, ``"serpapi"`` or ``"google"``; by default the
            environment variable ``GEM_SEARCH``.
        method: how an index is searched, see :class:`gem_tools.search.IndexRetriever`.

    Raises:
        ValueError: there is no source, or it is none.
        gem.DataError: the folder holds no index.
        gem.MissingDependency: a package is missing that this source needs.
    """
    key = (source_of(source), method)
    with _lock:
        if key not in _retrievers:
            _retrievers[key] = _make(*key)
        return _retrievers[key]


def _make(source: str, method: str | None) -> Retriever:
    if os.path.isabs(source):
        from gem_tools.search.index import IndexRetriever

        return IndexRetriever(source, method)
    if method is not None:
        raise ValueError(f"method={method!r} is for an index folder, got {source!r}")
    if source == "serpapi":
        from gem_tools.search.web import SerpApiRetriever

        return SerpApiRetriever()
    if source == "google":
        from gem_tools.search.web import GoogleRetriever

        return GoogleRetriever()
    from gem_tools.search.client import HttpRetriever

    return HttpRetriever(source)


def _new_lock() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may have held it when this process was forked


os.register_at_fork(after_in_child=_new_lock)
