"""Scores of what a model may write: harmless, between 0 and 1, never an exception."""

from __future__ import annotations

from pathlib import Path

import pytest

import gem
from gem_reasoning.names import COMPOSITE, dataset_names

NAMES = [name for name in dataset_names() if name != COMPOSITE]

ODD = [
    "[1]", "null", "abc", '{"a":1}', "[[1,2],[3]]", "-1", "1e999999999", "\ud800", "(", "\\frac{1}{0}", "x" * 100_000,
    "9" * 5000, "True", "[]", "{}", "0/0", "\x00", "a b c", "[[]]", "nan",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_is_executed_and_every_score_is_a_share(name: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    env = gem.make(f"rg:{name}")
    number = NAMES.index(name)
    answers = [f"__import__('os').system('touch {canary}')", *(ODD[(number * 3 + k) % len(ODD)] for k in range(2))]
    for position, answer in enumerate(answers):
        env.reset(idx=position)
        _, reward, terminated, _, _ = env.step(f"\\boxed{{{answer}}}")
        assert terminated
        assert 0.0 <= reward <= 1.0
    assert not canary.exists()


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("boxnet", ["[1]", "null"]),
        ("prime_factorization", ["abc"]),
        ("game_of_life", ['{"a":1}']),
        ("fraction_simplification", ["1e999999999"]),
    ],
)
def test_odd_answers_that_make_scorers_raise(name: str, answers: list[str]) -> None:
    env = gem.make(f"rg:{name}", score_timeout=3.0)
    for answer in answers:
        env.reset(seed=0)
        _, reward, _, _, info = env.step(f"\\boxed{{{answer}}}")
        assert 0.0 <= reward < 1.0
        assert info["reason"] in ("wrong", "partial", "scorer_error")


def test_right_answers_keep_their_score_where_it_runs() -> None:
    for name in ("countdown", "simple_integration", "polynomial_multiplication", "n_queens", "spiral_matrix"):
        env = gem.make(f"rg:{name}", size=3)
        env.reset(idx=1)
        gold = env._entry["answer"] or env._entry["metadata"].get("example_answer")
        if name == "n_queens":
            gold = env._entry["metadata"]["valid_answers"][0]
        _, reward, _, _, info = env.step(f"\\boxed{{{gold}}}")
        assert (reward, info["reason"]) == (1.0, "correct"), (name, info)


@pytest.mark.parametrize("env_id", ["rg:game_of_life_halting", "rg:composite"])
def test_a_truth_value_is_not_any_text(env_id: str) -> None:
    mixture = (
        {"datasets": [{"name": "game_of_life_halting", "weight": 1.0, "config": {}}]}
        if env_id == "rg:composite"
        else {}
    )
    env = gem.make(env_id, **mixture)
    golds = set()
    for idx in range(12):
        env.reset(idx=idx)
        gold = str(env._entry["answer"])
        golds.add(gold)
        for answer in ("True", "False", "abc", gold.lower()):
            env.reset(idx=idx)
            assert env.step(f"\\boxed{{{answer}}}")[1] == float(answer.lower() == gold.lower()), (gold, answer)
    assert golds == {"True", "False"}


@pytest.mark.parametrize("answer", ["nan", "NaN + 2i", "nan+nanj"])
def test_no_number_is_at_no_distance(answer: str) -> None:
    env = gem.make("rg:complex_arithmetic")
    env.reset(idx=1)
    assert env.step(f"\\boxed{{{answer}}}")[1] == 0.0
    env.reset(idx=1)
    assert env.step(f"\\boxed{{{env._entry['answer']}}}")[1] == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_no_scorer_takes_anything_for_right(name: str) -> None:
    env = gem.make(f"rg:{name}")
    env.reset(idx=1)
    state = env.get_state()
    for answer in ("nan", "xyzzy"):
        env.set_state(state)
        assert env.step(f"\\boxed{{{answer}}}")[1] < 1.0
