"""The tiny model: what it samples is what it learns from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from gem.rollout import Collector, Episode
from gem_rl.batch import pack
from gem_rl.policies.tiny import TinyPolicy

WORDS = ["\\boxed{", "}", "1", "2", "3", "4", "Guess", "to", ".", ":", "It", "is", "higher", "lower", "than", "\n"]


@pytest.fixture
def policy() -> TinyPolicy:
    """A policy whose untrained weights are blown up, so that probabilities are far from even."""
    policy = TinyPolicy(WORDS, width=16, max_tokens=5, seed=1)
    with torch.no_grad():
        for parameter in policy.model.parameters():
            parameter.mul_(2.0)
    return policy


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector("toy:Guess-v0", num_envs=8, max_turns=3) as collector:
        yield collector


class Chatty(TinyPolicy):
    """Answers ``\\boxed{0}``, which is never right, after its own sample: episodes of several turns."""

    def __call__(self, observations, *, episodes, max_tokens=None):  # type: ignore[no-untyped-def]
        responses = super().__call__(observations, episodes=episodes, max_tokens=max_tokens)
        for response in filter(lambda r: r.response_ids, responses):
            response.text += " \\boxed{0}"
        return responses


def played(policy: TinyPolicy, collector: Collector, count: int = 20) -> list[Episode]:
    policy.__class__ = Chatty
    return collector.collect(policy, range(count)).episodes


def test_a_new_model_has_about_thirty_thousand_parameters() -> None:
    policy = TinyPolicy([str(n) for n in range(60)])
    assert 25_000 < sum(p.numel() for p in policy.model.parameters()) < 35_000


def test_sampled_logprobs_equal_the_learners(policy: TinyPolicy, collector: Collector) -> None:
    episodes = played(policy, collector)
    assert max(len(e.turns) for e in episodes) == 3  # through the cache of earlier turns, too
    sequences = pack(episodes)
    assert len(sequences) == len(episodes)  # every conversation extends, so each is one sequence
    sampled = torch.tensor([p for s in sequences for p in s.logprobs])
    torch.testing.assert_close(policy.score(sequences).logprobs_K, sampled, atol=1e-4, rtol=1e-4)


def test_the_shared_prefix_changes_nothing(policy: TinyPolicy, collector: Collector) -> None:
    sequences = pack(played(policy, collector))
    together = policy.score(sequences, with_values=True)
    torch.manual_seed(0)
    torch.nn.init.normal_(policy.model.value.weight)
    together = policy.score(sequences, with_values=True)
    alone = [policy.score([sequence], with_values=True) for sequence in sequences]
    torch.testing.assert_close(together.logprobs_K, torch.cat([s.logprobs_K for s in alone]), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(together.entropy_K, torch.cat([s.entropy_K for s in alone]), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(together.values_M, torch.cat([s.values_M for s in alone]), atol=1e-4, rtol=1e-4)


def test_samples_do_not_depend_on_what_is_cached(policy: TinyPolicy, collector: Collector) -> None:
    """Rows that join a batch late, beside cached ones of other lengths, are read as if alone."""
    policy.greedy = True
    with Collector("toy:Guess-v0", num_envs=3, max_turns=3) as crowded:  # refilled while others are under way
        crowded_texts = [[t.response_ids for t in e.turns] for e in played(policy, crowded)]
    with Collector("toy:Guess-v0", num_envs=1, max_turns=3) as alone:
        assert [[t.response_ids for t in e.turns] for e in played(policy, alone)] == crowded_texts


def test_prompts_hold_the_conversation_as_sampled(policy: TinyPolicy, collector: Collector) -> None:
    for episode in played(policy, collector):
        for before, after in zip(episode.turns, episode.turns[1:], strict=False):
            start = [*before.prompt_ids, *before.response_ids]
            assert after.prompt_ids[: len(start)] == start


def test_without_memory_prompts_stand_alone(collector: Collector) -> None:
    policy = TinyPolicy(WORDS, width=16, max_tokens=5, memory=False)
    episodes = played(policy, collector)
    assert all(len(turn.prompt_ids) < 12 for e in episodes for turn in e.turns)
    sequences = pack(episodes)
    assert len(sequences) == sum(len(e.turns) for e in episodes)
    policy.score(sequences)


def test_one_seed_one_rollout(policy: TinyPolicy, collector: Collector) -> None:
    def texts(seed: int) -> list[list[str]]:
        policy.seed(seed)
        return [[turn.response for turn in e.turns] for e in collector.collect(policy, range(6)).episodes]

    torch.manual_seed(0)
    first = texts(3)
    torch.manual_seed(1)  # the global generator has no say
    assert texts(3) == first
    assert texts(4) != first


def test_the_global_generator_is_left_alone() -> None:
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    TinyPolicy(WORDS, seed=1)
    assert torch.equal(torch.rand(3), wanted)


def test_token_limits(policy: TinyPolicy) -> None:
    policy.max_tokens = 3
    with Collector("toy:Guess-v0", num_envs=4, max_response_tokens=2) as collector:
        turns = [t for e in collector.collect(policy, range(12)).episodes for t in e.turns]
    assert max(len(turn.response_ids) for turn in turns) == 2
    for turn in turns:
        ended = turn.response_ids[-1] == policy.tokenizer.end
        assert turn.finish_reason == ("stop" if ended else "length")


def test_a_conversation_that_outgrows_the_context_ends_by_length(collector: Collector) -> None:
    policy = TinyPolicy(WORDS, width=16, max_tokens=5, context=20)
    episodes = played(policy, collector)
    assert {e.finish_reason for e in episodes} == {"length"}
    assert all(e.turns and e.turns[-1].truncated for e in episodes)
    assert all(len(t.prompt_ids) + len(t.response_ids) <= 20 for e in episodes for t in e.turns)


def test_temperature_counts_in_both_places(policy: TinyPolicy, collector: Collector) -> None:
    policy.temperature = 0.5
    sequences = pack(played(policy, collector))
    sampled = torch.tensor([p for s in sequences for p in s.logprobs])
    torch.testing.assert_close(policy.score(sequences).logprobs_K, sampled, atol=1e-4, rtol=1e-4)


def test_saved_and_restored(policy: TinyPolicy, collector: Collector) -> None:
    other = TinyPolicy.restore(policy.save())
    sequences = pack(played(policy, collector))
    assert torch.equal(other.score(sequences).logprobs_K, policy.score(sequences).logprobs_K)
    assert other.max_tokens == policy.max_tokens
