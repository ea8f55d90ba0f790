"""What gem-qa registers: ``qa:*``, ``logic:*``, and the question-answering half of ``eval:*``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gem import EnvSpec, hookimpl

_DATA = Path(__file__).parent / "data"

_SEARCH_EVAL = {
    "2Wiki": "2wiki",
    "PopQA": "popqa",
    "TriviaQA": "tq",
    "HotpotQA": "hotpotqa",
    "Bamboogle": "bamboogle",
    "NaturalQuestions": "nq",
    "Musique": "musique",
}


def _spec(env_id: str, description: str, **fields: Any) -> EnvSpec:
    return EnvSpec(
        id=env_id,
        entry_point="gem_qa.env:QaEnv",
        description=description,
        max_turns=1,
        reward_range=(0.0, 1.0),
        **fields,
    )


@hookimpl
def gem_env_specs() -> Iterator[EnvSpec]:
    for depth in (0, 1, 2, 3, 5):
        yield _spec(
            f"logic:RuleTaker-d{depth}",
            f"Whether a statement follows from facts and rules, proofs of depth up to {depth}",
            kwargs={"dataset_name": f"axon-rl/RuleTaker-d{depth}-70k", "split": "train", "extract_boxed": True},
            requires=("network",),
        )
    for name in ("NaturalQuestions", "HotpotQA"):
        yield _spec(
            f"qa:{name}",
            "Open questions, best answered with a search tool",
            kwargs={"dataset_name": f"axon-rl/{name}", "split": "train", "question_key": "problem"},
            requires=("network",),
        )
    yield _spec(
        "qa:sample",
        "Questions about an invented island, whose encyclopedia comes with the package",
        kwargs={"dataset_name": str(_DATA / "sample.jsonl")},
        tags=("sample",),
    )
    yield _spec(
        "logic:sample",
        "Whether a statement follows from facts and rules; comes with the package",
        kwargs={"dataset_name": str(_DATA / "sample_logic.jsonl"), "extract_boxed": True},
        tags=("sample",),
    )
    yield _spec(
        "eval:QaOpen",
        "Natural Questions, open",
        kwargs={"dataset_name": "google-research-datasets/nq_open", "split": "validation", "shuffle": False},
        requires=("network",),
        tags=("eval",),
    )
    for name, split in _SEARCH_EVAL.items():
        yield _spec(
            f"eval:{name}",
            "Open questions for evaluation with and without search",
            kwargs={"dataset_name": "axon-rl/search-eval", "split": split, "shuffle": False},
            requires=("network",),
            tags=("eval",),
        )
