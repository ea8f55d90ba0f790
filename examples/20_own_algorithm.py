"""Train with an algorithm of your own.

An algorithm says how good each turn was; sampling, clipping, logging and the rest stay as they are. This one compares
each turn's return with those of the same turn number in the other episodes, so that late turns, which can earn less,
are judged among themselves.

    pip install gem-core gem-games gem-rl     # from this repository: by path, see the README
    python examples/20_own_algorithm.py
"""

from __future__ import annotations

from gem_rl import ALGORITHMS, TrainConfig, Trainer, advantages, build_policy
from gem_rl.algorithms import Algorithm, Judgement, Signal


def against_the_same_turn(signal: Signal) -> Judgement:
    """``G_t`` minus the mean of ``G_t`` over the episodes that have a turn ``t``."""
    turns = signal.turns
    returns_NT = advantages.returns(turns.rewards_NT, turns.mask_NT, signal.gamma)
    mean_T = returns_NT.sum(0) / turns.mask_NT.sum(0)
    return Judgement((returns_NT - mean_T) * turns.mask_NT)


def main(steps: int = 5) -> None:
    name = "same-turn"
    ALGORITHMS[name] = Algorithm(name, "the turn's return against its peers'", against_the_same_turn)
    config = TrainConfig(
        env="game:GuessTheNumber-v0-easy", algorithm=name, gamma=0.9, episodes=32, warmup_steps=30, warmup_episodes=64
    )
    with Trainer(config, build_policy(config)) as trainer:
        for _ in range(steps):
            metrics = trainer.train_step().metrics
            print(f"step {metrics['step']}: reward {metrics['reward']:.3f}, turns {metrics['turns']:.2f}")


if __name__ == "__main__":
    main()
