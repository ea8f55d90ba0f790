"""From episodes to what algorithms and losses read: padded turns, and packed token sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gem.rollout import Episode
from gem_rl.errors import EmptyBatch
from gem_rl.policies.base import Packed, Policy


@dataclass(slots=True)
class Turns:
    """The turns of a batch of episodes, padded. Axes: ``N`` episodes, ``T`` turns."""

    rewards_NT: Tensor
    mask_NT: Tensor
    #: Whether the episode was cut off rather than ended by its task.
    truncated_N: Tensor
    #: The group each episode belongs to.
    groups_N: Tensor

    def flat(self, values_NT: Tensor) -> Tensor:
        """The values of real turns in order of episode and turn: the numbering of :class:`Packed`."""
        return values_NT[self.mask_NT.bool()]

    def padded(self, values_M: Tensor) -> Tensor:
        """The inverse of :meth:`flat`, with zeros at padding."""
        values_NT = torch.zeros_like(self.rewards_NT)
        values_NT[self.mask_NT.bool()] = values_M.to(values_NT)
        return values_NT


def turns(episodes: Sequence[Episode]) -> Turns:
    """Rewards, masks and groups of a batch.

    Raises:
        EmptyBatch: there is no episode.
    """
    if not episodes:
        raise EmptyBatch("the batch has no episode to learn from: all of them errored, or none was collected")
    longest = max(len(episode.turns) for episode in episodes)
    rewards_NT = torch.zeros(len(episodes), longest)
    mask_NT = torch.zeros(len(episodes), longest)
    numbers: dict[str, int] = {}
    for row, episode in enumerate(episodes):
        count = len(episode.turns)
        rewards_NT[row, :count] = torch.tensor([turn.reward for turn in episode.turns])
        mask_NT[row, :count] = 1
        numbers.setdefault(episode.group_id, len(numbers))
    return Turns(
        rewards_NT,
        mask_NT,
        torch.tensor([not episode.turns[-1].terminated for episode in episodes]),
        torch.tensor([numbers[episode.group_id] for episode in episodes]),
    )


def pack(episodes: Sequence[Episode], bootstrap: Policy | None = None) -> list[Packed]:
    """Token sequences of a batch: the turns of an episode joined while each prompt extends the one before.

    Args:
        bootstrap: also append the observation that truncated episodes ended at, as this policy reads it, with a
            prompt end whose turn is ``-1 - episode number``.

    Raises:
        ValueError: a response came without token ids or log-probabilities.
    """
    packed: list[Packed] = []
    number = 0
    for row, episode in enumerate(episodes):
        sequence: Packed | None = None
        for turn in episode.turns:
            if turn.prompt_ids is None or turn.response_ids is None or turn.logprobs is None:
                raise ValueError(
                    "the policy's responses carry no token ids and log-probabilities: it cannot be trained"
                )
            sequence = _extend(packed, sequence, turn.prompt_ids, number)
            begin = len(sequence.ids)
            sequence.ids += turn.response_ids
            sequence.responses += range(begin, len(sequence.ids))
            sequence.turns += [number] * len(turn.response_ids)
            sequence.logprobs += turn.logprobs
            number += 1
        if bootstrap is not None and not episode.turns[-1].terminated:
            _extend(packed, sequence, bootstrap.prompt_ids(episode), -1 - row)
    return packed


def _extend(packed: list[Packed], sequence: Packed | None, prompt: list[int], turn: int) -> Packed:
    if sequence is None or prompt[: len(sequence.ids)] != sequence.ids:
        sequence = Packed([], [], [], [], [], [])
        packed.append(sequence)
    sequence.ids += prompt[len(sequence.ids) :]
    sequence.prompt_ends.append(len(sequence.ids) - 1)
    sequence.prompt_turns.append(turn)
    return sequence


def micro_batches(sequences: Sequence[Packed], tokens: int) -> Iterator[list[Packed]]:
    """Sequences of similar length together, at most ``tokens`` padded tokens (and at least one sequence) each."""
    batch: list[Packed] = []
    for sequence in sorted(sequences, key=lambda s: len(s.ids)):
        if batch and len(sequence.ids) * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(sequence)
    if batch:
        yield batch
