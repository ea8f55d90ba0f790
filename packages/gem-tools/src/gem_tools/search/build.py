"""Writing a search index: from nothing, anew, or with more documents."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gem.errors import DataError
from gem_tools.search.corpus import AS_USUAL, Document, Layout, read_corpus
from gem_tools.search.encoder import Encoder, load_encoder
from gem_tools.search.index import MANIFEST, TEXTS, VECTORS, Manifest
from gem_tools.search.retriever import require
from gem_tools.search.texts import TextWriter, check_language

#: Documents that are turned into vectors at a time.
_BATCH = 256
#: What tantivy replaces in place; its other files are never written twice.
_REPLACED = ("meta.json", ".managed.json")
#: Names of folders of data.
_DATA = re.compile(r"gem-index-[0-9a-f]{16}")


@dataclass(frozen=True)
class Built:
    """What a build did."""

    #: Documents in the index now.
    documents: int
    #: Wall seconds.
    seconds: float


def build_index(
    corpus: str | os.PathLike[str],
    index: str | os.PathLike[str],
    *,
    existing: Literal["refuse", "replace", "extend"] = "refuse",
    language: str = "english",
    dense: str | Encoder | None = None,
    layout: Layout = AS_USUAL,
    progress: Callable[[int], None] | None = None,
) -> Built:
    """Index a corpus. Interrupted at any moment, it leaves the index that was there before, or none.

    Args:
        corpus: see :func:`gem_tools.search.corpus.read_corpus`.
        index: folder of the index; made where it does not exist.
        existing: what to do about an index that is there: refuse, replace it, or extend it by the documents of
            this corpus. Readers see the change when it is complete.
        language: whose word endings are taken off, ``"none"`` for none. An extended index keeps its own.
        dense: the name of an embedding model, or an encoder: documents get vectors too. An extended index keeps
            its own model.
        layout: which columns to read, and how to cut documents.
        progress: called now and then with the number of documents so far.

    Raises:
        gem.DataError: the corpus cannot be read or is empty, or the folder holds something else, or an index.
        gem.MissingDependency: a package is missing that this needs.
    """
    require("tantivy")
    check_language(language)
    started = time.perf_counter()
    folder = Path(index).expanduser().absolute()
    with _sole_writer(folder):
        before = _before(folder, existing)
        encoder: Encoder | None
        if before is not None:
            language = before.language
            encoder = _encoder_of(before, dense)
        else:
            encoder = load_encoder(dense) if isinstance(dense, str) else dense
        data = folder / f"gem-index-{secrets.token_hex(8)}"
        try:
            data.mkdir()
            if before is not None:
                _link(folder / before.data, data)
            documents = _write(corpus, data, before, language, encoder, layout, progress)
            _flush(data)
            name, dimensions = (encoder.name, encoder.dimensions) if encoder is not None else (None, 0)
            Manifest(data.name, documents, language, name, dimensions).write(folder)
        except BaseException:
            shutil.rmtree(data, ignore_errors=True)
            raise
        _sweep(folder, data.name)
    return Built(documents, time.perf_counter() - started)


def _before(folder: Path, existing: str) -> Manifest | None:
    """The index to extend, or ``None`` for a new one."""
    if existing not in ("refuse", "replace", "extend"):
        raise ValueError(f"existing must be 'refuse', 'replace' or 'extend', got {existing!r}")
    if existing == "extend":
        return Manifest.read(folder)
    if (folder / MANIFEST).exists():
        if existing == "refuse":
            raise DataError(f"{folder} holds an index already: use --replace or --extend, or another folder")
    elif foreign := [entry.name for entry in folder.iterdir() if not _is_ours(entry.name)]:
        raise DataError(f"{folder} is not empty and holds no index ({sorted(foreign)[0]}): choose another folder")
    return None


def _encoder_of(before: Manifest, dense: str | Encoder | None) -> Encoder | None:
    name = dense if isinstance(dense, str) or dense is None else dense.name
    if name is not None and name != before.encoder:
        raise DataError(f"the index was built with the model {before.encoder!r}, it cannot be extended with {name!r}")
    if before.encoder is None:
        return None
    return dense if dense is not None and not isinstance(dense, str) else load_encoder(before.encoder)


def _write(
    corpus: str | os.PathLike[str],
    data: Path,
    before: Manifest | None,
    language: str,
    encoder: Encoder | None,
    layout: Layout,
    progress: Callable[[int], None] | None,
) -> int:
    """Write the documents behind those that are there; how many there are then."""
    first = before.documents if before is not None else 0
    texts = data / TEXTS
    texts.mkdir(exist_ok=True)
    with TextWriter(texts, language, first) as writer, (data / VECTORS).open("ab") as vectors:
        for documents in _batches(read_corpus(corpus, layout)):
            for document in documents:
                writer.add(document)
            if encoder is not None:
                written = encoder.encode(
                    [f"{d.title}\n{d.text}" if d.title else d.text for d in documents], query=False
                )
                vectors.write(written.astype("float32").tobytes())
            if progress is not None:
                progress(writer.count - first)
        if writer.count == first:
            raise DataError(f"{corpus} holds no document with text")
    return writer.count


def _batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _link(old: Path, new: Path) -> None:
    """The data of an index once more: what never changes shares its place on disk."""
    (new / TEXTS).mkdir()
    for file in (old / TEXTS).iterdir():
        if file.name in _REPLACED:
            shutil.copyfile(file, new / TEXTS / file.name)
        elif not file.name.endswith(".lock"):
            _link_or_copy(file, new / TEXTS / file.name)
    if (old / VECTORS).exists():
        shutil.copyfile(old / VECTORS, new / VECTORS)


def _link_or_copy(old: Path, new: Path) -> None:
    try:
        new.hardlink_to(old)
    except OSError:  # a file system without links
        shutil.copyfile(old, new)


def _flush(data: Path) -> None:
    """Wait until everything below is on disk: a manifest must never name what a power cut can take back."""
    for folder, _, names in os.walk(data):
        for path in (*(os.path.join(folder, name) for name in names), folder):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _is_ours(name: str) -> bool:
    return name.startswith(MANIFEST) or _DATA.fullmatch(name) is not None


def _sweep(folder: Path, current: str | None) -> None:
    """Delete data that no manifest names, of versions before and of builds that were killed."""
    for entry in folder.iterdir():
        if _DATA.fullmatch(entry.name) and entry.name != current:
            shutil.rmtree(entry, ignore_errors=True)


@contextmanager
def _sole_writer(folder: Path) -> Iterator[None]:
    """Keep other writers out, and leave no empty folder behind."""
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError(f"{folder} is a file, or lies below one: choose another folder") from None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"another build is writing {folder}: wait for it, or choose another folder") from None
        try:
            if not (folder / MANIFEST).exists():
                _sweep(folder, None)
            yield
        finally:
            if made and not (folder / MANIFEST).exists():
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
