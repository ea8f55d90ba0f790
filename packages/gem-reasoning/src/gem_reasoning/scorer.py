"""Scoring by the data set's own scorer, where the model's text can do no harm.

Scorers of reasoning-gym ``eval`` answers, parse them with sympy (which evaluates them too) or compute with numbers
of any size. All of them but the base class's comparison run in gem-tools' isolated executor: a fresh process a
score, without network, files or secrets, with limits of time and memory.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from gem_tools.python import Case, Executor

Backend = Literal["isolated", "subprocess"]

_PROGRAM = """
import pickle

def score():
    import reasoning_gym
    from reasoning_gym.composite import DatasetSpec
    with open("request.pickle", "rb") as file:
        name, options, seed, size, answer, entry = pickle.load(file)
    if name == "composite":
        options["datasets"] = [DatasetSpec(**spec) for spec in options["datasets"]]
    dataset = reasoning_gym.create_dataset(name, **options, seed=seed, size=size)
    return float(dataset.score_answer(answer, entry))
"""


#: Data sets whose scorers take wrong answers for right -> what an answer must be besides. The truth value that one
#: compares is that of a text, which every text but the empty one has; another takes "nan" to be at no distance.
UNSOUND: dict[str, Callable[[str, Mapping[str, Any]], bool]] = {
    "complex_arithmetic": lambda answer, entry: "nan" not in answer.lower(),
    "game_of_life_halting": lambda answer, entry: answer.strip().lower() == str(entry["answer"]).lower(),
}


@cache
def executor(backend: Backend) -> Executor:
    """The executor of this process, with reasoning-gym loaded, and its scorers warm, once for all scores."""
    sources = str(Path(__file__).parents[1])  # an installation in place lies outside what programs may read
    return Executor(backend, preload=["gem_reasoning.warm"], readable=[sources], memory_mb=1024, timeout=10.0)


def score(
    dataset: Any,
    name: str,
    options: Mapping[str, Any],
    answer: str,
    entry: Mapping[str, Any],
    *,
    backend: Backend = "isolated",
    timeout: float = 10.0,
) -> tuple[float, str]:
    """The score in [0, 1], and what went wrong (empty when nothing did).

    An answer that makes the scorer raise, hang or die scores 0: with another answer it would not have. So does one
    of :data:`UNSOUND` that the scorer would take for right though it is not.
    """
    sound = UNSOUND.get(entry.get("metadata", {}).get("source_dataset") or name)
    if sound is not None and not sound(answer, entry):
        return 0.0, ""
    if _compares_only(type(dataset)):
        return _share(dataset.score_answer(answer, entry)), ""
    request = pickle.dumps((name, dict(options), dataset.seed, dataset.size, answer, entry))
    case = Case(function="score", files={"request.pickle": request})
    for _ in range(2):
        result = executor(backend).run_many(_PROGRAM, [case], timeout=timeout)[0]
        if result.reason != "lost":  # a lost interpreter says nothing about the answer
            break
    if result.ok and result.has_value:
        return _share(result.value), ""
    lines = result.stderr.strip().splitlines()
    return 0.0, result.message or (lines[-1][:300] if lines else "the scorer gave no score")


@cache
def _compares_only(kind: type) -> bool:
    from reasoning_gym.dataset import ProceduralDataset

    return getattr(kind, "score_answer", None) is ProceduralDataset.score_answer


def _share(value: Any) -> float:
    value = float(value)
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0
