"""Every id of every installed package keeps the rules of the conformance kit."""

from __future__ import annotations

import pytest

import gem
from gem.testing import check_env
from gem.testing.requirements import unmet_requirement


def shipped_ids() -> list[str]:
    """The ids of the packages of this repository."""
    return [spec.id for spec in gem.specs() if (spec.provider or "").startswith("gem-")]


@pytest.mark.parametrize("env_id", shipped_ids())
def test_conforms(env_id: str) -> None:
    problem = unmet_requirement(env_id)
    if problem is not None:
        pytest.skip(problem)
    # Backends are the business of each package's own tests: here one in line is enough to see an id work in a vector.
    try:
        violations = check_env(env_id, episodes=2, max_steps=60, backends=("sync",))
    except gem.MissingDependency as error:
        pytest.skip(str(error))
    assert not violations, "\n".join(map(str, violations))


def test_there_are_ids() -> None:
    assert shipped_ids()
