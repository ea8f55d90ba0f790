"""Every id of every installed package can be made and played, and keeps the rules of the conformance kit."""

from __future__ import annotations

from collections import Counter

import pytest

import gem
from gem.testing import check_env
from gem.testing.requirements import unmet_requirement
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
        [spec.id for spec in specs if sizes[spec.entry_point, spec.requires] > FAMILY],
    )


CHECKED, FAMILIES = shipped()


@pytest.fixture(autouse=True)
def _requirements(request: pytest.FixtureRequest) -> None:
    """Skip ids whose requirements are not met on this machine."""
    if "env_id" in request.fixturenames:
        problem = unmet_requirement(request.getfixturevalue("env_id"))
        if problem is not None:
            pytest.skip(problem)


@pytest.mark.parametrize("env_id", CHECKED)
def test_conforms(env_id: str) -> None:
    # Each package tests its environments in the other backends; one in line shows that an id works in a vector.
    try:
        violations = check_env(env_id, episodes=2, max_steps=60, backends=("sync",))
    except gem.MissingDependency as error:
        pytest.skip(str(error))
    assert not violations, "\n".join(map(str, violations))


@pytest.mark.parametrize("env_id", FAMILIES)
def test_members_of_families_can_be_made_and_played(env_id: str) -> None:
    try:
        env = gem.make(env_id)
    except (gem.MissingDependency, gem.DataError) as error:
        if isinstance(error, gem.DataError) and "network" not in gem.spec(env_id).requires:
            raise
        pytest.skip(str(error))
    with env:
        observation, info = env.reset(seed=0)
        assert observation_problem(observation) is None
        assert not list(json_problems(info))
        if FAMILIES.index(env_id) < STEPPED:
            observation, reward, terminated, truncated, info = env.step("\\boxed{1}")
            assert observation_problem(observation) is None
            assert isinstance(reward, float)
            assert terminated != truncated
            assert not list(json_problems(info))


def test_every_id_of_the_games_is_checked() -> None:
    assert {spec.id for spec in gem.specs("game")} <= set(CHECKED)
