"""From a response to a verdict with its reason."""

from __future__ import annotations

import multiprocessing
import threading
import time
from typing import Any

import pytest

from gem_math.grading import Grader, compare, grade
from gem_math.grading.grader import gold_answers


@pytest.mark.parametrize(
    ("response", "gold", "reason"),
    [
        (r"We get $\boxed{\frac{3}{4}}$.", "0.75", "correct"),
        ("so \\boxed{840}, let me explain.\n\n**Final Answer**\n\\boxed{840}", "840", "correct"),
        (r"First \boxed{3} ... wait, it is \boxed{5}.", "5", "correct"),
        (r"First \boxed{3} ... wait, it is \boxed{5}.", "3", "wrong"),
        (r"\boxed {7}", "7", "correct"),
        (r"\boxed 7", "7", "correct"),
        (r"\fbox{7}", "7", "correct"),
        (r"\boxed{\frac{1}{2}", r"\frac{1}{2}", "no_answer"),
        (r"\boxed{5} so \boxed{6", "5", "correct"),
        (r"\boxed{}", "5", "no_answer"),
        ("it is 5", "5", "no_answer"),
        ("", "5", "no_answer"),
        (r"<think>maybe \boxed{7}</think> I am not sure.", "7", "no_answer"),
        (r"<think>\boxed{3}</think> \boxed{7}", "7", "correct"),
        (r"\boxed{7}" * 20_000, "7", "correct"),
        (r"\boxed{ " + "(" * 400 + "1" + ")" * 400 + "}", "2", "wrong"),
        ("{" * 2_000_000, "7", "no_answer"),
        (r"\boxed{7}", r"$\boxed{7}$", "correct"),
    ],
)
def test_the_last_complete_box_counts(response: str, gold: str, reason: str) -> None:
    assert grade(response, gold).reason == reason


def test_thinking_counts_when_asked_for() -> None:
    assert Grader(strip_think=False).grade(r"<think>maybe \boxed{7}</think> Not sure.", "7").correct


@pytest.mark.parametrize(
    ("gold", "answers"), [("7", ["7"]), (7, ["7"]), (7.0, ["7"]), (0.5, ["0.5"]), ([6, 7], ["6", "7"])]
)
def test_gold_answers_of_every_type(gold: Any, answers: list[str]) -> None:
    assert gold_answers(gold) == answers
    assert grade(rf"\boxed{{{answers[-1]}}}", gold).correct


@pytest.mark.parametrize("gold", [None, True, [], [None], {"a": 1}])
def test_golds_that_are_none(gold: Any) -> None:
    with pytest.raises(TypeError, match="a gold answer must be text or a number"):
        gold_answers(gold)


def test_a_response_that_is_no_text() -> None:
    with pytest.raises(TypeError, match="a response is a str, got NoneType"):
        grade(None, "1")  # type: ignore[arg-type]


TOWER = r"\boxed{\dfrac{5^{\left(5^{\left(5^{\left(5^5\right)}\right)}-4\right)}-5}{16}}"


def _grade_tower(_: int = 0) -> tuple[bool, str]:
    verdict = Grader(timeout=2).grade(TOWER, "7")
    return verdict.correct, verdict.reason


def test_a_power_tower_is_refused_everywhere() -> None:
    begin = time.monotonic()
    assert _grade_tower() == (False, "wrong")
    found: list[tuple[bool, str]] = []
    thread = threading.Thread(target=lambda: found.append(_grade_tower()))
    thread.start()
    thread.join(30)
    assert found == [(False, "wrong")]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_grade_tower, [0]) == [(False, "wrong")]
    assert time.monotonic() - begin < 30


def test_the_slow_judge_is_asked_about_latex_that_is_not_read() -> None:
    assert grade(r"\boxed{\int_0^1 x dx}", r"\frac{1}{2}").correct
    assert grade(r"\boxed{\int_0^1 x dx}", "3").reason == "wrong"


def test_its_time_limit_is_a_reason_of_its_own_and_the_next_answers_are_graded() -> None:
    grader = Grader(timeout=0.5)
    slow = grader.grade(r"\boxed{\sum_{n=1}^{10000000} \frac{1}{n^3+1}}", r"\frac{1}{3}")
    assert slow.reason == "timeout"
    assert not slow.correct
    assert "no verdict within 0.5 s" in slow.detail
    for _ in range(5):
        assert grader.grade(r"\boxed{x+1/3}", "x+1/3").correct


def test_without_a_second_process_it_is_a_grader_error() -> None:
    verdict = Grader(use_mp=False).grade(r"\boxed{\int_0^1 x dx}", "1")
    assert verdict.reason == "grader_error"
    assert "math-verify" in verdict.detail
    assert Grader(use_mp=False).grade(r"\boxed{5}", "5").correct


def test_a_mistake_of_the_grader_is_said_and_not_booked_as_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bool:
        raise KeyError("boom")

    monkeypatch.setattr(compare, "equal", broken)
    verdict = grade(r"\boxed{5}", "5")
    assert verdict.reason == "grader_error"
    assert "KeyError" in verdict.detail
