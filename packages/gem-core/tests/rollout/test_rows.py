"""Merging turns into sequences."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from gem.rollout.records import Turn
from gem.rollout.rows import flatten


def turn(prompt, response, reward=0.0, logprobs=None):
    return Turn("o", "r", reward, False, False, {}, prompt, response, logprobs)


def test_prompts_that_extend_are_one_row():
    rows = flatten(
        [
            turn([1, 2], [3, 4], 0.5, [-0.1, -0.2]),
            turn([1, 2, 3, 4, 5], [6], 0.25, [-0.3]),
            turn([1, 2, 3, 4, 5, 6, 7, 8], [9, 10], 1.0, [-0.4, -0.5]),
        ]
    )
    (row,) = rows
    assert row.input_ids == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert row.mask == [0, 0, 1, 1, 0, 1, 0, 0, 1, 1]
    assert row.logprobs == [0, 0, -0.1, -0.2, 0, -0.3, 0, 0, -0.4, -0.5]
    assert row.rewards == [0, 0, 0, 0.5, 0, 0.25, 0, 0, 0, 1.0]
    assert row.turns == [0, 1, 2]
    assert row.spans == [(2, 4), (5, 6), (8, 10)]
    assert row.prompt_length == 2


def test_a_prompt_that_does_not_extend_begins_a_row():
    rows = flatten(
        [turn([1, 2], [3], 1.0), turn([1, 2, 9], [4], 2.0), turn([1, 2, 9, 4], [5], 3.0), turn([1], [6], 4.0)]
    )
    assert [row.input_ids for row in rows] == [[1, 2, 3], [1, 2, 9, 4, 5], [1, 6]]
    assert [row.turns for row in rows] == [[0], [1, 2], [3]]
    assert [sum(row.rewards) for row in rows] == [1.0, 5.0, 4.0]


def test_a_cut_prompt_that_equals_the_beginning_begins_a_row():
    assert [row.input_ids for row in flatten([turn([1, 2], [3]), turn([1, 2], [4])])] == [[1, 2, 3], [1, 2, 4]]


def test_a_turn_without_logprobs_leaves_the_row_without():
    rows = flatten([turn([1], [2], logprobs=[-1.0]), turn([1, 2], [3]), turn([7], [8], logprobs=[-2.0])])
    assert [row.logprobs for row in rows] == [None, [0.0, -2.0]]


def test_a_response_of_no_tokens_keeps_its_reward():
    (row,) = flatten([turn([1, 2], [], -0.1, []), turn([1, 2, 3], [4], 1.0, [-0.5])])
    assert row.mask == [0, 0, 0, 1]
    assert row.rewards == [0, -0.1, 0, 1.0]


def test_the_turns_are_left_alone():
    turns = [turn([1], [2], logprobs=[-1.0]), turn([1, 2, 3], [4], logprobs=[-1.0])]
    flatten(turns)
    assert [t.prompt_ids for t in turns] == [[1], [1, 2, 3]]
    assert [t.logprobs for t in turns] == [[-1.0], [-1.0]]


def test_what_cannot_be_flattened():
    with pytest.raises(ValueError, match="turn 1 has no token ids: the policy must return"):
        flatten([turn([1], [2]), turn(None, None)])
    with pytest.raises(ValueError, match="turn 0 has 2 logprobs for 1 response ids"):
        flatten([turn([1], [2], logprobs=[0.0, 0.0])])
    assert flatten([]) == []


ids = st.lists(st.integers(0, 2), max_size=3)


@st.composite
def episodes(draw):
    """Turns whose prompts extend the turn before or start afresh, of few ids, so that the two can look alike."""
    turns, whole = [], []
    for _ in range(draw(st.integers(0, 5))):
        prompt = whole + draw(ids) if draw(st.booleans()) else [*draw(ids), 1]
        prompt = prompt or [0]
        response = draw(ids)
        turns.append(turn(prompt, response, draw(st.integers(-3, 3)), [-1.0 - i for i in range(len(response))]))
        whole = prompt + response
    return turns


@given(episodes())
def test_every_sampled_token_stands_behind_the_prompt_it_was_sampled_from(turns):
    rows = flatten(turns)
    assert [i for row in rows for i in row.turns] == list(range(len(turns)))
    for row in rows:
        assert len(row.input_ids) == len(row.mask) == len(row.logprobs) == len(row.rewards)
        marked = set()
        for index, (start, end) in zip(row.turns, row.spans, strict=True):
            assert row.input_ids[:start] == turns[index].prompt_ids
            assert row.input_ids[start:end] == turns[index].response_ids
            assert row.logprobs[start:end] == turns[index].logprobs
            marked.update(range(start, end))
        assert row.mask == [int(i in marked) for i in range(len(row.mask))]
        assert sum(row.rewards) == sum(turns[i].reward for i in row.turns)
    # merged wherever that can be
    for shorter, longer in itertools.pairwise(rows):
        assert turns[longer.turns[0]].prompt_ids[: len(shorter.input_ids)] != shorter.input_ids
