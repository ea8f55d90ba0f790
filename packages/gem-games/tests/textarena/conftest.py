"""Programs that run where nltk's word lists are, and where they are not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from ta_programs import run


@pytest.fixture
def run_without_lists() -> Callable[..., str]:
    """Run a program on a machine without any of nltk's lists, whatever this one has."""
    return lambda program: run(f"import nltk\nnltk.data.path.clear()\n{program}")


@pytest.fixture
def run_with_lists(tmp_path) -> Callable[..., str]:
    """Run a program on a machine with small word lists where nltk looks for its own."""
    letters = "abcdeilnorst"
    words = sorted({a + b + c + d for a in letters for b in "aeio" for c in letters for d in "aeio"})
    words += [word + ending for word in words[::3] for ending in ("n", "rs", "ing")]
    (tmp_path / "corpora" / "words").mkdir(parents=True)
    for name in ("en", "en-basic", "README"):
        (tmp_path / "corpora" / "words" / name).write_text("\n".join(words))
    tagger = tmp_path / "taggers" / "averaged_perceptron_tagger_eng"
    tagger.mkdir(parents=True)
    for name, content in {"weights": {}, "tagdict": dict.fromkeys(words, "NN"), "classes": ["NN"]}.items():
        (tagger / f"{tagger.name}.{name}.json").write_text(json.dumps(content))
    return lambda program, **environment: run(program, NLTK_DATA=str(tmp_path), **environment)
