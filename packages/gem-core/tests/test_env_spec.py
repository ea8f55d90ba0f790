"""EnvSpec: what it refuses, and its JSON round trip."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import gem
from gem.env_spec import EnvSpec

words = st.from_regex(r"[A-Za-z][\w.+/-]{0,12}", fullmatch=True)
bounds = st.one_of(st.floats(allow_nan=False), st.just(float("inf")), st.just(float("-inf")))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
lower = bounds.filter(lambda b: b < float("inf"))
upper = bounds.filter(lambda b: b > float("-inf"))
specs = st.builds(
    EnvSpec,
    id=st.builds("{}:{}".format, words, words),
    entry_point=st.builds("{}:{}".format, words, words),
    kwargs=st.dictionaries(words, json_values, max_size=3),
    description=st.text(),
    max_turns=st.none() | st.integers(1, 1000),
    reward_range=st.tuples(lower, upper),
    deterministic=st.booleans(),
    multi_agent=st.booleans(),
    modalities=st.lists(words, max_size=2).map(tuple),
    requires=st.lists(words, max_size=2).map(tuple),
    extra=st.none() | words,
    tags=st.lists(words, max_size=2).map(tuple),
    deprecated_for=st.none() | words,
    provider=st.none() | words,
    provider_version=st.none() | words,
)


@given(specs)
def test_json_round_trip(spec: EnvSpec) -> None:
    text = json.dumps(spec.to_dict(), allow_nan=False)  # plain JSON: readers in other languages know no infinity
    assert EnvSpec.from_dict(json.loads(text)) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert len({spec, EnvSpec.from_dict(json.loads(text))}) == 1


def test_every_field_survives_and_unknown_ones_are_named() -> None:
    spec = EnvSpec(id="a:B-v0", entry_point="m:B")
    assert set(spec.to_dict()) == {f.name for f in dataclasses.fields(EnvSpec)}
    with pytest.raises(TypeError, match=r"EnvSpec has no field 'max_turn'; its fields are .*max_turns"):
        EnvSpec.from_dict({**spec.to_dict(), "max_turn": 3})


def test_a_callable_has_no_json_form() -> None:
    with pytest.raises(TypeError, match="registered with a callable"):
        EnvSpec(id="a:B-v0", entry_point=lambda: None).to_dict()


def test_frozen_and_replaceable() -> None:
    spec = EnvSpec(id="a:B-v0", entry_point="m:B")
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.id = "c"  # type: ignore[misc]
    assert spec.replace(max_turns=3).max_turns == 3
    assert spec.max_turns is None


@pytest.mark.parametrize(("env_id", "namespace"), [("a:B-v0", "a"), ("toy", ""), ("ta:X:raw", "ta"), ("rg:x/y", "rg")])
def test_namespace(env_id: str, namespace: str) -> None:
    assert EnvSpec(id=env_id, entry_point="m:B").namespace == namespace


@pytest.mark.parametrize("env_id", ["", ":", "a:", ":b", "a b", " a:b", "a:b ", "a:\tb", "a:b\n"])
def test_what_is_no_id(env_id: str) -> None:
    with pytest.raises(ValueError, match="is no environment id"):
        EnvSpec(id=env_id, entry_point="m:B")


@pytest.mark.parametrize("entry_point", ["", "module", "module:", ":Class"])
def test_what_is_no_entry_point(entry_point: str) -> None:
    with pytest.raises(ValueError, match="entry_point is 'module:Class'"):
        EnvSpec(id="a:b", entry_point=entry_point)


@pytest.mark.parametrize(
    "wrong",
    [{"id": 3}, {"entry_point": 3}, {"kwargs": [1]}, {"requires": "docker"}, {"tags": "x"}, {"modalities": "text"}],
)
def test_wrong_types(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        EnvSpec(**{"id": "a:b", "entry_point": "m:B", **wrong})


class OnlyResets:
    def reset(self) -> None: ...


class Proxy:
    def __getattr__(self, name: str) -> Any: ...


def test_a_class_that_is_no_environment() -> None:
    with pytest.raises(TypeError, match=r"^'a:B': <class 'object'> is no environment: it has no reset method$"):
        gem.register("a:B", object)
    with pytest.raises(TypeError, match="no step method"):
        EnvSpec(id="a:B", entry_point=OnlyResets)
    EnvSpec(id="a:B", entry_point=Proxy)  # may well find them when asked
    EnvSpec(id="a:B", entry_point="module.that.is.nowhere:Class")  # not imported to be looked at
