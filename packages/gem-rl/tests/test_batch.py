"""Padding turns and packing tokens."""

from __future__ import annotations

import pytest
import torch
from builders import episode
from hypothesis import given, strategies as st

from gem.rollout import Episode, Response
from gem_rl.batch import micro_batches, pack, turns
from gem_rl.errors import EmptyBatch


def test_turns_are_padded_and_grouped() -> None:
    batch = turns(
        [episode([0.0, 1.0], group="a"), episode([0.5], group="b", truncated=True), episode([2.0], group="a")]
    )
    assert batch.rewards_NT.tolist() == [[0.0, 1.0], [0.5, 0.0], [2.0, 0.0]]
    assert batch.mask_NT.tolist() == [[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    assert batch.truncated_N.tolist() == [False, True, False]
    assert batch.groups_N.tolist() == [0, 1, 0]


def test_flat_and_padded_are_inverse() -> None:
    batch = turns([episode([0.0, 1.0]), episode([0.5])])
    assert batch.flat(torch.tensor([[1.0, 2.0], [3.0, 99.0]])).tolist() == [1.0, 2.0, 3.0]
    assert batch.padded(torch.tensor([1.0, 2.0, 3.0])).tolist() == [[1.0, 2.0], [3.0, 0.0]]


def test_an_empty_batch_says_so() -> None:
    with pytest.raises(EmptyBatch, match="no episode to learn from"):
        turns([])


def test_a_growing_conversation_is_one_sequence() -> None:
    (sequence,) = pack([episode([0.0, 1.0])])
    assert sequence.ids == [1, 2, 7, 9, 3, 7, 9]
    assert sequence.responses == [2, 3, 5, 6]
    assert sequence.turns == [0, 0, 1, 1]
    assert sequence.logprobs == [-0.5] * 4
    assert (sequence.prompt_ends, sequence.prompt_turns) == ([1, 4], [0, 1])


def test_a_prompt_that_does_not_extend_starts_a_new_sequence() -> None:
    first, second = pack([episode([0.0, 1.0], ids=[([1, 2], [7]), ([1, 5, 6], [8])])])
    assert (first.ids, first.responses, first.turns) == ([1, 2, 7], [2], [0])
    assert (second.ids, second.responses, second.turns) == ([1, 5, 6, 8], [3], [1])


def test_turns_are_numbered_over_the_batch() -> None:
    sequences = pack([episode([0.0, 1.0]), episode([1.0])])
    assert [s.prompt_turns for s in sequences] == [[0, 1], [2]]


class Reader:
    """As much of a policy as packing asks for."""

    def prompt_ids(self, episode: Episode) -> list[int]:
        last = episode.turns[-1]
        return [*last.prompt_ids, *last.response_ids, 4, 4]


def test_where_truncated_episodes_ended_is_appended_for_the_critic() -> None:
    ended, cut = pack([episode([1.0]), episode([1.0], truncated=True)], bootstrap=Reader())
    assert ended.ids == [1, 2, 7, 9]
    assert cut.ids == [1, 2, 7, 9, 4, 4]
    assert (cut.prompt_ends, cut.prompt_turns) == ([1, 5], [1, -2])
    assert cut.responses == [2, 3]


def test_responses_without_token_ids_cannot_be_learned_from() -> None:
    made = Episode()
    made.begin("look")
    made.respond(Response("text only"))
    made.advance("end", 1.0, True, False, {})
    with pytest.raises(ValueError, match="no token ids"):
        pack([made])


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.integers(1, 60))
def test_micro_batches_hold_every_sequence_once_within_the_limit(counts: list[int], tokens: int) -> None:
    sequences = pack([episode([0.0] * count) for count in counts])
    batches = list(micro_batches(sequences, tokens))
    assert sorted(map(id, (s for b in batches for s in b))) == sorted(map(id, sequences))
    assert all(len(b) == 1 or max(len(s.ids) for s in b) * len(b) <= tokens for b in batches)
