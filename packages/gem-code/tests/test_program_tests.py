"""Tests of a task in every form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gem_code.program_tests import BadTests, ProgramTest, read_tests, select

LISTS = {"inputs": ["1\n", ["2", "3"]], "outputs": ["1", 5]}


def test_lists_dictionaries_and_their_json_are_one() -> None:
    wanted = [ProgramTest("1\n", "1"), ProgramTest("2\n3", "5")]
    assert read_tests(LISTS) == wanted
    assert read_tests(json.dumps(LISTS)) == wanted
    assert read_tests([{"input": "1\n", "output": "1"}, {"input": ["2", "3"], "output": 5}]) == wanted


@pytest.mark.parametrize(
    "tests",
    [
        {"fn_name": "f", "inputs": [[1, [2]]], "outputs": [3]},
        {"fn_name": "f", "inputs": ["1\n[2]"], "outputs": ["3"]},
        [{"testtype": "functional", "fn_name": "f", "input": "1\n[2]", "output": "3"}],
        [{"type": "function_call", "fn_name": "f", "input": [1, [2]], "output": 3}],
    ],
)
def test_calls_of_every_form(tests: Any) -> None:
    (test,) = read_tests(tests)
    assert (test.input, test.function) == ([1, [2]], "f")
    assert test.output in (3, "3")  # a text stays one: the function may return it


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ({"inputs": [], "outputs": []}, "holds no test"),
        ([], "holds no test"),
        ({"inputs": ["1"], "outputs": []}, "has 1 inputs but 0 outputs"),
        ({"inputs": "1", "outputs": ["1"]}, "has no lists"),
        ({}, "has no lists"),
        ("{", "is not JSON"),
        (None, "is NoneType"),
        (["x"], "has a test without"),
        ([{"input": "1"}], "has a test without"),
        ([{"testtype": "functional", "input": "1", "output": "1"}], "has a functional test without 'fn_name'"),
        ({"fn_name": "f", "inputs": ["x y"], "outputs": ["1"]}, "has arguments that are not JSON"),
    ],
)
def test_tests_that_cannot_be_used(tests: Any, message: str) -> None:
    with pytest.raises(BadTests, match=message):
        read_tests(tests)


def test_the_longest_inputs_are_kept_in_order() -> None:
    tests = [ProgramTest("x" * size, "") for size in (3, 9, 1, 7, 9)]
    assert [test.size for test in select(tests, 3)] == [9, 7, 9]
    assert select(tests, None) == select(tests, 5) == tests
