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
    """Token sequences of a batch: the rows of :meth:`gem.rollout.Episode.flat`, turns numbered over the whole batch.

    Args:
        bootstrap: also append the observation that truncated episodes ended at, as this policy reads it, with a
            prompt end whose turn is ``-1 - episode number``.

    Raises:
        ValueError: a response came without token ids or log-probabilities.
    """
    packed: list[Packed] = []
    first = 0
    for number, episode in enumerate(episodes):
        for row in episode.flat():
            if row.logprobs is None:
                raise ValueError("the policy's responses carry no log-probabilities: it cannot be trained")
            places = [place for start, end in row.spans for place in range(start, end)]
            lengths = [end - start for start, end in row.spans]
            packed.append(
                Packed(
                    ids=row.input_ids,
                    responses=places,
                    turns=[first + turn for turn, n in zip(row.turns, lengths, strict=True) for _ in range(n)],
                    logprobs=[row.logprobs[place] for place in places],
                    prompt_ends=[start - 1 for start, _ in row.spans],
                    prompt_turns=[first + turn for turn in row.turns],
                )
            )
        first += len(episode.turns)
        if bootstrap is not None and not episode.turns[-1].terminated:
            _append_end(packed, bootstrap.prompt_ids(episode), -1 - number)
    return packed


def _append_end(packed: list[Packed], prompt: list[int], turn: int) -> None:
    last = packed[-1]
    if prompt[: len(last.ids)] != last.ids:
        last = Packed(list(prompt), [], [], [], [], [])
        packed.append(last)
    last.ids += prompt[len(last.ids) :]
    last.prompt_ends.append(len(last.ids) - 1)
    last.prompt_turns.append(turn)


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
