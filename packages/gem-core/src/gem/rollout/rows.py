"""From turns to the sequences a learner trains on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gem.rollout.records import Turn


@dataclass(slots=True)
class Row:
    """One token sequence of an episode: turns whose prompts each extend what came before, merged.

    All lists have the row's length ``[L]``.
    """

    #: Prompt, response, what the environment added, response, ...
    input_ids: list[int] = field(default_factory=list)
    #: 1 on the tokens the model sampled, 0 on all others.
    mask: list[int] = field(default_factory=list)
    #: The sampler's log-probabilities, 0.0 where ``mask`` is 0; ``None`` where a turn has none.
    logprobs: list[float] | None = field(default_factory=list)
    #: Each turn's reward on the last token of its response, 0.0 elsewhere.
    rewards: list[float] = field(default_factory=list)
    #: The turns of the episode that the row holds.
    turns: list[int] = field(default_factory=list)
    #: Where each of them has its response: ``(start, end)`` in the row.
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def prompt_length(self) -> int:
        """How many tokens stand before the first response."""
        return self.spans[0][0]


def flatten(turns: Sequence[Turn]) -> list[Row]:
    """Merge turns into rows while each prompt begins with the row so far.

    A prompt that does not (the template rewrote an earlier turn, a window moved on, history was left out) begins a new
    row. So every token a row marks as sampled was sampled after exactly the tokens that precede it.

    Raises:
        ValueError: a turn has no token ids, or its lists differ in length.
    """
    rows: list[Row] = []
    row: Row | None = None
    for index, turn in enumerate(turns):
        prompt, response = turn.prompt_ids, turn.response_ids
        if prompt is None or response is None:
            raise ValueError(
                f"turn {index} has no token ids: the policy must return gem.Response(text, prompt_ids, response_ids)"
            )
        if turn.logprobs is not None and len(turn.logprobs) != len(response):
            raise ValueError(f"turn {index} has {len(turn.logprobs)} logprobs for {len(response)} response ids")
        if row is None or prompt[: len(row.input_ids)] != row.input_ids:
            row = Row()
            rows.append(row)
        added = prompt[len(row.input_ids) :]
        start = len(prompt)
        row.input_ids += added
        row.input_ids += response
        row.mask += [0] * len(added) + [1] * len(response)
        row.rewards += [0.0] * (len(added) + len(response))
        if turn.logprobs is None:
            row.logprobs = None
        elif row.logprobs is not None:
            row.logprobs += [0.0] * len(added)
            row.logprobs += turn.logprobs
        row.turns.append(index)
        row.spans.append((start, len(row.input_ids)))
        if row.rewards:
            # a response of no tokens leaves its reward on the token before it, so that the sum stays the return
            row.rewards[-1] += turn.reward
    return rows
