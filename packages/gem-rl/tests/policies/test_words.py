"""The word tokenizer."""

from __future__ import annotations

from hypothesis import given, strategies as st

from gem_rl.policies.words import UNKNOWN, WordTokenizer

TEXT = "Turn 3: 12 is too low.\nWrite \\boxed{reveal 1 2}!"


def test_words_marks_breaks_and_boxes_are_tokens() -> None:
    tokenizer = WordTokenizer.of([TEXT])
    pieces = [tokenizer.decode([number]) for number in tokenizer.encode(TEXT)]
    assert pieces == ["Turn", "3", ":", "12", "is", "too", "low", ".", "\n", "Write", "\\boxed{", "reveal", "1", "2",
                      "}", "!"]  # fmt: skip


def test_a_response_decodes_to_what_an_environment_parses() -> None:
    tokenizer = WordTokenizer.of([TEXT])
    assert tokenizer.decode(tokenizer.encode("\\boxed{reveal 1 2}")) == "\\boxed{reveal 1 2}"


def test_unknown_words_are_one_token() -> None:
    tokenizer = WordTokenizer.of(["a b"])
    assert tokenizer.encode("a zebra b") == [tokenizer.encode("a")[0], tokenizer.unknown, tokenizer.encode("b")[0]]
    assert tokenizer.decode([tokenizer.unknown]) == UNKNOWN


def test_special_tokens_write_nothing() -> None:
    tokenizer = WordTokenizer.of(["a"])
    assert tokenizer.decode([tokenizer.pad, *tokenizer.encode("a"), tokenizer.end]) == "a"


def test_the_vocabulary_does_not_depend_on_the_order_of_texts() -> None:
    assert WordTokenizer.of(["a b", "c"]).vocabulary == WordTokenizer.of(["c", "b a"]).vocabulary


def test_a_limit_keeps_the_most_frequent_words() -> None:
    assert WordTokenizer.of(["a a b b c"], limit=2).vocabulary == ["a", "b"]


@given(st.text())
def test_any_text_encodes_and_decodes(text: str) -> None:
    tokenizer = WordTokenizer.of([text])
    ids = tokenizer.encode(text)
    assert tokenizer.unknown not in ids
    assert all(0 <= number < len(tokenizer) for number in ids)
    assert "".join(tokenizer.decode(ids).split()) == "".join(text.split())
