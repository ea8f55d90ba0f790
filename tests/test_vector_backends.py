"""The same seed and actions give the same episodes of a real game, wherever it runs."""

from __future__ import annotations

from typing import Any

import pytest

import gem

ID = "game:GuessTheNumber-v0-random"


def play(**options: Any) -> list[Any]:
    with gem.make_vec(ID, num_envs=6, seed=11, **options) as vec:
        seen: list[Any] = [vec.reset()]
        for k in range(30):
            actions = [f"\\boxed{{{(7 * k + 3 * i) % 20}}}" for i in range(vec.num_envs)]
            observations, rewards, terminated, truncated, infos = vec.step(actions)
            seen.append((observations, rewards.tolist(), terminated.tolist(), truncated.tolist(), infos))
    return seen


@pytest.mark.parametrize(
    "options",
    [
        {"backend": "thread"},
        {"backend": "thread", "step_timeout": 30.0},
        {"backend": "process", "num_workers": 2, "start_method": "spawn"},
        {"backend": "process", "num_workers": 3, "start_method": "fork"},
    ],
    ids=str,
)
def test_every_backend_plays_the_same_episodes(options: dict[str, Any]) -> None:
    played = play(**options)
    assert played == play()
    assert sum(any(step[2] + step[3]) for step in played[1:]) > 5  # episodes did end and begin anew
