"""Playing whole episodes, for the tests of every game."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# A busy machine must not fail a test, nor may what is drawn decide whether it fails.
settings.register_profile("games", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("games")


def play_on(env, policy=None) -> tuple[float, bool, bool, dict]:
    """Play to the end of the episode with the solver, or a policy: summed reward, the two flags, last info."""
    policy = policy or env.solve
    total, terminated, truncated, info = 0.0, False, False, {}
    while not (terminated or truncated):
        _, reward, terminated, truncated, info = env.step(policy())
        total += reward
    return total, terminated, truncated, info


@pytest.fixture
def play():
    return play_on


@pytest.fixture
def assert_solved():
    """Assert that the solver wins, with 1.0 in total, from every seed."""

    def check(env, seeds) -> None:
        for seed in seeds:
            env.reset(seed=seed)
            total, terminated, truncated, info = play_on(env)
            assert (total, terminated, truncated, info["success"]) == (1.0, True, False, True), (env, seed)

    return check
