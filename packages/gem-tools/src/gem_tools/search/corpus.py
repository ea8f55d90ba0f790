"""A corpus on disk, document by document: tables of passages, and folders of text."""

from __future__ import annotations

import csv
import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gem.errors import DataError
from gem_tools.search.retriever import require

#: File suffixes of running text; one file is one document, or several passages of it.
TEXT_SUFFIXES = (".txt", ".md", ".markdown", ".rst")
#: Columns looked at when none is named, the first there is.
ID_COLUMNS = ("id", "_id", "docid", "doc_id")
TITLE_COLUMNS = ("title", "name")
TEXT_COLUMNS = ("contents", "text", "content", "passage", "body")


class Document(NamedTuple):
    """What is indexed and shown."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Layout:
    """How to read a corpus. A column that is ``None`` is guessed from the usual names.

    Args:
        id_column, title_column, text_column: of tables. Without ids, documents are counted from 0.
        words: cut every document into passages of this many words; ``None``: running text is cut into passages of
            200, rows of tables are left whole; 0: nothing is cut.
    """

    id_column: str | None = None
    title_column: str | None = None
    text_column: str | None = None
    words: int | None = None


AS_USUAL = Layout()


def read_corpus(path: str | os.PathLike[str], layout: Layout = AS_USUAL) -> Iterator[Document]:
    """The documents of a corpus in order; those without text are left out.

    Args:
        path: a JSON Lines (also ``.jsonl.gz``), CSV, TSV or Parquet file, a file of text or markdown, or a folder
            of such files, read with its subfolders in the order of their names.

    Raises:
        gem.DataError: there is no such corpus, or a file, row or column cannot be used. Names the place.
        gem.MissingDependency: Parquet needs pyarrow.
    """
    root = Path(path).expanduser()
    files = [root] if root.is_file() else _files_under(root)
    count = 0
    for file in files:
        kind = _kind(file)
        if kind is None:
            raise DataError(f"{file} is no corpus: it must be one of {', '.join((*_TABLES, *TEXT_SUFFIXES))}")
        if kind in _TABLES:
            documents = _of_rows(file, _TABLES[kind](file), layout, count)
            words = layout.words or 0
        else:
            documents = iter([_of_text(file, root)])
            words = 200 if layout.words is None else layout.words
        for document in documents:
            count += 1
            if document.text.strip() or document.title.strip():
                yield from passages(document, words) if words else (document,)


def passages(document: Document, words: int) -> Iterator[Document]:
    """A document in passages of ``words`` words, line breaks kept; their ids are ``id#1``, ``id#2``, ..."""
    pieces: list[str] = []
    lines: list[str] = []
    room = words
    for line in document.text.splitlines():
        parts = line.split()
        while len(parts) > room:
            pieces.append("\n".join([*lines, " ".join(parts[:room])]))
            parts, lines, room = parts[room:], [], words
        lines.append(" ".join(parts))
        room -= len(parts)
    pieces.append("\n".join(lines))
    pieces = [piece.strip("\n") for piece in pieces if piece.strip()]
    if len(pieces) <= 1:
        yield document
        return
    for number, piece in enumerate(pieces, 1):
        yield Document(f"{document.id}#{number}", document.title, piece)


def _files_under(root: Path) -> list[Path]:
    if not root.is_dir():
        raise DataError(f"there is no file or folder {root}")
    found = [
        Path(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if not name.startswith(".") and _kind(Path(name)) is not None
    ]
    if not found:
        raise DataError(f"{root} holds no corpus: no file ends with {', '.join((*_TABLES, *TEXT_SUFFIXES))}")
    return sorted(found, key=lambda file: file.relative_to(root).parts)


def _kind(file: Path) -> str | None:
    name = file.name.lower()
    return next((suffix for suffix in (*_TABLES, *TEXT_SUFFIXES) if name.endswith(suffix)), None)


# -- running text ---------------------------------------------------------------------------------------


def _of_text(file: Path, root: Path) -> Document:
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    name = file.relative_to(root).as_posix() if file != root else file.name
    lines = text.lstrip().splitlines()
    heading = lines[0].lstrip("# ").strip() if lines and lines[0].startswith("#") else ""
    return Document(name, heading or file.stem, text)


# -- tables ---------------------------------------------------------------------------------------------


def _json_lines(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    where = f"{file}:{number}"
                    try:
                        row = json.loads(line)
                    except (ValueError, RecursionError) as error:
                        raise DataError(f"{where} is not JSON: {error}") from None
                    if not isinstance(row, dict):
                        raise DataError(f"{where} is not a JSON object")
                    yield where, row
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{file} is no gzip file, or is damaged: {error}") from None


def _separated(delimiter: str) -> Callable[[Path], Iterator[tuple[str, Mapping[str, Any]]]]:
    def read(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
        with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            rows = csv.DictReader(lines, delimiter=delimiter)
            while True:
                # The library's limit on a cell is one for the whole process: it is lifted for one row at a time.
                limit = csv.field_size_limit(2**31 - 1)
                try:
                    row = next(rows, None)
                except csv.Error as error:
                    raise DataError(f"{file}:{rows.line_num} cannot be read: {error}") from None
                finally:
                    csv.field_size_limit(limit)
                if row is None:
                    return
                yield f"{file}:{rows.line_num}", {key: value for key, value in row.items() if key is not None}

    return read


def _parquet(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    parquet = require("pyarrow.parquet")
    try:
        table = parquet.ParquetFile(file)
    except (ValueError, OSError) as error:  # pyarrow's own are ValueErrors
        raise DataError(f"{file} is not Parquet: {' '.join(str(error).split())}") from None
    number = 0
    with table:
        for batch in table.iter_batches(batch_size=4096):
            for row in batch.to_pylist():
                number += 1
                yield f"row {number} of {file}", row


_TABLES: dict[str, Callable[[Path], Iterator[tuple[str, Mapping[str, Any]]]]] = {
    ".jsonl": _json_lines,
    ".jsonl.gz": _json_lines,
    ".parquet": _parquet,
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
}


def _of_rows(
    file: Path, rows: Iterator[tuple[str, Mapping[str, Any]]], layout: Layout, first: int
) -> Iterator[Document]:
    for number, (where, row) in enumerate(rows, first):
        text_column = _column(row, layout.text_column, TEXT_COLUMNS, where)
        if text_column is None:
            raise DataError(
                f"{where} has no text: its columns are {', '.join(map(str, row))}; name one with --text-column"
            )
        title_column = _column(row, layout.title_column, TITLE_COLUMNS, where)
        id_column = _column(row, layout.id_column, ID_COLUMNS, where)
        text = _text(row[text_column])
        if title_column is not None:
            title = _text(row[title_column])
            text = text.removeprefix(f"{title}\n")
        elif text_column == "contents" and "\n" in text:  # by convention the first line is the title
            title, _, text = text.partition("\n")
        else:
            title = ""
        given = _text(row[id_column]) if id_column is not None else ""
        yield Document(given or str(number), title, text)


def _column(row: Mapping[str, Any], named: str | None, usual: tuple[str, ...], where: str) -> str | None:
    if named is None:
        return next((name for name in usual if row.get(name) is not None), None)
    if named not in row:
        raise DataError(f"{where} has no column {named!r}; its columns are {', '.join(map(str, row))}")
    return named


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)
