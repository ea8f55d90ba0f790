"""Errors: one base class, and the built-in kinds that callers already catch."""

from __future__ import annotations

import pickle

import pytest

import gem
from gem import errors

KINDS = {
    "ResetNeeded": RuntimeError,
    "UnknownEnv": ValueError,
    "PluginError": ImportError,
    "MissingDependency": ImportError,
    "StateNotSupported": NotImplementedError,
    "DataError": ValueError,
}


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_every_error_is_a_gem_error_and_a_builtin_one(name: str, kind: type[Exception]) -> None:
    error = getattr(gem, name)
    assert issubclass(error, gem.GemError)
    assert issubclass(error, kind)
    assert getattr(errors, name) is error


def test_all_of_them_are_here() -> None:
    public = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, gem.GemError)}
    assert public == {*KINDS, "GemError"}
    assert issubclass(gem.PluginWarning, UserWarning)


@pytest.mark.parametrize("name", [*KINDS, "GemError"])
def test_errors_travel_between_processes(name: str) -> None:
    error = getattr(gem, name)("what is wrong: what to do")
    assert str(pickle.loads(pickle.dumps(error))) == "what is wrong: what to do"


def test_reset_needed_explains_itself() -> None:
    assert str(gem.ResetNeeded()) == "the episode has ended or not begun: call reset() before step()"
    assert "call reset()" in str(pickle.loads(pickle.dumps(gem.ResetNeeded())))
