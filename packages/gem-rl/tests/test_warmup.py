"""The warm-up teaches the form of an answer and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gem_rl.errors import ConfigError, EmptyBatch
from gem_rl.evaluation import evaluate
from gem_rl.policies.build import build_policy
from gem_rl.warmup import play_randomly

Make = Callable[..., Any]


def test_transcripts_are_whole_episodes_of_random_actions(small: Make) -> None:
    transcripts = play_randomly(small())
    assert len(transcripts) == 32
    for transcript in transcripts:
        *middle, (_, last) = transcript.steps
        assert last[2] or last[3]
        assert not any(result[2] or result[3] for _, result in middle)
    texts = list(transcripts[0].texts())
    assert texts[0] == "Guess 1 to 4.\nGuess:"


def test_one_seed_one_set_of_transcripts(small: Make) -> None:
    def actions(seed: int) -> list[list[str]]:
        return [[action for action, _ in t.steps] for t in play_randomly(small(seed=seed))]

    assert actions(0) == actions(0) != actions(1)


def test_the_settings_turn_limit_holds(small: Make) -> None:
    assert max(len(t.steps) for t in play_randomly(small(max_turns=2))) == 2


def test_an_environment_without_random_actions_says_what_to_do(small: Make) -> None:
    with pytest.raises(ConfigError, match="implement sample_random_action, or train a pretrained model"):
        build_policy(small(env="toy:Mute-v0"))


def test_episodes_that_error_are_left_out(small: Make) -> None:
    transcripts = play_randomly(small(env_options={"breaks": True}))
    assert 0 < len(transcripts) < 32
    assert all(t.task.seed % 2 == 0 for t in transcripts)


def test_nothing_but_errors_says_why(small: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gem_rl.warmup.training_seeds", lambda *_: [1, 3])
    with pytest.raises(EmptyBatch, match=r"all 2 episodes of the warm-up errored: .*odd seeds"):
        play_randomly(small(env_options={"breaks": True}))


def test_after_it_nearly_every_answer_has_the_form_and_no_answer_is_preferred(small: Make) -> None:
    seen: list[tuple[int, float]] = []
    config = small(warmup_steps=60, eval_episodes=200)
    policy = build_policy(config, lambda step, loss: seen.append((step, loss)))
    assert [step for step, _ in seen] == list(range(1, 61))
    assert seen[-1][1] < 0.3 * seen[0][1]
    responses = [e.turns[0].response for e in evaluate(policy, config).episodes]
    counts = Counter(responses)
    good = [counts[f"\\boxed{{{n}}}"] for n in range(1, 5)]
    assert sum(good) > 0.9 * len(responses)
    assert min(good) > 0.1 * len(responses)


def test_the_same_seed_builds_the_same_policy(small: Make) -> None:
    first, second = build_policy(small()).save(), build_policy(small()).save()
    assert first["vocabulary"] == second["vocabulary"]
    assert all(bool((first["model"][n] == second["model"][n]).all()) for n in first["model"])
