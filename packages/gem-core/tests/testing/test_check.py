"""check_env: an environment that keeps every rule is clean, each defect is caught by its own code."""

from __future__ import annotations

from functools import partial
from typing import Any

import defective
import pytest
from well_behaved import Counting, Digits

import gem
from gem.testing import RULES, assert_conforms, check_env

#: Rules about the backends need them; the others need none.
BACKENDS = {"GEM421": ("sync",), "GEM422": ("thread",), "GEM423": ("process",)}
#: A short limit for what hangs, a generous one for the rest.
TIMEOUTS = {"GEM103": 1.0}


def check(target: Any, code: str = "", **options: Any) -> list[str]:
    found = check_env(
        target,
        backends=BACKENDS.get(code, ()),
        timeout=TIMEOUTS.get(code, 20.0),
        strict=True,
        **options,
    )
    return [f"{violation}" for violation in found]


@pytest.fixture(autouse=True)
def _tidy():
    yield
    defective.LITTER.unlink(missing_ok=True)
    while defective.PROCESSES:
        process = defective.PROCESSES.pop()
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", defective.DEFECTS)
def test_each_defect_is_caught_by_its_own_code(name, monkeypatch):
    code = name.partition("-")[0]
    if code != "GEM408":  # a process for each defect would take most of the time; clean ones are replayed too
        monkeypatch.setattr("gem.testing.checks.reproducibility.replay_elsewhere", lambda subject: None)
    found = check(defective.DEFECTS[name], code)
    assert [line.split()[0] for line in found] == [code], "\n".join(found)
    assert "\n" not in found[0]


def test_every_rule_has_a_defect_that_breaks_it():
    assert {name.partition("-")[0] for name in defective.DEFECTS} == set(RULES)


SPEC = gem.EnvSpec(
    id="toy:Digits-v0",
    entry_point="well_behaved:Digits",
    description="Guess a digit.",
    max_turns=6,
    reward_range=(-0.1, 1.0),
)


@pytest.mark.parametrize(
    "target",
    [
        Counting,
        partial(Counting, mode="parallel"),
        Digits,
        SPEC,
        Digits(max_turns=4),
        gem.Wrapper(Digits()),
        lambda max_turns=3: Digits(max_turns),
    ],
)
def test_an_environment_that_keeps_every_rule_is_clean(target):
    assert check_env(target, strict=True) == []


@pytest.mark.parametrize("wrappers", ["concat", "concat_with_action", "episode_tracking"])
def test_wrapped_environments_are_judged_like_others(wrappers):
    env = gem.make(SPEC, wrappers=wrappers)
    assert check_env(env, backends=(), strict=True) == []


class NeedsTheHub(Digits):
    def __init__(self) -> None:
        raise gem.DataError("the hub is out of reach")


@pytest.mark.parametrize(("requires", "error"), [(("network",), gem.MissingDependency), ((), None)])
def test_data_that_is_out_of_reach_is_no_defect_where_the_network_is_declared(requires, error):
    spec = gem.EnvSpec(id="toy:Hub-v0", entry_point=NeedsTheHub, requires=requires)
    if error is None:
        assert [v.code for v in check_env(spec, backends=())] == ["GEM101"]
    else:
        with pytest.raises(error, match="the hub is out of reach"):
            check_env(spec, backends=())


def test_assert_conforms():
    assert_conforms(Digits, backends=())
    with pytest.raises(AssertionError, match="GEM610 Talks: it printed"):
        assert_conforms(defective.Talks, backends=())


@pytest.mark.parametrize(
    ("options", "message"),
    [({"backends": ["ray"]}, "unknown backend 'ray'"), ({"episodes": 0}, "must be positive"), ({"seed": -1}, "seed")],
)
def test_arguments_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        check_env(Digits, **options)


def test_ids_and_options():
    gem.register(SPEC)
    try:
        assert check_env(SPEC.id, kwargs={"max_turns": 2}, strict=True, backends=()) == []
    finally:
        from gem.registry import unregister

        unregister(SPEC.id)
    with pytest.raises(gem.UnknownEnv):
        check_env(SPEC.id)
