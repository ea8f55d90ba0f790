"""Joining text and content parts."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from gem.wrappers.content import frame, join, line, place

IMAGE = {"type": "image", "image": "data:,"}
parts = st.one_of(
    st.text(max_size=4),
    st.lists(
        st.one_of(st.just(IMAGE), st.builds(lambda t: {"type": "text", "text": t}, st.text(max_size=4))), max_size=3
    ),
)


@given(st.lists(st.text()))
def test_texts_join_to_their_concatenation(texts):
    assert join(texts) == "".join(texts)


@given(st.lists(parts, max_size=6))
def test_parts_join_without_losing_text_or_images(pieces):
    def flat(content):
        if isinstance(content, str):
            return content, 0
        return "".join(p["text"] for p in content if p["type"] == "text"), sum(p["type"] == "image" for p in content)

    text, images = flat(join(pieces))
    assert text == "".join(flat(p)[0] for p in pieces)
    assert images == sum(flat(p)[1] for p in pieces)


@given(st.lists(parts, max_size=6))
def test_neighbouring_texts_are_one_part(pieces):
    joined = join(pieces)
    if not isinstance(joined, str):
        kinds = [p["type"] for p in joined]
        assert all(not (a == b == "text") for a, b in itertools.pairwise(kinds))


@given(st.text())
def test_a_line_ends_once(text):
    assert line(text) == (text if not text or text.endswith("\n") else text + "\n")
    assert line(line(text)) == line(text)


def test_a_line_of_parts_leaves_the_given_list_alone():
    given_parts = [IMAGE, {"type": "text", "text": "a"}]
    assert line(given_parts) == [IMAGE, {"type": "text", "text": "a\n"}]
    assert given_parts[1] == {"type": "text", "text": "a"}
    assert line([IMAGE]) == [IMAGE]
    assert line([]) == []


def test_placing():
    assert place("b", {"prefix": "a", "suffix": "c"}) == "abc"
    assert place("b", {}) == "b"
    assert place([IMAGE], {"prefix": "a", "suffix": "c"}) == [
        {"type": "text", "text": "a"},
        IMAGE,
        {"type": "text", "text": "c"},
    ]


@given(parts, st.dictionaries(st.sampled_from(["prefix", "suffix"]), st.text(max_size=4)))
def test_a_frame_is_a_line_in_its_place(observation, info):
    assert frame(observation, info) == place(line(observation), info)
