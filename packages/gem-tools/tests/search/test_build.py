"""Building: all of an index or nothing of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gem
from gem_tools.search import IndexRetriever, build_index
from gem_tools.search.build import _sole_writer


class Letters:
    """An encoder without a model: how often each letter occurs."""

    name = "letters"
    dimensions = 26

    def encode(self, texts, *, query):
        counts = np.array([[text.lower().count(chr(97 + i)) + 1e-6 for i in range(26)] for text in texts])
        return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)


def corpus_of(path, *texts):
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts)))
    return path


def titles(retriever, query):
    return [hit.text for hit in retriever.search([query], 5)[0]]


def data_folders(index):
    return [entry.name for entry in index.iterdir() if entry.is_dir()]


def test_build_and_what_it_says(tmp_path):
    told = []
    corpus = corpus_of(tmp_path / "c.jsonl", *(f"word{i}" for i in range(600)))
    built = build_index(corpus, tmp_path / "deep" / "index", progress=told.append)
    assert built.documents == 600
    assert built.seconds > 0
    assert told == [256, 512, 600]
    assert titles(IndexRetriever(tmp_path / "deep" / "index"), "word599") == ["word599"]


def test_an_existing_index_is_refused_replaced_or_extended(tmp_path):
    index = tmp_path / "index"
    build_index(corpus_of(tmp_path / "a.jsonl", "alpha one"), index)
    with pytest.raises(gem.DataError, match="holds an index already: use --replace or --extend"):
        build_index(corpus_of(tmp_path / "b.jsonl", "beta"), index)
    opened = IndexRetriever(index)
    assert titles(opened, "alpha") == ["alpha one"]
    assert build_index(tmp_path / "b.jsonl", index, existing="extend").documents == 2
    assert (titles(opened, "alpha"), titles(opened, "beta")) == (["alpha one"], ["beta"])  # opened again by itself
    build_index(tmp_path / "b.jsonl", index, existing="replace")
    assert (titles(opened, "alpha"), titles(opened, "beta")) == ([], ["beta"])
    assert len(opened) == 1
    assert len(data_folders(index)) == 1  # nothing is left of the versions before
    with pytest.raises(ValueError, match="'refuse', 'replace' or 'extend', got 'maybe'"):
        build_index(tmp_path / "b.jsonl", index, existing="maybe")
    with pytest.raises(gem.DataError, match="holds no search index"):
        build_index(tmp_path / "b.jsonl", tmp_path / "none", existing="extend")
    assert not (tmp_path / "none").exists()


def test_extending_vectors(tmp_path):
    index = tmp_path / "index"
    build_index(corpus_of(tmp_path / "a.jsonl", "aaaa"), index, dense=Letters())
    build_index(corpus_of(tmp_path / "b.jsonl", "bbbb"), index, existing="extend", dense=Letters())
    retriever = IndexRetriever(index, "dense", encoder=Letters())
    assert titles(retriever, "b") == ["bbbb", "aaaa"]
    other = Letters()
    other.name = "others"
    with pytest.raises(gem.DataError, match="built with the model 'letters', it cannot be extended with 'others'"):
        build_index(tmp_path / "b.jsonl", index, existing="extend", dense=other)


def test_an_extended_index_keeps_its_language(tmp_path):
    index = tmp_path / "index"
    build_index(corpus_of(tmp_path / "a.jsonl", "houses"), index, language="none")
    build_index(corpus_of(tmp_path / "b.jsonl", "houses"), index, existing="extend")
    assert titles(IndexRetriever(index), "house") == []


@pytest.mark.parametrize("existing", ["refuse", "replace", "extend"])
@pytest.mark.parametrize("bad", ["not JSON\n", ""])
def test_a_failed_build_leaves_what_was_there(tmp_path, existing, bad):
    index = tmp_path / "index"
    if existing != "refuse":
        build_index(corpus_of(tmp_path / "a.jsonl", "alpha"), index)
    (tmp_path / "bad.jsonl").write_text(('{"text": "x"}\n' * 500 if bad else "") + bad)
    with pytest.raises(gem.DataError):
        build_index(tmp_path / "bad.jsonl", index, existing=existing)
    if existing == "refuse":
        assert not index.exists()
    else:
        assert titles(IndexRetriever(index), "alpha") == ["alpha"]
        assert len(data_folders(index)) == 1


def test_interrupted_from_the_keyboard(tmp_path):
    def interrupt(documents):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(corpus_of(tmp_path / "a.jsonl", "x"), tmp_path / "index", progress=interrupt)
    assert not (tmp_path / "index").exists()


def test_killed_while_it_builds(tmp_path):
    """Nothing can clean up after this one: the next build does."""
    index = tmp_path / "index"
    build_index(corpus_of(tmp_path / "a.jsonl", "alpha"), index)
    program = (
        "import sys, time\n"
        "from gem_tools.search import build_index\n"
        "def hold(documents):\n    print('at it', flush=True); time.sleep(60)\n"
        "build_index(sys.argv[1], sys.argv[2], existing='replace', progress=hold)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(corpus_of(tmp_path / "b.jsonl", "beta")), str(index)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "at it\n"
    with pytest.raises(gem.DataError, match="another build is writing"):
        build_index(tmp_path / "b.jsonl", index, existing="replace")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(data_folders(index)) == 2
    assert titles(IndexRetriever(index), "alpha") == ["alpha"]
    build_index(tmp_path / "b.jsonl", index, existing="replace")
    assert len(data_folders(index)) == 1
    assert titles(IndexRetriever(index), "beta") == ["beta"]


def test_folders_that_hold_something_else(tmp_path):
    corpus = corpus_of(tmp_path / "a.jsonl", "x")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("!")
    (precious / "data-1").mkdir()
    with pytest.raises(gem.DataError, match="is not empty and holds no index"):
        build_index(corpus, precious)
    with pytest.raises(gem.DataError, match="is not empty and holds no index"):
        build_index(corpus, precious, existing="replace")
    assert sorted(os.listdir(precious)) == ["data-1", "thesis.tex"]
    with pytest.raises(gem.DataError, match="is a file, or lies below one"):
        build_index(corpus, corpus)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert build_index(corpus, empty).documents == 1
    with pytest.raises(ValueError, match="language must be"):
        build_index(corpus, tmp_path / "other", language="klingon")
    assert not (tmp_path / "other").exists()


def test_readers_and_a_writer_at_once(tmp_path):
    """A reader sees one version or another, never less."""
    index = tmp_path / "index"
    corpora = [corpus_of(tmp_path / f"{i}.jsonl", f"alpha{i}", f"common {i}") for i in range(2)]
    build_index(corpora[0], index)
    stop, wrong = threading.Event(), []

    def read():
        try:
            while not stop.is_set():
                own = IndexRetriever(index)
                texts = titles(own, "common alpha0 alpha1")
                if sorted(texts) not in (["alpha0", "common 0"], ["alpha1", "common 1"]):
                    wrong.append(texts)
        except BaseException as error:
            wrong.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(8):
        build_index(corpora[(i + 1) % 2], index, existing="replace")
        time.sleep(0.01)
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_writers_take_turns(tmp_path):
    folder = tmp_path / "index"
    with (
        _sole_writer(folder),
        pytest.raises(gem.DataError, match="another build"),
        _sole_writer(folder),
    ):
        pass
    assert not folder.exists()
