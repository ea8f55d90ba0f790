"""QaEnv: where the answer stands, rewards, golds of every type."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.testing import EnvSuite
from gem_qa.env import QaEnv


def step(response: str, gold: Any, **options: Any) -> tuple[float, str]:
    env = QaEnv(dataset=[{"question": "?", "answer": gold}], **options)
    env.reset()
    _, reward, terminated, truncated, info = env.step(response)
    assert (terminated, truncated) == (True, False)
    assert info["success"] is info["correct"] is (info["reason"] == "correct")
    return reward, info["reason"]


@pytest.mark.parametrize(
    ("response", "gold"),
    [
        ("<answer>Paris</answer> (format: <answer> your answer here </answer>)", "Paris"),
        ("<answer>I say <answer>Paris</answer></answer>", "Paris"),
        ("<Answer>Paris</Answer>", "Paris"),
        (r"<answer>\boxed{42}</answer>", "42"),
        (r"<answer>\boxed{42}</answer>", 42),
        ("<answer>Berlin</answer> no: <answer> paris. </answer>", ["Lutetia", "Paris"]),
        ("<think><answer>Rome</answer></think><answer>Paris</answer>", "Paris"),
        ("<answer>3.5</answer>", 3.5),
    ],
)
def test_answers_in_tags(response: str, gold: Any) -> None:
    assert step(response, gold) == (1.0, "correct")


@pytest.mark.parametrize(
    "response", ["Paris", "<answer></answer>", "<think><answer>Paris</answer>", r"\boxed{Paris}", ""]
)
def test_no_answer(response: str) -> None:
    assert step(response, "Paris") == (0.0, "no_answer")


def test_thinking_counts_when_asked_for() -> None:
    assert step("<think><answer>Paris</answer></think>", "Paris", strip_think=False) == (1.0, "correct")


def test_answers_in_a_box() -> None:
    assert step(r"So \boxed{True}.", "True", extract_boxed=True) == (1.0, "correct")
    assert step("<answer>True</answer>", "True", extract_boxed=True) == (0.0, "no_answer")
    assert step(r"\boxed{False}", "True", extract_boxed=True) == (0.0, "wrong")
    assert step(r"\boxed{True}", True, extract_boxed=True) == (1.0, "correct")


def test_f1_as_the_reward() -> None:
    assert step("<answer>Miss Jane Austen</answer>", "Jane Austen", metric="f1") == (pytest.approx(0.8), "wrong")
    assert step("<answer>Miss Jane Austen</answer>", "Jane Austen") == (0.0, "wrong")
    with pytest.raises(ValueError, match="metric must be 'em' or 'f1', got 'bleu'"):
        step("", "x", metric="bleu")


@pytest.mark.parametrize("gold", [None, [], [None], {"a": 1}])
def test_a_row_without_an_answer_is_named(gold: Any) -> None:
    with pytest.raises(gem.DataError, match="row 0 of the data set in memory: 'answer' is"):
        QaEnv(dataset=[{"question": "?", "answer": gold}]).reset()


def test_the_prompt_says_where_the_answer_goes_and_can_be_replaced() -> None:
    rows = [{"question": "Who?", "answer": "I"}]
    assert "<answer>" in QaEnv(dataset=rows).reset()[0]
    assert r"\boxed{}" in QaEnv(dataset=rows, extract_boxed=True).reset()[0]
    assert QaEnv(dataset=rows, prompt="").reset()[0] == "Who?\n"


@pytest.mark.parametrize(("env_id", "form"), [("qa:sample", "<answer>{}</answer>"), ("logic:sample", r"\boxed{{{}}}")])
def test_the_gold_answer_of_every_sample_row_is_rewarded(env_id: str, form: str) -> None:
    env = gem.make(env_id)
    for idx in range(len(env.table)):
        env.reset(idx=idx)
        gold = env.table.column("answer")[idx]
        assert env.step(form.format(gold[0] if isinstance(gold, list) else gold))[1] == 1.0


def test_a_gold_that_is_true_or_false_is_yes_or_no() -> None:
    env = QaEnv(dataset=[{"question": "?", "answer": True}, {"question": "?", "answer": False}])
    for idx, right in enumerate(("yes", "no")):
        for answer in ("yes", "no"):
            env.reset(idx=idx)
            assert env.step(f"<answer>{answer}</answer>")[1] == float(answer == right)


class TestConforms(EnvSuite):
    env_ids = ["qa:sample", "logic:sample"]
