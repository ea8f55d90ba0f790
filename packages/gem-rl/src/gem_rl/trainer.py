"""One training step after another: rollout, judgement, update."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gem.rollout import Episode, Rollouts
from gem_rl import losses
from gem_rl.advantages import all_equal, normalise_batch
from gem_rl.algorithms import Judgement, Signal, algorithm
from gem_rl.batch import Turns, micro_batches, pack, turns as padded_turns
from gem_rl.config import TrainConfig
from gem_rl.errors import EmptyBatch
from gem_rl.evaluation import make_collector, summary, turn_limit
from gem_rl.policies.base import Packed, Policy, Scores
from gem_rl.seeds import derive, training_seeds


@dataclass(slots=True)
class Step:
    """What one training step saw and did."""

    rollouts: Rollouts
    judgement: Judgement
    #: Name -> number, the same on every run of the same seed; ``note`` is a text, where there is something to say.
    metrics: dict[str, Any]

    def advantages(self) -> list[list[float]]:
        """The advantage of each turn of each episode."""
        rows = self.judgement.advantages_NT.tolist()
        return [row[: len(e.turns)] for row, e in zip(rows, self.rollouts.episodes, strict=True)]


class Trainer:
    """Joins a policy, an environment and an algorithm.

    ::

        with Trainer(config, policy) as trainer:
            for _ in range(config.steps):
                print(trainer.train_step().metrics["reward"])

    Every step draws its tasks and samples from seeds derived of the run's seed and the step's number, so
    :meth:`state` after a step is all that the next one depends on.
    """

    def __init__(self, config: TrainConfig, policy: Policy) -> None:
        self.config = config
        self.policy = policy
        self.algorithm = algorithm(config.algorithm)
        self.step = 0
        self.optimizer = torch.optim.AdamW(
            [p for p in policy.model.parameters() if p.requires_grad], lr=config.lr, weight_decay=config.weight_decay
        )
        #: The frozen model that the KL term holds the policy to.
        self.reference = copy.deepcopy(policy.model).requires_grad_(False) if config.kl_coef > 0 else None
        self.limit = turn_limit(config)
        self.collector = make_collector(config, policy.wrappers, config.episodes, config.group_size)

    # -- a step ---------------------------------------------------------------------------------------

    def train_step(self) -> Step:
        """Collect one batch and learn from it.

        Raises:
            EmptyBatch: no episode could be played to its end.
            TypeError: the policy did not answer every observation.
        """
        config = self.config
        self.step += 1
        self.policy.seed(derive(config.seed, "sampling", self.step))
        rollouts = self.collector.collect(
            self.policy, training_seeds(config.seed, self.step, config.episodes // config.group_size)
        )
        if not rollouts.episodes:
            causes = sorted({str(e.error) for e in rollouts.errors})
            raise EmptyBatch(f"all {len(rollouts.errors)} episodes of step {self.step} errored: {causes[0]}")
        judgement, learned = self.learn(rollouts.episodes)
        metrics = {"step": self.step, **summary(rollouts.episodes, self.limit), **_counts(rollouts), **learned}
        note = _note(rollouts.episodes, judgement)
        if note:
            metrics["note"] = note
        return Step(rollouts, judgement, metrics)

    def learn(self, episodes: Sequence[Episode]) -> tuple[Judgement, dict[str, float]]:
        """Update the policy with a batch of episodes, ``epochs`` times; returns what was judged and the metrics."""
        config = self.config
        turns = padded_turns(episodes)
        critic = self.algorithm.needs_critic
        sequences = pack(episodes, bootstrap=self.policy if critic and config.bootstrap else None)
        batches = list(micro_batches(sequences, config.micro_tokens))
        before = self._look(batches)
        values_NT, bootstrap_N = _spread(batches, before, turns) if critic else (None, None)
        judgement = self.algorithm.judge(Signal(turns, config.gamma, config.lam, values_NT, bootstrap_N))
        if critic and config.whiten:
            judgement = Judgement(normalise_batch(judgement.advantages_NT, turns.mask_NT), judgement.targets_NT)
        update = _Update(self, turns, judgement, sum(len(s.responses) for s in sequences))
        metrics: dict[str, float] = {}
        for _ in range(config.epochs):
            self.optimizer.zero_grad(set_to_none=True)
            metrics = {}
            for batch, old in zip(batches, before, strict=True):
                loss, parts = update.loss(batch, old)
                loss.backward()
                for name, value in parts.items():
                    metrics[name] = metrics.get(name, 0.0) + value
            parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
            metrics["grad_norm"] = float(torch.nn.utils.clip_grad_norm_(parameters, config.max_grad_norm))
            self.optimizer.step()
        advantages_M = turns.flat(judgement.advantages_NT)
        metrics["advantage_std"] = float(advantages_M.std(correction=0))
        return judgement, metrics

    @torch.no_grad()
    def _look(self, batches: list[list[Packed]]) -> list[_Before]:
        """What must be known of the policy before it moves; no pass is spent where the sampler said it already."""
        looked = []
        needed = self.algorithm.needs_critic or not self.policy.same_engine
        for batch in batches:
            scores = self.policy.score(batch, self.algorithm.needs_critic) if needed else None
            looked.append(_Before(scores, self._reference_logprobs(batch)))
        return looked

    def _reference_logprobs(self, batch: list[Packed]) -> Tensor | None:
        if self.reference is None:
            return None
        live, self.policy.model = self.policy.model, self.reference
        try:
            return self.policy.score(batch).logprobs_K
        finally:
            self.policy.model = live

    # -- keeping --------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that the next step depends on, besides the configuration."""
        return {
            "step": self.step,
            "policy": self.policy.save(),
            "optimizer": self.optimizer.state_dict(),
            "reference": None if self.reference is None else self.reference.state_dict(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state`."""
        self.step = state["step"]
        self.policy.load(state["policy"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.reference is not None:
            self.reference.load_state_dict(state["reference"])

    def close(self) -> None:
        self.collector.close()

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@dataclass(slots=True)
class _Before:
    """A micro-batch as the policy saw it before the update."""

    scores: Scores | None
    reference_K: Tensor | None


class _Update:
    """The loss of one batch."""

    def __init__(self, trainer: Trainer, turns: Turns, judgement: Judgement, tokens: int) -> None:
        self.config = trainer.config
        self.policy = trainer.policy
        device = trainer.policy.device
        self.advantages_M = turns.flat(judgement.advantages_NT).to(device)
        self.targets_M = None if judgement.targets_NT is None else turns.flat(judgement.targets_NT).to(device)
        self.total = max(1, tokens)
        config = trainer.config
        constant = config.divisor or config.episodes * config.max_tokens
        self.divisor = constant if config.divide_by == "constant" else self.total

    def loss(self, batch: list[Packed], before: _Before) -> tuple[Tensor, dict[str, float]]:
        config, device = self.config, self.policy.device
        scores = self.policy.score(batch, self.targets_M is not None)
        turn_K = torch.tensor([turn for s in batch for turn in s.turns], device=device)
        sampler_K = torch.tensor([p for s in batch for p in s.logprobs], device=device)
        advantages_K = self.advantages_M[turn_K]
        logprobs_K = scores.logprobs_K
        old_K = sampler_K if self.policy.same_engine or before.scores is None else before.scores.logprobs_K
        metrics: dict[str, float] = {}
        with torch.no_grad():
            metrics["entropy"] = float(scores.entropy_K.sum()) / self.total
            metrics["kl_old"] = float(losses.kl_k3(old_K, logprobs_K).sum()) / self.total
        if config.epochs == 1:
            token_loss_K = losses.reinforce(logprobs_K, advantages_K)
        else:
            token_loss_K = losses.clipped(logprobs_K, old_K, advantages_K, config.clip_low, config.clip_high)
            with torch.no_grad():
                clipped_K = losses.clip_active(logprobs_K, old_K, advantages_K, config.clip_low, config.clip_high)
                metrics["clipped"] = float(clipped_K.sum()) / self.total
        if not self.policy.same_engine:
            token_loss_K = token_loss_K * losses.importance_weights(old_K, sampler_K, config.importance_cap)
            metrics["kl_mismatch"] = float(losses.kl_k3(sampler_K, old_K).sum()) / self.total
        if config.entropy_coef:
            token_loss_K = token_loss_K - config.entropy_coef * scores.entropy_K
        if before.reference_K is not None:
            kl_K = losses.kl_k3(logprobs_K, before.reference_K)
            token_loss_K = token_loss_K + config.kl_coef * kl_K
            metrics["kl_reference"] = float(kl_K.detach().sum()) / self.total
        loss = losses.reduce_tokens(token_loss_K, self.divisor)
        metrics["loss"] = float(loss.detach())
        if self.targets_M is not None:
            value_loss = self._value_loss(batch, before, scores)
            metrics["value_loss"] = float(value_loss.detach())
            loss = loss + config.value_coef * value_loss
        return loss, metrics

    def _value_loss(self, batch: list[Packed], before: _Before, scores: Scores) -> Tensor:
        assert scores.values_M is not None
        assert before.scores is not None
        assert before.scores.values_M is not None
        assert self.targets_M is not None
        turn_M = torch.tensor([turn for s in batch for turn in s.prompt_turns], device=self.policy.device)
        real_M = turn_M >= 0  # the others are where truncated episodes ended
        targets_M = self.targets_M[turn_M[real_M]]
        losses_M = losses.value(
            scores.values_M[real_M], before.scores.values_M[real_M], targets_M, self.config.value_clip
        )
        return losses_M.sum() / len(self.targets_M)


def _spread(batches: list[list[Packed]], before: list[_Before], turns: Turns) -> tuple[Tensor, Tensor]:
    """The critic's values as padded turns, and those beyond the end of each episode, on the CPU."""
    values_M = torch.zeros(int(turns.mask_NT.sum()))
    bootstrap_N = torch.zeros(len(turns.rewards_NT))
    for batch, looked in zip(batches, before, strict=True):
        assert looked.scores is not None
        assert looked.scores.values_M is not None
        numbers = torch.tensor([turn for s in batch for turn in s.prompt_turns])
        found = looked.scores.values_M.float().cpu()
        values_M[numbers[numbers >= 0]] = found[numbers >= 0]
        bootstrap_N[-1 - numbers[numbers < 0]] = found[numbers < 0]
    return turns.padded(values_M), bootstrap_N


def _counts(rollouts: Rollouts) -> dict[str, int]:
    """What a batch held, in numbers of episodes, turns and tokens."""
    turns = [turn for episode in rollouts.episodes for turn in episode.turns]
    return {
        "episodes": len(rollouts.episodes),
        "errored": len(rollouts.errors),
        "turns_played": len(turns),
        "tokens": sum(len(turn.response_ids or ()) for turn in turns),
        "cut_responses": sum(turn.finish_reason == "length" for turn in turns),
        "invalid_actions": sum(bool(turn.info.get("invalid_action")) for turn in turns),
    }


def _note(episodes: Sequence[Episode], judgement: Judgement) -> str:
    """What a person should know about this batch, or nothing."""
    if float(judgement.advantages_NT.abs().max()) > 0:
        return ""
    rewards = torch.tensor([turn.reward for episode in episodes for turn in episode.turns])
    last = [episode.turns[-1] for episode in episodes]
    if all_equal(rewards) and all(turn.info.get("invalid_action") for turn in last):
        return (
            f"the policy has collapsed: every episode ends in an invalid action ({last[0].info['invalid_action']}), "
            "all returns equal: no gradient; start again with a smaller lr"
        )
    return "all returns equal: no gradient" if all_equal(rewards) else "all advantages are 0: no gradient"
