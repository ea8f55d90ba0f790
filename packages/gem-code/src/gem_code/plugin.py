"""What gem-code registers: ``code:*`` and ``eval:CodeContest``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gem import EnvSpec, hookimpl

_DATA = Path(__file__).parent / "data"


def _spec(env_id: str, description: str, **fields: Any) -> EnvSpec:
    return EnvSpec(
        id=env_id,
        entry_point="gem_code.env:CodeEnv",
        description=description,
        max_turns=1,
        reward_range=(-0.1, 1.0),
        **fields,
    )


@hookimpl
def gem_env_specs() -> Iterator[EnvSpec]:
    for name, dataset, description in (
        ("CodeContest", "axon-rl/CodeContest", "Competitive programming"),
        ("Taco8k", "axon-rl/TACO-8k", "Competitive programming, by topic and difficulty"),
        ("PrimeIntellect15k", "axon-rl/PrimeIntellect-15k", "Programming problems with verified tests"),
    ):
        yield _spec(
            f"code:{name}",
            description,
            kwargs={"dataset_name": dataset, "split": "train"},
            requires=("network",),
        )
    yield _spec(
        "code:sample",
        "Some twenty small problems that come with the package",
        kwargs={"dataset_name": str(_DATA / "sample.jsonl")},
        tags=("sample",),
    )
    yield _spec(
        "eval:CodeContest",
        "Competitive programming, held out",
        kwargs={"dataset_name": "axon-rl/CodeContest", "split": "test", "shuffle": False},
        requires=("network",),
        tags=("eval",),
    )
