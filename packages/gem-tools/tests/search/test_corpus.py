"""Reading corpora: formats, columns, passages, and what is wrong with a file."""

from __future__ import annotations

import csv
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import gem
from gem_tools.search.corpus import Document, Layout, passages, read_corpus

ROWS = [{"id": "a", "title": "A", "text": "one\ntwo"}, {"id": "b", "title": "B", "text": 'three, "four"'}]
DOCUMENTS = [Document("a", "A", "one\ntwo"), Document("b", "B", 'three, "four"')]


def write(path, rows):
    name = path.name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif name.endswith((".csv", ".tsv")):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if name.endswith("tsv") else ",")
            writer.writeheader()
            writer.writerows(rows)
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz", "c.csv", "c.tsv", "c.parquet", "C.JSONL"])
def test_tables(tmp_path, name):
    assert list(read_corpus(write(tmp_path / name, ROWS))) == DOCUMENTS


def test_published_rows_have_the_title_in_the_first_line(tmp_path):
    rows = [{"id": "1", "contents": '"Emma"\nA novel.'}, {"id": "2", "contents": "no title"}]
    documents = list(read_corpus(write(tmp_path / "c.jsonl", rows)))
    assert documents == [Document("1", '"Emma"', "A novel."), Document("2", "", "no title")]
    rows = [{"id": "1", "title": "Emma", "contents": "Emma\nA novel."}]
    assert list(read_corpus(write(tmp_path / "d.jsonl", rows))) == [Document("1", "Emma", "A novel.")]


def test_named_columns(tmp_path):
    path = write(tmp_path / "c.jsonl", [{"key": 7, "head": "H", "said": "words", "text": "not this"}])
    assert list(read_corpus(path, Layout("key", "head", "said"))) == [Document("7", "H", "words")]
    with pytest.raises(gem.DataError, match="no column 'nosuch'; its columns are key, head, said, text"):
        list(read_corpus(path, Layout(text_column="nosuch")))


@pytest.mark.parametrize(
    "damage", [lambda whole: b"no gzip", lambda whole: whole[:-9], lambda whole: whole[:12] + b"??"]
)
def test_a_gzip_file_that_is_damaged(tmp_path, damage):
    path = write(tmp_path / "c.jsonl.gz", ROWS)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(gem.DataError, match=r"c\.jsonl\.gz is no gzip file, or is damaged: "):
        list(read_corpus(path))


def test_documents_without_ids_are_counted_and_empty_ones_left_out(tmp_path):
    path = write(tmp_path / "c.jsonl", [{"text": "x"}, {"text": " \n"}, {"text": "y"}])
    assert [(d.id, d.text) for d in read_corpus(path)] == [("0", "x"), ("2", "y")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"c\.jsonl:2 is not JSON"),
        ("[" * 100_000, r"c\.jsonl:2 is not JSON"),
        ("[1]", r"c\.jsonl:2 is not a JSON object"),
        ('{"a": "b"}', r"c\.jsonl:2 has no text: its columns are a; name one with --text-column"),
        ('{"text": null}', r"c\.jsonl:2 has no text"),
    ],
)
def test_bad_rows_are_named(tmp_path, line, message):
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": "x"}\n' + line + "\n")
    with pytest.raises(gem.DataError, match=message) as caught:
        list(read_corpus(path))
    assert "\n" not in str(caught.value)


def test_bad_files(tmp_path):
    with pytest.raises(gem.DataError, match="there is no file or folder"):
        list(read_corpus(tmp_path / "nosuch.jsonl"))
    with pytest.raises(gem.DataError, match="holds no corpus: no file ends with"):
        list(read_corpus(tmp_path))
    (tmp_path / "picture.png").write_bytes(b"x")
    with pytest.raises(gem.DataError, match=r"is no corpus: it must be one of \.jsonl"):
        list(read_corpus(tmp_path / "picture.png"))
    (tmp_path / "c.parquet").write_bytes(b"not parquet")
    with pytest.raises(gem.DataError, match=r"c\.parquet is not Parquet"):
        list(read_corpus(tmp_path / "c.parquet"))


def test_long_cells_of_csv_and_the_process_wide_limit(tmp_path):
    before = csv.field_size_limit()
    path = write(tmp_path / "c.csv", [{"text": "x" * 300_000}])
    assert len(next(iter(read_corpus(path))).text) == 300_000
    assert csv.field_size_limit() == before


def test_a_folder_of_text(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("# Heading\n\nBody of b.")
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 and \xe2\x82\xac")  # one byte is no UTF-8
    (tmp_path / ".hidden.txt").write_text("no")
    (tmp_path / "other.bin").write_text("no")
    documents = list(read_corpus(tmp_path))
    assert [(d.id, d.title) for d in documents] == [("a.txt", "a"), ("sub/b.md", "Heading")]
    assert documents[0].text == "caf� and €"
    assert next(iter(read_corpus(tmp_path / "a.txt"))).id == "a.txt"


def test_long_text_is_cut_into_passages_and_rows_are_not(tmp_path):
    (tmp_path / "long.txt").write_text(" ".join(map(str, range(450))))
    documents = list(read_corpus(tmp_path))
    assert [(d.id, len(d.text.split())) for d in documents] == [
        ("long.txt#1", 200), ("long.txt#2", 200), ("long.txt#3", 50)
    ]  # fmt: skip
    assert len(list(read_corpus(tmp_path, Layout(words=0)))) == 1
    path = write(tmp_path / "c.jsonl", [{"text": " ".join(map(str, range(450)))}])
    assert len(list(read_corpus(path))) == 1
    assert len(list(read_corpus(path, Layout(words=100)))) == 5


@given(st.text(), st.integers(1, 20))
def test_passages_keep_every_word_in_order(text, words):
    pieces = list(passages(Document("d", "t", text), words))
    if len(pieces) == 1:
        assert pieces[0] == Document("d", "t", text)
    else:
        assert [w for piece in pieces for w in piece.text.split()] == text.split()
        assert all(1 <= len(piece.text.split()) <= words for piece in pieces)
        assert len({piece.id for piece in pieces}) == len(pieces)
