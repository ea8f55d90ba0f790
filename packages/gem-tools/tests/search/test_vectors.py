"""Exact nearest vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gem_tools.search import vectors as module
from gem_tools.search.vectors import Vectors


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 40), st.integers(1, 12), st.integers(1, 9), st.integers(0, 10**6))
def test_equals_sorting_everything(tmp_path_factory, rows, topk, chunk, seed):
    generator = np.random.default_rng(seed)
    rows_ND = generator.integers(-2, 3, (rows, 4)).astype(np.float32)  # small numbers, so that many are equal
    file = tmp_path_factory.mktemp("v") / "v.f32"
    file.write_bytes(rows_ND.tobytes())
    queries_QD = generator.integers(-2, 3, (3, 4)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS", chunk)
        ranked = Vectors(file, 4).rank(queries_QD, topk)
    for query, got in zip(queries_QD, ranked, strict=True):
        scores = rows_ND @ query
        assert got == [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable")[:topk]]


def test_is_mapped_not_read(tmp_path):
    file = tmp_path / "v.f32"
    file.write_bytes(np.eye(4, dtype=np.float32).tobytes())
    vectors = Vectors(file, 4)
    assert isinstance(vectors.rows_ND, np.memmap)
    assert not vectors.rows_ND.flags.writeable
    assert len(vectors) == 4
