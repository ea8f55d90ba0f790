"""One training step: what is learned, what is counted, what is said."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from builders import episode

from gem_rl.algorithms import ALGORITHMS
from gem_rl.batch import pack
from gem_rl.config import TrainConfig
from gem_rl.errors import EmptyBatch
from gem_rl.policies.base import Policy, Scores
from gem_rl.policies.build import build_policy, restore_policy
from gem_rl.trainer import Trainer, _note

Make = Callable[..., TrainConfig]
GROUPED = {"grpo": {"group_size": 4}, "dr-grpo": {"group_size": 4}}


@pytest.fixture(scope="module")
def state() -> dict[str, Any]:
    """A warmed-up policy, made once."""
    from toys import SMALL

    return build_policy(TrainConfig.from_dict(SMALL)).save()


@pytest.fixture
def trainer(small: Make, state: dict[str, Any]) -> Iterator[Callable[..., Trainer]]:
    made = []

    def make(**changes: Any) -> Trainer:
        config = small(**changes)
        made.append(Trainer(config, restore_policy(config, state)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def weights(policy: Policy) -> torch.Tensor:
    return torch.cat([p.detach().flatten().clone() for p in policy.model.parameters()])


@pytest.mark.parametrize("epochs", [1, 2])
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_a_step_of_each_algorithm(trainer: Callable[..., Trainer], name: str, epochs: int) -> None:
    one = trainer(algorithm=name, epochs=epochs, **GROUPED.get(name, {}))
    before = weights(one.policy)
    metrics = one.train_step().metrics
    assert not torch.equal(before, weights(one.policy))
    assert metrics["step"] == 1
    assert metrics["episodes"] == 16
    assert 0 < metrics["entropy"] < 3
    assert metrics["grad_norm"] > 0
    assert ("value_loss" in metrics) == (name == "ppo")
    assert ("clipped" in metrics) == (epochs == 2)
    assert all(torch.isfinite(torch.tensor(v)) for v in metrics.values() if isinstance(v, float))


def test_groups_start_from_one_state(trainer: Callable[..., Trainer]) -> None:
    episodes = trainer(algorithm="grpo", group_size=4).train_step().rollouts.episodes
    seeds = [e.task.seed for e in episodes]
    assert len(set(seeds)) == 4
    assert all(len({e.task.seed for e in episodes if e.group_id == g}) == 1 for g in {e.group_id for e in episodes})


@pytest.mark.parametrize("reward", [1.0, -1.0])
def test_what_was_good_becomes_likelier_and_what_was_bad_less_so(
    trainer: Callable[..., Trainer], reward: float
) -> None:
    one = trainer(algorithm="reinforce", lr=0.01)
    encode, end = one.policy.tokenizer.encode, one.policy.tokenizer.end
    ids = [([*encode("Guess 1 to 4."), end], [*encode("\\boxed{1}"), end])]

    def logprob() -> float:
        return float(one.policy.score(pack([episode([reward], ids=ids)])).logprobs_K.sum().detach())

    before = logprob()
    one.learn([episode([reward], ids=ids)])
    assert (logprob() - before) * reward > 0


def test_micro_batches_give_the_same_update(trainer: Callable[..., Trainer]) -> None:
    whole, parts = trainer(algorithm="ppo", micro_tokens=100_000), trainer(algorithm="ppo", micro_tokens=40)
    first, second = whole.train_step(), parts.train_step()
    assert second.metrics["loss"] == pytest.approx(first.metrics["loss"], abs=1e-5)
    assert second.metrics["grad_norm"] == pytest.approx(first.metrics["grad_norm"], rel=1e-3)


def test_token_sums_are_divided_by_the_count_or_by_a_constant(trainer: Callable[..., Trainer]) -> None:
    by_tokens = trainer(algorithm="rebn", divide_by="tokens").train_step().metrics
    by_constant = trainer(algorithm="rebn", divide_by="constant", divisor=5.0).train_step().metrics
    assert by_constant["loss"] * 5.0 == pytest.approx(by_tokens["loss"] * by_tokens["tokens"], rel=1e-4, abs=1e-5)


def test_dr_grpo_divides_by_the_token_budget(trainer: Callable[..., Trainer]) -> None:
    budget = trainer(algorithm="dr-grpo", group_size=4)
    given = trainer(algorithm="dr-grpo", group_size=4, divisor=16.0 * budget.config.max_tokens)
    assert budget.train_step().metrics == given.train_step().metrics


def test_errored_episodes_are_dropped_and_counted(trainer: Callable[..., Trainer]) -> None:
    one = trainer(env_options={"breaks": True})
    step = one.train_step()
    odd = sum(e.task.seed % 2 for e in step.rollouts.errors)
    assert step.metrics["errored"] == len(step.rollouts.errors) == odd > 0
    assert step.metrics["episodes"] == 16 - odd
    assert len(step.advantages()) == 16 - odd


def test_a_batch_without_episodes_says_why(trainer: Callable[..., Trainer], monkeypatch: pytest.MonkeyPatch) -> None:
    one = trainer(env_options={"breaks": True})
    monkeypatch.setattr("gem_rl.trainer.training_seeds", lambda *_: [1, 3, 5])
    with pytest.raises(EmptyBatch, match=r"all 3 episodes of step 1 errored: .*odd seeds"):
        one.train_step()


def test_equal_returns_are_said_to_give_no_gradient(trainer: Callable[..., Trainer]) -> None:
    one = trainer(algorithm="rebn")
    judgement, metrics = one.learn([episode([0.5]), episode([0.5])])
    assert metrics["grad_norm"] == 0.0
    assert metrics["advantage_std"] == 0.0
    assert _note([episode([0.5]), episode([0.5])], judgement) == "all returns equal: no gradient"


def test_collapse_into_format_errors_is_said(trainer: Callable[..., Trainer]) -> None:
    one = trainer(algorithm="rebn", max_tokens=1)  # one token is never a boxed number
    one.policy.max_tokens = 1
    note = one.train_step().metrics["note"]
    assert "collapsed" in note
    assert "no guess found" in note
    assert "all returns equal: no gradient" in note


def test_a_useful_batch_has_no_note(trainer: Callable[..., Trainer]) -> None:
    assert "note" not in trainer().train_step().metrics


def test_cut_responses_are_counted_and_learned_from(trainer: Callable[..., Trainer]) -> None:
    one = trainer(max_tokens=2)
    one.policy.max_tokens = 2
    metrics = one.train_step().metrics
    assert metrics["cut_responses"] > 0
    assert metrics["tokens"] <= 2 * metrics["turns_played"]


def test_kl_holds_the_policy_to_where_it_was(trainer: Callable[..., Trainer]) -> None:
    free, held = trainer(lr=0.02, epochs=4), trainer(lr=0.02, epochs=4, kl_coef=50.0)
    start = weights(free.policy)
    for one in (free, held):
        for _ in range(3):
            metrics = one.train_step().metrics
    assert metrics["kl_reference"] >= 0
    assert (weights(held.policy) - start).norm() < (weights(free.policy) - start).norm()
    assert torch.equal(torch.cat([p.flatten() for p in held.reference.parameters()]), start)


def test_an_entropy_bonus_keeps_entropy_up(trainer: Callable[..., Trainer]) -> None:
    plain, curious = trainer(lr=0.01), trainer(lr=0.01, entropy_coef=1.0)
    for one in (plain, curious):
        for _ in range(6):
            metrics = one.train_step().metrics
        one.final = metrics["entropy"]
    assert curious.final > plain.final


def test_another_engine_is_corrected_by_importance_sampling(trainer: Callable[..., Trainer]) -> None:
    one = trainer(algorithm="reinforce")
    one.policy.same_engine = False
    same = one.train_step().metrics
    assert same["kl_mismatch"] == pytest.approx(0.0, abs=1e-4)

    two = trainer(algorithm="reinforce", importance_cap=1.5)
    two.policy.same_engine = False
    call = two.policy.__class__.__call__

    class Skewed(two.policy.__class__):  # type: ignore[misc, name-defined]
        """An engine that thinks its tokens were much less likely than the learner does."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            responses = call(self, *args, **kwargs)
            return [replace(r, logprobs=[p - 3.0 for p in r.logprobs]) for r in responses]

    two.policy.__class__ = Skewed
    skewed = two.train_step().metrics
    assert skewed["kl_mismatch"] > 1.0
    assert skewed["loss"] == pytest.approx(1.5 * same["loss"], rel=1e-3)  # every weight is at the cap


def test_losses_stay_finite_when_the_policy_moved_very_far(trainer: Callable[..., Trainer]) -> None:
    one = trainer(algorithm="ppo", epochs=2)
    far = episode([1.0, 0.0])
    for turn in far.turns:
        turn.logprobs = [-100.0, 100.0]
    _, metrics = one.learn([far])
    assert all(torch.isfinite(torch.tensor(v)) for v in metrics.values())
    assert torch.isfinite(weights(one.policy)).all()


def test_the_critic_learns_values(trainer: Callable[..., Trainer]) -> None:
    one = trainer(algorithm="ppo", gamma=1.0, lam=1.0, lr=0.01, value_clip=None, value_coef=1.0)
    episodes = [episode([2.0]), episode([2.0])]
    losses = [one.learn(episodes)[1]["value_loss"] for _ in range(60)]
    assert losses[-1] < 0.1 * losses[0]


@pytest.mark.parametrize(("bootstrap", "target"), [(True, 0.5 + 0.9 * 4.0), (False, 0.5)])
def test_bootstrapping_through_truncation_can_be_switched_off(
    trainer: Callable[..., Trainer], bootstrap: bool, target: float
) -> None:
    one = trainer(algorithm="ppo", gamma=0.9, lam=1.0, bootstrap=bootstrap)
    with torch.no_grad():
        one.policy.model.value.bias.fill_(4.0)  # the critic says 4 wherever it looks
    cut = episode([0.5], truncated=True)
    cut.observation = "Guess 1 to 4."
    judgement, _ = one.learn([cut])
    assert float(judgement.targets_NT) == pytest.approx(target, abs=1e-4)


def test_advantages_are_whitened_on_request(trainer: Callable[..., Trainer]) -> None:
    one = trainer(algorithm="ppo", whiten=True)
    judgement, metrics = one.learn([episode([1.0]), episode([0.0]), episode([0.0])])
    assert metrics["advantage_std"] == pytest.approx(1.0, abs=1e-4)
    assert float(judgement.advantages_NT.mean()) == pytest.approx(0.0, abs=1e-6)


def test_state_is_all_the_next_step_depends_on(trainer: Callable[..., Trainer]) -> None:
    one, other = trainer(algorithm="ppo", kl_coef=0.1, epochs=2), trainer(algorithm="ppo", kl_coef=0.1, epochs=2)
    for _ in range(2):
        one.train_step()
    saved = copy.deepcopy(one.state())
    wanted = [one.train_step().metrics for _ in range(2)]
    other.load(saved)
    assert [other.train_step().metrics for _ in range(2)] == wanted
    assert torch.equal(weights(other.policy), weights(one.policy))


def test_a_policy_that_answers_nothing_is_named(small: Make, state: dict[str, Any]) -> None:
    from gem_rl.policies.tiny import TinyPolicy

    class Silent(TinyPolicy):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return None

    policy = Silent.restore(state)
    with Trainer(small(), policy) as one, pytest.raises(TypeError, match=r"policy 'Silent' must return a list of 16"):
        one.train_step()


def test_scores_say_when_there_is_no_critic(trainer: Callable[..., Trainer]) -> None:
    one = trainer()
    scores: Scores = one.policy.score(pack([episode([1.0])]))
    assert scores.values_M is None
