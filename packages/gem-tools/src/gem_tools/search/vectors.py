"""Vectors of documents in one memory-mapped file, and the exact nearest ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

#: Rows that are compared at a time: bounds what is touched at once.
_ROWS = 65_536


class Vectors:
    """Unit vectors, a row a document, as 32-bit floats.

    Args:
        file: raw rows in C order.
        dimensions: length of a row.
    """

    def __init__(self, file: Path, dimensions: int) -> None:
        import numpy as np

        rows = file.stat().st_size // (4 * dimensions)
        # numpy cannot map an empty file.
        self.rows_ND: Any = (
            np.memmap(file, dtype=np.float32, mode="r", shape=(rows, dimensions))
            if rows
            else np.zeros((0, dimensions), dtype=np.float32)
        )

    def __len__(self) -> int:
        return len(self.rows_ND)

    def rank(self, queries_QD: np.ndarray, topk: int) -> list[list[tuple[int, float]]]:
        """For each query, row and inner product of the ``topk`` nearest, best first; of equals the earlier row."""
        import numpy as np

        queries_QD = np.asarray(queries_QD, dtype=np.float32)
        best: list[list[tuple[int, float]]] = [[] for _ in queries_QD]
        for start in range(0, len(self), _ROWS):
            scores_QR = queries_QD @ self.rows_ND[start : start + _ROWS].T
            for found, scores in zip(best, scores_QR, strict=True):
                least = np.partition(scores, -topk)[-topk] if topk < len(scores) else -np.inf
                found += [(start + int(row), float(scores[row])) for row in np.flatnonzero(scores >= least)]
                found.sort(key=lambda pair: (-pair[1], pair[0]))
                del found[topk:]
        return best
