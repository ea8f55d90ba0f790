"""Joining rankings whose scores cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence

#: How much the first ranks stand out; 60 as in the paper.
_CONSTANT = 60


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], topk: int) -> list[tuple[int, float]]:
    """The best ``topk`` of several rankings: each item scores the sum of 1 / (60 + its rank from 1).

    Equal scores are ordered by the item. Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
    Condorcet and individual Rank Learning Methods", SIGIR 2009.

    >>> reciprocal_rank_fusion([[7, 8], [8, 9]], topk=2)[0][0]
    8
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (_CONSTANT + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:topk]
