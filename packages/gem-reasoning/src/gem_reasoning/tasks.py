"""From a name and options to a data set of reasoning-gym, in any process."""

from __future__ import annotations

import dataclasses
import difflib
import pickle
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from reasoning_gym.composite import DatasetSpec
from reasoning_gym.factory import CURRICULA, DATASETS, create_curriculum, create_dataset

from gem_reasoning.names import COMPOSITE

#: Settings of a data set, hashable: sorted ``(option, value)`` pairs.
Options = tuple[tuple[str, Any], ...]


def config_fields(name: str) -> list[str]:
    """The options of a data set. Raises ``ValueError`` for an unknown one, naming near ones."""
    if name not in DATASETS:
        near = difflib.get_close_matches(name, DATASETS, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"reasoning-gym has no data set {name!r}{hint}")
    return [field.name for field in dataclasses.fields(DATASETS[name][1])]


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise ``TypeError`` naming an option the data set does not have, and those it has."""
    known = config_fields(name)
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            listed = ", ".join(o for o in known if o not in ("seed", "size"))
            raise TypeError(f"{name!r} has no option {option!r}{hint} (options: {listed})")


def level_options(name: str, level: int) -> dict[str, Any]:
    """The options that the data set's curriculum has at a level, from 0 on.

    Raises:
        ValueError: it has no curriculum, or not so many levels.
    """
    if name not in CURRICULA:
        raise ValueError(f"{name!r} has no curriculum: leave out level")
    curriculum = create_curriculum(name)
    most = max((len(attribute.levels) for attribute in curriculum.attributes.values()), default=1) - 1
    if not 0 <= level <= most:
        raise ValueError(f"level must be from 0 to {most} for {name!r}, got {level}")
    curriculum.set_global_level(level)
    config = curriculum.generate_configuration()
    return {f.name: getattr(config, f.name) for f in dataclasses.fields(config) if f.name not in ("seed", "size")}


def build(name: str, options: Mapping[str, Any], seed: int, size: int) -> Any:
    """The data set. Raises ``ValueError`` where it refuses its options."""
    arguments = dict(options)
    if name == COMPOSITE:
        arguments["datasets"] = [DatasetSpec(**spec) for spec in arguments.get("datasets", [])]
    try:
        return create_dataset(name, **arguments, seed=seed, size=size)
    except AssertionError as error:
        raise ValueError(f"{name!r} refuses its options: {error}") from None


@lru_cache(maxsize=256)
def dataset(name: str, options: bytes, seed: int, size: int) -> Any:
    """:func:`build` with pickled options, kept for the next call."""
    return build(name, pickle.loads(options), seed, size)
