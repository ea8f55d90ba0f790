"""Every family in every vector backend; ``gem check ta:`` does more, for every id, in minutes."""

import random

import pytest
from ta_games import OFFLINE, guess

import gem
from gem.vector import make_vec
from gem_games.textarena.families import family

STEPS = 10
#: Families for one player and for more: a vector holds one kind.
IDS = {
    kind: [f"ta:{entry.id}" for entry in OFFLINE if family(entry).single == (kind == "one player")]
    for kind in ("one player", "more players")
}


def alone(env_id: str, seed: int) -> tuple[list, list]:
    """An episode stepped by hand: the actions, and what they bring."""
    rng, actions = random.Random(seed), []
    with gem.make(env_id) as env:
        results = [env.reset(seed=seed)]
        while len(actions) < STEPS and not env._match.over:
            action = guess(env, rng)
            actions.append({env.active_agents()[0]: action} if env.spec.multi_agent else action)
            results.append(env.step(actions[-1]))
    return actions, results


@pytest.fixture(scope="module")
def episodes() -> dict[str, tuple[list, list]]:
    return {env_id: alone(env_id, seed) for ids in IDS.values() for seed, env_id in enumerate(ids)}


@pytest.mark.parametrize("backend", ["sync", "thread", "process"])
@pytest.mark.parametrize("kind", IDS)
def test_episodes_are_those_stepped_by_hand(kind, backend, episodes):
    ids = IDS[kind]
    assert len(ids) >= 20
    scripts = [episodes[env_id][0] for env_id in ids]
    workers = {"process": 2, "thread": 8}.get(backend)
    with make_vec(ids, backend=backend, autoreset="disabled", num_workers=workers) as vector:
        found = [[result] for result in zip(*vector.reset(seed=list(range(len(ids)))), strict=True)]
        for turn in range(STEPS):
            actions = {index: script[turn] for index, script in enumerate(scripts) if turn < len(script)}
            for index, *result in zip(actions, *vector.step(actions), strict=True):
                found[index].append(tuple(result))
    for env_id, results in zip(ids, found, strict=True):
        assert results == episodes[env_id][1], env_id
