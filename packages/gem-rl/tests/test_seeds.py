"""Seeds of training and evaluation."""

from __future__ import annotations

from gem_rl.seeds import derive, held_out_seeds, training_seeds


def test_training_never_meets_the_held_out_seeds() -> None:
    held_out = held_out_seeds(10_000)
    for step in range(50):
        assert all(seed not in held_out for seed in training_seeds(0, step, 64))


def test_streams_are_repeatable_and_differ() -> None:
    assert derive(1, "a", 2) == derive(1, "a", 2)
    assert len({derive(1, "a", 2), derive(2, "a", 2), derive(1, "b", 2), derive(1, "a", 3)}) == 4
    assert training_seeds(0, 1, 4) != training_seeds(0, 2, 4)


def test_seeds_fit_every_generator() -> None:
    assert all(0 <= seed < 2**63 for seed in [derive(n, "x") for n in range(100)] + training_seeds(0, 1, 100))
