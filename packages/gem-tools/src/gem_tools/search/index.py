"""A search index on disk, and the retriever that reads it.

A folder with ``index.json``, which says what is indexed and names the folder of the data beside it. Whoever writes
prepares new data under a new name and then replaces ``index.json``: a reader sees the old index or the new one.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gem.errors import DataError
from gem_tools.search.encoder import Encoder, load_encoder
from gem_tools.search.fusion import reciprocal_rank_fusion
from gem_tools.search.retriever import Hit, SearchError
from gem_tools.search.texts import Texts
from gem_tools.search.vectors import Vectors

#: How an index can be searched; all but the first need vectors.
METHODS = ("bm25", "dense", "hybrid")

MANIFEST = "index.json"
TEXTS = "texts"
VECTORS = "vectors.f32"
_FORMAT = 1
#: From each ranking, at least so many documents are joined.
_FUSED = 100


@dataclass(frozen=True)
class Manifest:
    """What ``index.json`` says."""

    #: Name of the folder of the data.
    data: str
    documents: int
    language: str
    #: Name of the model that made the vectors; ``None`` where there are none.
    encoder: str | None = None
    dimensions: int = 0
    format: int = _FORMAT

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of an index.

        Raises:
            gem.DataError: there is no index in the folder, or one that this version cannot read.
        """
        try:
            manifest = cls(**json.loads((folder / MANIFEST).read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            problem = "holds no search index" if folder.exists() else "does not exist"
            raise DataError(f"{folder} {problem}: make one with `gem search build CORPUS {folder}`") from None
        except (ValueError, TypeError) as error:
            raise DataError(f"{folder / MANIFEST} is damaged ({error}): build the index again") from None
        if manifest.format != _FORMAT:
            raise DataError(f"{folder} is an index of format {manifest.format!r}, not {_FORMAT}: build it again")
        return manifest

    def write(self, folder: Path) -> None:
        """Put this manifest into force: all of it or, should the machine stop, nothing of it."""
        new = folder / f"{MANIFEST}.new"
        with new.open("w") as file:
            json.dump(asdict(self), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        new.replace(folder / MANIFEST)


class IndexRetriever:
    """Searches an index in this process. Thread-safe; pickled, it is its path, and a copy opens the index anew.

    An index that is rebuilt or extended meanwhile is opened again at the next search.

    Args:
        path: folder of the index.
        method: ``"bm25"``; ``"dense"``, the nearest vectors; or ``"hybrid"``, both joined by reciprocal ranks. By
            default hybrid where the index has vectors.
        encoder: makes vectors of queries; by default the model that the index names.

    Raises:
        gem.DataError: there is no index, or it has no vectors and the method needs them.
        gem.MissingDependency: tantivy is not installed.
        ValueError: there is no such method.
    """

    def __init__(self, path: str | os.PathLike[str], method: str | None = None, encoder: Encoder | None = None) -> None:
        if method is not None and method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        self.path = Path(path).expanduser().absolute()
        self._asked = method
        self._encoder = encoder
        self._opened: _Opened | None = None
        self._current()

    @property
    def method(self) -> str:
        """How it searches."""
        return self._asked or ("hybrid" if self._current().vectors is not None else "bm25")

    def __len__(self) -> int:
        return self._current().manifest.documents

    def search(self, queries: list[str], topk: int, *, timeout: float | None = None) -> list[list[Hit]]:
        if topk < 1:
            raise ValueError(f"topk must be at least 1, got {topk}")
        opened = self._current()
        topk = min(topk, max(opened.manifest.documents, 1))
        method = self._asked or ("hybrid" if opened.vectors is not None else "bm25")
        depth = topk if method != "hybrid" else max(topk, _FUSED)
        rankings = []
        if method in ("bm25", "hybrid"):
            rankings.append([opened.texts.rank(query, depth) for query in queries])
        if method in ("dense", "hybrid"):
            rankings.append(self._nearest(opened, queries, depth))
        if method == "hybrid":
            ranked = [
                reciprocal_rank_fusion([[number for number, _ in ranking] for ranking in of_query], topk)
                for of_query in zip(*rankings, strict=True)
            ]
        else:
            ranked = rankings[0]
        return [[Hit(*opened.texts.fetch(number), score) for number, score in ranking] for ranking in ranked]

    def _nearest(self, opened: _Opened, queries: list[str], topk: int) -> list[list[tuple[int, float]]]:
        # Nothing to go by is near to nothing, though a model has a vector for it too.
        asked = [query for query in queries if query.strip()]
        if not asked or opened.vectors is None:
            return [[] for _ in queries]
        encoder = self._encoder or load_encoder(str(opened.manifest.encoder))
        if encoder.dimensions != opened.manifest.dimensions:
            raise SearchError(
                f"{encoder.name} makes vectors of {encoder.dimensions} numbers and the index has "
                f"{opened.manifest.dimensions}: use the model it was built with"
            )
        nearest = iter(opened.vectors.rank(encoder.encode(asked, query=True), topk))
        return [next(nearest) if query.strip() else [] for query in queries]

    def _current(self) -> _Opened:
        """The index as it is on disk now, opened at most once a process and version."""
        opened = self._opened
        stamp = _stamp(self.path)
        if opened is None or opened.pid != os.getpid() or (stamp is not None and stamp != opened.stamp):
            with _lock:
                opened = self._opened
                stamp = _stamp(self.path)
                if opened is None or opened.pid != os.getpid() or (stamp is not None and stamp != opened.stamp):
                    opened = self._opened = _Opened.open(self.path, self._asked)
        return opened

    def __reduce__(self) -> tuple[Any, ...]:
        return IndexRetriever, (str(self.path), self._asked, self._encoder)

    def __deepcopy__(self, memo: object) -> IndexRetriever:
        return self  # reading changes nothing

    def __repr__(self) -> str:
        return f"<IndexRetriever {self.path}>"


@dataclass(frozen=True)
class _Opened:
    """An index mapped into this process."""

    manifest: Manifest
    texts: Texts
    vectors: Vectors | None
    stamp: tuple[int, ...] | None
    pid: int

    @classmethod
    def open(cls, folder: Path, method: str | None) -> _Opened:
        for attempt in range(3):
            stamp = _stamp(folder)
            manifest = Manifest.read(folder)
            if method in ("dense", "hybrid") and manifest.encoder is None:
                raise DataError(f"{folder} has no vectors: build it with `gem search build --dense MODEL`")
            data = folder / manifest.data
            try:
                texts = Texts(data / TEXTS, manifest.language)
                vectors = Vectors(data / VECTORS, manifest.dimensions) if manifest.encoder else None
            except (OSError, ValueError) as error:
                # Replaced between the two readings? Then there is another version to open.
                if attempt < 2 and Manifest.read(folder) != manifest:
                    continue
                raise DataError(f"the index in {folder} is damaged ({_first_line(error)}): build it again") from None
            if len(texts) != manifest.documents or (vectors is not None and len(vectors) != manifest.documents):
                raise DataError(f"the index in {folder} is damaged (documents are missing): build it again")
            return cls(manifest, texts, vectors, stamp, os.getpid())
        raise DataError(f"the index in {folder} is replaced faster than it can be opened: try again")


def _stamp(folder: Path) -> tuple[int, ...] | None:
    """What changes when the index does. An index that was deleted is read on from memory: ``None``."""
    try:
        status = os.stat(folder / MANIFEST)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


_lock = threading.RLock()


def _new_lock() -> None:
    global _lock
    _lock = threading.RLock()  # another thread may have held it when this process was forked


os.register_at_fork(after_in_child=_new_lock)
