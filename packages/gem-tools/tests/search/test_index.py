"""An opened index: methods, damage, threads, processes."""

from __future__ import annotations

import copy
import fcntl
import json
import multiprocessing
import os
import pickle
import shutil
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gem
from gem_tools.search import Hit, IndexRetriever, Retriever, SearchError, build_index


class Colours:
    """An encoder that knows two meanings."""

    name = "colours"
    dimensions = 2
    asked = 0

    def encode(self, texts, *, query):
        self.asked += 1
        warm = [any(word in text.lower() for word in ("red", "crimson", "warm")) for text in texts]
        return np.array([[float(w), float(not w)] for w in warm], dtype=np.float32)


@pytest.fixture
def colours(tmp_path):
    rows = [("0", "red apple"), ("1", "blue sky"), ("2", "crimson tide")]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in rows))
    build_index(tmp_path / "c.jsonl", tmp_path / "colours", dense=Colours())
    return tmp_path / "colours"


def ids(hits):
    return [hit.id for hit in hits]


def test_bm25(index):
    retriever = IndexRetriever(index)
    assert isinstance(retriever, Retriever)
    assert retriever.method == "bm25"
    paris, nothing, tokyo = retriever.search(["the capital of France", "qwertyuiop", "日本の首都"], 2)
    assert paris[0][:3] == ("p", "Paris", "Paris is the capital of France.")
    assert ids(paris) == ["p", "r"]
    assert paris[0].score > paris[1].score
    assert nothing == []
    assert tokyo[0].title == "東京"
    assert retriever.search([], 3) == []
    assert ids(retriever.search(["the capital of France"], 10**30)[0])[:2] == ["p", "r"]
    with pytest.raises(ValueError, match="topk must be at least 1"):
        retriever.search(["x"], 0)


def test_dense_and_hybrid(colours):
    encoder = Colours()
    dense = IndexRetriever(colours, "dense", encoder)
    (warm,) = dense.search(["something warm"], 3)
    assert ids(warm) == ["0", "2", "1"]  # "crimson" is found without a word in common
    assert [hit.score for hit in warm] == [1.0, 1.0, 0.0]
    hybrid = IndexRetriever(colours, encoder=encoder)
    assert hybrid.method == "hybrid"
    assert ids(hybrid.search(["crimson"], 3)[0]) == ["2", "0", "1"]  # first by words, second by meaning
    assert hybrid.search(["crimson"], 1)[0][0].score == pytest.approx(1 / 61 + 1 / 62)
    before = encoder.asked
    hybrid.search(["a", "b", "c"], 1)
    assert encoder.asked == before + 1  # several queries go to the model together
    assert hybrid.search(["", "red", " "], 1)[0] == hybrid.search(["", "red", " "], 1)[2] == []
    assert IndexRetriever(colours, "bm25").search(["crimson"], 3)[0][0].id == "2"


def test_methods_that_cannot_be(index, colours):
    with pytest.raises(ValueError, match="method must be one of bm25, dense, hybrid, got 'magic'"):
        IndexRetriever(index, "magic")
    with pytest.raises(gem.DataError, match="has no vectors: build it with `gem search build --dense MODEL`"):
        IndexRetriever(index, "hybrid")
    other = Colours()
    other.dimensions = 3
    with pytest.raises(SearchError, match="makes vectors of 3 numbers and the index has 2"):
        IndexRetriever(colours, "dense", other).search(["x"], 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(), max_size=60), max_size=5), st.integers(1, 9))
def test_any_text_is_a_query(index, queries, topk):
    results = IndexRetriever(index).search(queries, topk)
    assert len(results) == len(queries)
    assert all(len(hits) <= topk and all(isinstance(hit, Hit) for hit in hits) for hits in results)


def test_what_is_no_index(tmp_path, index):
    with pytest.raises(gem.DataError, match="does not exist: make one with `gem search build CORPUS"):
        IndexRetriever(tmp_path / "none")
    with pytest.raises(gem.DataError, match="holds no search index"):
        IndexRetriever(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(gem.DataError, match="holds no search index"):
        IndexRetriever(tmp_path / "file")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "index.json").write_text("{"), "is damaged"),
        (lambda folder: (folder / "index.json").write_text("[]"), "is damaged"),
        (lambda folder: (folder / "index.json").write_text('{"more": 1}'), "is damaged"),
        (lambda folder: edit(folder, format=99), "is an index of format 99, not 1: build it again"),
        (lambda folder: edit(folder, documents=5), "documents are missing"),
        (lambda folder: edit(folder, data="gem-index-gone"), "is damaged"),
        (lambda folder: edit(folder, encoder="x", dimensions=2), "documents are missing"),
        (lambda folder: shutil.rmtree(next(folder.glob("gem-index-*")) / "texts"), "is damaged"),
        (lambda folder: [f.unlink() for f in folder.glob("gem-index-*/texts/*.store")], "is damaged"),
        (lambda folder: [f.write_text("{") for f in folder.glob("gem-index-*/texts/meta.json")], "is damaged"),
    ],
)
def test_damage_is_said_in_one_line(tmp_path, index, damage, message):
    folder = tmp_path / "copy"
    shutil.copytree(index, folder)
    IndexRetriever(folder)
    damage(folder)
    with pytest.raises(gem.DataError, match=message) as caught:
        IndexRetriever(folder)
    assert "\n" not in str(caught.value)


def edit(folder, **changes):
    path = folder / "index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_an_index_that_is_deleted_is_read_on(tmp_path, index):
    folder = tmp_path / "copy"
    shutil.copytree(index, folder)
    retriever = IndexRetriever(folder)
    shutil.rmtree(folder)
    assert ids(retriever.search(["France"], 1)[0]) == ["p"]


def test_threads(index):
    retriever = IndexRetriever(index)
    expected = {query: retriever.search([query], 3) for query in ("France", "capital", "zebras", "日本", "")}
    wrong = []

    def work():
        try:
            for _ in range(40):
                for query, hits in expected.items():
                    if retriever.search([query], 3) != hits:
                        wrong.append(query)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_copies(index):
    retriever = IndexRetriever(index)
    assert copy.deepcopy(retriever) is retriever
    again = pickle.loads(pickle.dumps(retriever))
    assert again.search(["France"], 1) == retriever.search(["France"], 1)


def look_up(retriever, queue):
    queue.put((os.getpid(), retriever.search(["France"], 1)))


def test_a_forked_process(index):
    retriever = IndexRetriever(index)
    expected = retriever.search(["France"], 1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=look_up, args=(retriever, queue))
    process.start()
    try:
        pid, hits = queue.get(timeout=60)
        assert (pid != os.getpid(), hits) == (True, expected)
    finally:
        process.kill()
        process.join()


def test_a_fork_while_a_thread_opens_an_index(index):
    """The lock that the thread held must not stay with the child, which has no such thread."""
    retriever = IndexRetriever(index)
    lock = os.open(next(index.glob("gem-index-*/texts/.tantivy-meta.lock")), os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=look_up, args=(retriever, queue))
    process.start()
    os.close(lock)
    try:
        assert queue.get(timeout=30)[1][0][0].id == "p"
    finally:
        process.kill()
        process.join()


def test_a_spawned_process(index):
    retriever = IndexRetriever(index)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(retriever.search, (["France"], 1)) == retriever.search(["France"], 1)
