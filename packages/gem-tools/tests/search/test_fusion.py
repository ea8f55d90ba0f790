"""Reciprocal rank fusion, by hand."""

from __future__ import annotations

import pytest

from gem_tools.search.fusion import reciprocal_rank_fusion


def test_by_hand():
    fused = reciprocal_rank_fusion([[1, 2, 3], [3, 1]], topk=10)
    assert fused == [
        (1, pytest.approx(1 / 61 + 1 / 62)),
        (3, pytest.approx(1 / 63 + 1 / 61)),
        (2, pytest.approx(1 / 62)),
    ]
    assert [item for item, _ in reciprocal_rank_fusion([[9], [4]], topk=10)] == [4, 9]
    assert reciprocal_rank_fusion([[1, 2, 3], [3, 1]], topk=1) == fused[:1]
    assert reciprocal_rank_fusion([[], []], topk=3) == []
