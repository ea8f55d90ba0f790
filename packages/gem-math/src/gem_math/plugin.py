"""What gem-math registers: ``math:*``, and the mathematical half of ``eval:*``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gem import EnvSpec, hookimpl

_DATA = Path(__file__).parent / "data"

_TEXT = {
    "ASDiv2K": ("axon-rl/ASDIV-2k", "Word problems of primary school"),
    "GSM8K": ("axon-rl/GSM-8k", "Word problems of primary school in several steps"),
    "Math12K": ("axon-rl/MATH-12k", "Competition problems of secondary school"),
    "Math8K-3to5": ("axon-rl/MATH-lvl3to5-8k", "Competition problems of secondary school, levels 3 to 5"),
    "Orz57K": ("axon-rl/ORZ-57k", "A broad collection of problems for reasoning"),
    "DeepScaleR40K": ("axon-rl/DeepScaleR-40K", "Competition problems of high difficulty"),
}
_EVAL = {
    "MATH500": ("math", "500 problems of MATH"),
    "AMC": ("amc", "American Mathematics Competitions"),
    "OlympiadBench": ("olympiad_bench", "Olympiad problems"),
    "Minerva": ("minerva", "Undergraduate quantitative problems"),
    "AIME24": ("aime24", "American Invitational Mathematics Examination 2024"),
}


def _spec(env_id: str, description: str, entry_point: str = "gem_math.env:MathEnv", **fields: object) -> EnvSpec:
    return EnvSpec(
        id=env_id,
        entry_point=entry_point,
        description=description,
        max_turns=1,
        reward_range=(-0.1, 1.0),
        **fields,  # type: ignore[arg-type]
    )


@hookimpl
def gem_env_specs() -> Iterator[EnvSpec]:
    for name, (dataset, description) in _TEXT.items():
        yield _spec(f"math:{name}", description, kwargs={"dataset_name": dataset}, requires=("network",))
    yield _spec(
        "math:Geometry3K",
        "Geometry problems with pictures",
        "gem_math.visual:MathVisualEnv",
        kwargs={"dataset_name": "axon-rl/geometry3k", "split": "train"},
        modalities=("text", "image"),
        requires=("network",),
    )
    yield _spec(
        "math:sample",
        "A few dozen problems that come with the package",
        kwargs={"dataset_name": str(_DATA / "sample.jsonl")},
        tags=("sample",),
    )
    yield _spec(
        "math:sample-images",
        "A few dozen problems with pictures that come with the package",
        "gem_math.visual:MathVisualEnv",
        kwargs={"dataset_name": str(_DATA / "sample_images.jsonl")},
        modalities=("text", "image"),
        tags=("sample",),
    )
    for name, (split, description) in _EVAL.items():
        yield _spec(
            f"eval:{name}",
            description,
            kwargs={"dataset_name": "axon-rl/math-eval", "split": split, "shuffle": False},
            requires=("network",),
            tags=("eval",),
        )
