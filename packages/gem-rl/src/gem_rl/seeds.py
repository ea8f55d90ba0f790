"""Every random stream of a run, derived from its one seed, so that a resumed run needs no saved random state."""

from __future__ import annotations

import hashlib

#: Seeds below this belong to evaluation, seeds from it on to training: they never meet.
FIRST_TRAINING_SEED = 1 << 32


def derive(seed: int, *labels: str | int) -> int:
    """A seed of 62 bits for one purpose, independent of the others."""
    text = "/".join(map(str, (seed, *labels)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 2


def training_seeds(seed: int, step: int, count: int) -> list[int]:
    """The environment seeds of one training step."""
    span = (1 << 62) - FIRST_TRAINING_SEED
    return [FIRST_TRAINING_SEED + derive(seed, "task", step, number) % span for number in range(count)]


def held_out_seeds(count: int) -> range:
    """The environment seeds of every evaluation, the same in every run."""
    return range(count)
