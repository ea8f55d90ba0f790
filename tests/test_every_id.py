"""Every id of every installed package can be made and played, and keeps the rules of the conformance kit.

Where something an id needs is not there (the network, a word list, a newer Python), making it must say so in one
line that names it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import gem
from gem.testing import check_env
from gem.testing.returned import json_problems, observation_problem

#: Ids of one class that differ in an option only, above this number, are a family: each is made and reset here, a few
#: are stepped, and their own package's tests check the rules. The others are checked rule by rule.
FAMILY = 12
STEPPED = 3


def shipped() -> tuple[list[str], list[str]]:
    """The ids of the packages of this repository: those to check, and those of families."""
    specs = [spec for spec in gem.specs() if (spec.provider or "").startswith("gem-")]
    sizes = Counter((spec.entry_point, spec.requires) for spec in specs)
    return (
        [spec.id for spec in specs if sizes[spec.entry_point, spec.requires] <= FAMILY],
        # TextArena's -raw and -train ids differ in how observations are wrapped; its own tests tell them apart.
        [
            spec.id
            for spec in specs
            if sizes[spec.entry_point, spec.requires] > FAMILY and not spec.id.endswith(("-raw", "-train"))
        ],
    )


CHECKED, FAMILIES = shipped()


def out_of_reach(env_id: str) -> bool:
    """Whether the id cannot be made here, which it must say in one line."""
    problem: Exception | None = None
    try:
        gem.make(env_id).close()
    except (gem.MissingDependency, gem.DataError) as error:
        problem = error
    if problem is not None:
        assert isinstance(problem, gem.MissingDependency) or "network" in gem.spec(env_id).requires
        assert env_id in str(problem)
        assert "\n" not in str(problem)
    return problem is not None


@pytest.mark.parametrize("env_id", CHECKED)
def test_conforms(env_id: str) -> None:
    if out_of_reach(env_id):
        return
    # Each package tests its environments in the other backends; one in line shows that an id works in a vector.
    violations = check_env(env_id, episodes=2, max_steps=60, backends=("sync",))
    assert not violations, "\n".join(map(str, violations))


@pytest.mark.parametrize("env_id", FAMILIES)
def test_members_of_families_can_be_made_and_played(env_id: str) -> None:
    if out_of_reach(env_id):
        return
    with gem.make(env_id) as env:
        check(*env.reset(seed=0))
        if FAMILIES.index(env_id) < STEPPED:
            observation, reward, terminated, truncated, info = env.step("\\boxed{1}")
            check(observation, info)
            assert isinstance(reward, float)
            assert terminated != truncated


def check(observations: Any, infos: Any) -> None:
    """Observations and infos of one agent, or by agent."""
    several = isinstance(observations, dict)
    for observation in observations.values() if several else [observations]:
        assert observation_problem(observation) is None
    for info in infos.values() if several else [infos]:
        assert not list(json_problems(info))


def test_every_id_of_the_games_is_checked() -> None:
    assert {spec.id for spec in gem.specs("game")} <= set(CHECKED)
