"""Teach a model made from scratch the form of an answer, and nothing about which answer is good.

It imitates uniformly random actions of the environment. Its words are those seen on the way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from gem import Env
from gem.rollout import Episode, Response, TaskSpec
from gem_rl import losses
from gem_rl.batch import micro_batches, pack
from gem_rl.config import TrainConfig
from gem_rl.errors import ConfigError, EmptyBatch
from gem_rl.policies.base import Policy, text_of
from gem_rl.seeds import derive, training_seeds


@dataclass(slots=True)
class Transcript:
    """One episode of random actions."""

    task: TaskSpec
    first: tuple[Any, dict[str, Any]]
    #: ``(action, what step returned)``
    steps: list[tuple[str, tuple[Any, float, bool, bool, dict[str, Any]]]]

    def texts(self) -> Iterable[str]:
        """All that a policy reads and writes in it."""
        yield text_of(self.first[0])
        for action, (observation, *_) in self.steps:
            yield action
            yield text_of(observation)


def play_randomly(config: TrainConfig) -> list[Transcript]:
    """Episodes of the environment's own random actions; those that error are left out.

    Raises:
        ConfigError: the environment has no random actions.
        EmptyBatch: every episode errored.
    """
    options = {**config.env_options, "wrappers": config.wrappers or Policy.wrappers}
    seeds = training_seeds(derive(config.seed, "warmup"), 0, config.warmup_episodes)
    transcripts = []
    cause: Exception | None = None
    env = TaskSpec(config.env, options).make()
    try:
        for seed in seeds:
            try:
                transcripts.append(_play(env, TaskSpec(config.env, options, seed), config.max_turns))
            except NotImplementedError:
                raise ConfigError(
                    f"{config.env} has no random actions to learn the answer format from: implement "
                    "sample_random_action, or train a pretrained model with policy hf:PATH"
                ) from None
            except Exception as error:  # an environment may raise anything; the next episode gets a fresh one
                cause = error
                env.close()
                env = TaskSpec(config.env, options).make()
    finally:
        env.close()
    if not transcripts:
        raise EmptyBatch(f"all {len(seeds)} episodes of the warm-up errored: {cause!r}") from cause
    return transcripts


def _play(env: Env, task: TaskSpec, max_turns: int | None) -> Transcript:
    transcript = Transcript(task, task.reset(env), [])
    while True:
        action = env.sample_random_action()
        result = env.step(action)
        transcript.steps.append((action, result))
        if result[2] or result[3] or len(transcript.steps) == max_turns:
            return transcript


def imitate(
    policy: Policy,
    encode: Callable[[str], list[int]],
    transcripts: list[Transcript],
    config: TrainConfig,
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> None:
    """Supervised steps on the actions of the transcripts; ``progress`` is called with each step and its loss."""
    episodes = [_as_sampled(policy, encode, transcript) for transcript in transcripts]
    optimizer = torch.optim.AdamW(policy.model.parameters(), lr=config.warmup_lr, weight_decay=config.weight_decay)
    order = random.Random(derive(config.seed, "warmup order"))
    for step in range(1, config.warmup_steps + 1):
        sequences = pack(order.sample(episodes, min(config.episodes, len(episodes))))
        tokens = sum(len(sequence.responses) for sequence in sequences)
        optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for batch in micro_batches(sequences, config.micro_tokens):
            loss = losses.reduce_tokens(-policy.score(batch).logprobs_K, tokens)
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(policy.model.parameters(), config.max_grad_norm)
        optimizer.step()
        progress(step, total)


def _as_sampled(policy: Policy, encode: Callable[[str], list[int]], transcript: Transcript) -> Episode:
    """The transcript as if the policy had sampled it."""
    episode = Episode(transcript.task)
    episode.begin(*transcript.first)
    for action, result in transcript.steps:
        ids = [*encode(action), policy.eos()]
        episode.respond(Response(action, policy.prompt_ids(episode), ids, [0.0] * len(ids)))
        episode.advance(*result)
    return episode
