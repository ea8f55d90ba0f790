"""The texts of an index and their BM25 ranking: a tantivy index, memory-mapped.

Every document has a number, counted from 0. The text of a document stands in the index, compressed.
"""

from __future__ import annotations

import contextlib
import json
import os
import unicodedata
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gem_tools.search.corpus import Document
from gem_tools.search.retriever import require

#: Of a query, the part that is read: characters, and distinct words. More would only make it slow.
QUERY_CHARACTERS = 20_000
QUERY_WORDS = 64
#: In an index of so many documents, words that stand in more than this share of them ("the", "of") are looked for
#: only where a query has no others. They take nine tenths of the time and hardly tell documents apart.
LARGE, COMMON = 10_000, 0.25

#: Stemming languages; ``"none"`` leaves words as they are.
LANGUAGES = (
    "none", "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian",
    "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
)  # fmt: skip

# Scripts that do not put blanks between words: every character counts as one.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[{_UNSPACED}]|[\p{{L}}\p{{M}}\p{{N}}&&[^{_UNSPACED}]]+"


class TextWriter:
    """Adds documents to the texts in a folder; nothing of it can be seen before :meth:`close`.

    Args:
        folder: an empty folder, or one with texts written before.
        language: one of :data:`LANGUAGES`; the same as before where there are texts.
        first: the number of the next document.
    """

    def __init__(self, folder: Path, language: str, first: int = 0) -> None:
        self._tantivy = require("tantivy")
        self._index = _open(folder, language) if first else _create(folder, language)
        self._writer = self._index.writer(heap_size=128_000_000)
        self.count = first

    def add(self, document: Document) -> None:
        row = self._tantivy.Document()
        row.add_unsigned("number", self.count)
        row.add_text("words", _normal(f"{document.title}\n{document.text}"))
        row.add_bytes("stored", json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
        self._writer.add_document(row)
        self.count += 1

    def close(self) -> None:
        """Write what was added, and wait until it is on disk."""
        if self._writer is not None:
            self._writer.commit()
            self._end()

    def _end(self) -> None:
        writer, self._writer = self._writer, None
        writer.wait_merging_threads()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif self._writer is not None:
            self._writer.rollback()
            self._end()


class Texts:
    """The texts in a folder, opened for reading. May be used from several threads."""

    def __init__(self, folder: Path, language: str) -> None:
        self._tantivy = require("tantivy")
        self._analyzer = _analyzer(language)
        self._index = _open(folder, language)
        # Reloading by itself would need a thread, which a fork would lose.
        self._index.config_reader(reload_policy="manual")
        self._index.reload()
        self._schema = self._index.schema
        self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def rank(self, query: str, topk: int) -> list[tuple[int, float]]:
        """Number and BM25 score of the best documents, best first; equal scores in the order of the corpus."""
        words = list(dict.fromkeys(self._analyzer.analyze(_normal(query[:QUERY_CHARACTERS]))))
        if len(self) >= LARGE:
            most = COMMON * len(self)
            words = [word for word in words if 0 < self._searcher.doc_freq("words", word) <= most] or words
        terms = [
            (self._tantivy.Occur.Should, self._tantivy.Query.term_query(self._schema, "words", word, "freq"))
            for word in words[:QUERY_WORDS]
        ]
        if not terms or not len(self):
            return []
        boolean = self._tantivy.Query.boolean_query(terms)
        # Where a document stands in the files depends on how threads took turns when they were written. Of equal
        # scores those with the lowest number are given, so all of them are fetched, within reason.
        limit = topk + 8
        while True:
            # Without counting all that match, most of them need not be looked at.
            found = self._searcher.search(boolean, limit=limit, count=False).hits
            if len(found) < limit or limit > 1000 + topk or _rounded(found[-1][0]) < _rounded(found[topk - 1][0]):
                break
            limit *= 4
        numbers = self._searcher.fast_field_values("number", [address for _, address in found])
        ranked = [(int(number), float(score)) for number, (score, _) in zip(numbers, found, strict=True)]
        return sorted(ranked, key=lambda pair: (-_rounded(pair[1]), pair[0]))[:topk]

    def fetch(self, number: int) -> Document:
        """The document of a number."""
        query = self._tantivy.Query.term_query(self._schema, "number", number, "basic")
        ((_, address),) = self._searcher.search(query, limit=1, count=False).hits
        stored: Any = self._searcher.doc(address).get_first("stored")
        return Document(*json.loads(bytes(stored)))


def _rounded(score: float) -> float:
    """Sums of equal terms may differ in the last digits."""
    return round(score, 4)


def check_language(language: str) -> None:
    """Raise ``ValueError`` for a language that has no stemmer; the message lists those that have."""
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")


def _normal(text: str) -> str:
    """One spelling for what looks alike, in characters that UTF-8 can write."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _analyzer(language: str) -> Any:
    tantivy = require("tantivy")
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_WORD))
    for step in (filters.remove_long(80), filters.lowercase(), filters.ascii_fold()):
        builder = builder.filter(step)
    if language != "none":
        builder = builder.filter(filters.stemmer(language))
    return builder.build()


def _create(folder: Path, language: str) -> Any:
    schema = require("tantivy").SchemaBuilder()
    schema.add_unsigned_field("number", indexed=True, fast=True)
    schema.add_text_field("words", tokenizer_name="gem", index_option="freq")
    schema.add_bytes_field("stored", stored=True)
    index = require("tantivy").Index(schema.build(), path=str(folder), reuse=False)
    index.register_tokenizer("gem", _analyzer(language))
    return index


def _open(folder: Path, language: str) -> Any:
    index = require("tantivy").Index.open(str(folder))
    index.register_tokenizer("gem", _analyzer(language))
    return index


def _release_inherited_locks() -> None:
    """Close the lock files that a thread of the parent held open when this process was forked.

    tantivy locks a file for a moment whenever an index is opened, in a thread of its own too. A fork at that moment
    inherits the lock and not the thread that would release it, and would then wait for itself.
    """
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{name}").endswith(".tantivy-meta.lock"):
                os.close(int(name))


os.register_at_fork(after_in_child=_release_inherited_locks)
