"""The names found by reading are those the library registers."""

from __future__ import annotations

from reasoning_gym.factory import DATASETS

from gem_reasoning.names import dataset_names


def test_names_are_those_of_the_library() -> None:
    assert dataset_names() == tuple(sorted(DATASETS))
