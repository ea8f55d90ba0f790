"""The texts of an index: ranking by BM25, and queries that are anything but words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings, strategies as st

from gem_tools.search import texts as module
from gem_tools.search.corpus import Document
from gem_tools.search.texts import LANGUAGES, QUERY_WORDS, Texts, TextWriter, _analyzer, check_language

DOCUMENTS = [
    Document("0", "Paris", "The capital of France, and of fashion."),
    Document("1", "Running shoes", "Shoes for runners who run."),
    Document("2", "京都", "京都は日本の古い都です。"),
    Document("3", "Café", "A naïve cafe\u0301 in Zürich."),
    Document("4", "AND OR NOT", 'operators: title:x "quoted" +must -not (a OR b)^2 [a TO b] wild* ~fuzzy \\'),
    Document("5", "", "equal"),
    Document("6", "", "equal"),
    Document("7", "\0\ud800", "a\0b\ud800c"),
]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    with TextWriter(folder, "english") as writer:
        for document in DOCUMENTS:
            writer.add(document)
    return Texts(folder, "english")


def found(texts, query, topk=3):
    return [number for number, _ in texts.rank(query, topk)]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("FRANCE", 0),
        ("run", 1),
        ("runner shoe", 1),
        ("古い都", 2),
        ("cafe", 3),
        ("CAFÉ", 3),
        ("cafe\u0301", 3),
        ("zurich", 3),
        ("ｆｒａｎｃｅ", 0),
    ],
)
def test_words_are_found_however_they_are_written(texts, query, number):
    assert found(texts, query)[:1] == [number]


def test_scores_fall_and_equals_stand_in_the_order_of_the_corpus(texts):
    ranked = texts.rank("equal capital of France", 10)
    scores = [score for _, score in ranked]
    assert scores == pytest.approx(sorted(scores, reverse=True))
    assert all(math.isfinite(score) and score > 0 for score in scores)
    assert found(texts, "equal") == [5, 6]


def test_of_many_equals_the_first_are_given(tmp_path):
    """However the threads of the writer took turns."""
    with TextWriter(tmp_path, "none") as writer:
        for number in range(400):
            writer.add(Document(str(number), "", "same"))
    texts = Texts(tmp_path, "none")
    assert found(texts, "same", 3) == [0, 1, 2]
    assert found(texts, "same", 100) == list(range(100))


def test_scores_by_hand(tmp_path):
    """BM25 with k1 = 1.2 and b = 0.75."""
    with TextWriter(tmp_path, "none") as writer:
        for number, text in enumerate(["red red blue", "red", "green green green green"]):
            writer.add(Document(str(number), "", text))

    def score(times, length, having):
        idf = math.log(1 + (3 - having + 0.5) / (having + 0.5))
        return idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / (8 / 3)))

    assert Texts(tmp_path, "none").rank("red blue", 3) == [
        (0, pytest.approx(score(2, 3, 2) + score(1, 3, 1), rel=1e-5)),
        (1, pytest.approx(score(1, 1, 2), rel=1e-5)),
    ]


def test_documents_come_back_as_they_were(texts):
    assert [texts.fetch(number) for number in range(7)] == DOCUMENTS[:7]
    assert texts.fetch(7).text == "a\0b?c"  # no UTF-8 writes a lone surrogate
    assert len(texts) == len(DOCUMENTS)


@pytest.mark.parametrize(
    "query",
    ["", " \n", "\0", "\ud800", "!?…", "x" * 1_000_000, "word " * 200_000, "日" * 500_000, '"', "(((", "\\", "AND"],
)
def test_any_query_is_answered(texts, query):
    assert isinstance(texts.rank(query, 3), list)


@pytest.mark.parametrize(
    "query", ["-France", "NOT France", "title:France", '"France fashion"~0', "+France -capital", "Fr*"]
)
def test_nothing_in_a_query_is_syntax(texts, query):
    plain = "".join(c if c.isalnum() or c == " " else " " for c in query)
    assert texts.rank(query, 5) == texts.rank(plain, 5)


WORDS = ["AND", "OR", "NOT", "TO", "IN", "/x/", "^2", "words:", "number:1", "France", "capital", "\0", "\ud800"]
SYNTAX = [*WORDS, *"\"+-:*~()[]{}\\<>|&!?'"]


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.characters(), max_size=200) | st.lists(st.sampled_from(SYNTAX), max_size=30).map(" ".join),
    st.integers(1, 20),
)
def test_fuzzed_queries(texts, query, topk):
    ranked = texts.rank(query, topk)
    assert len(ranked) <= topk
    assert all(0 <= number < len(DOCUMENTS) and math.isfinite(score) for number, score in ranked)
    assert texts.rank(query, topk) == ranked


def test_of_a_long_query_the_beginning_counts(texts):
    filler = " ".join(f"filler{i}" for i in range(QUERY_WORDS))
    assert found(texts, f"France {filler}") == [0]
    assert found(texts, f"{filler} France") == []
    assert found(texts, "of " * 1000 + "France")[0] == 0  # a repeated word is one word


def test_common_words_count_in_large_indexes_only_where_there_are_no_others(tmp_path, monkeypatch):
    with TextWriter(tmp_path, "none") as writer:
        for number, text in enumerate(["the the the fox", "the dog", "the cat", "hen"]):
            writer.add(Document(str(number), "", text))
    texts = Texts(tmp_path, "none")
    assert found(texts, "the dog") == [1, 0, 2]
    monkeypatch.setattr(module, "LARGE", 4)
    assert found(texts, "the dog") == [1]
    assert found(texts, "the") == [0, 1, 2]
    assert found(texts, "the hen cat fox dog", 10) == [3, 1, 2, 0]
    assert found(texts, "the nosuch") == [0, 1, 2]


def test_the_words_of_every_language(tmp_path):
    for language in LANGUAGES:
        assert _analyzer(language).analyze("x") == ["x"]
    for language in ("english", "none"):
        folder = tmp_path / language
        folder.mkdir()
        with TextWriter(folder, language) as writer:
            writer.add(Document("0", "", "houses"))
        assert found(Texts(folder, language), "houses") == [0]
    assert found(Texts(tmp_path / "english", "english"), "house") == [0]
    assert found(Texts(tmp_path / "none", "none"), "house") == []
    with pytest.raises(ValueError, match=r"language must be one of none, arabic, .*, got 'klingon'"):
        check_language("klingon")


def test_what_fails_while_writing_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), TextWriter(tmp_path, "none") as writer:  # noqa: PT012
        writer.add(Document("0", "", "x"))
        raise RuntimeError
    assert len(Texts(tmp_path, "none")) == 0
    assert Texts(tmp_path, "none").rank("x", 1) == []


def test_more_documents(tmp_path):
    with TextWriter(tmp_path, "none") as writer:
        writer.add(Document("0", "", "old"))
    before = Texts(tmp_path, "none")
    with TextWriter(tmp_path, "none", first=1) as writer:
        writer.add(Document("1", "", "new"))
    assert before.rank("new", 1) == []
    after = Texts(tmp_path, "none")
    assert found(after, "new") == [1]
    assert found(after, "old") == [0]
