"""A whole run: warm-up, evaluation before, training with checkpoints, evaluation after, picture and page."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from gem_rl.config import TrainConfig
from gem_rl.errors import Interrupted
from gem_rl.evaluation import evaluate, make_collector, summary, turn_limit
from gem_rl.optimum import best_turns
from gem_rl.policies.base import Policy
from gem_rl.policies.build import build_policy, device, restore_policy
from gem_rl.progress import Meter, Progress
from gem_rl.run_folder import RunFolder
from gem_rl.trainer import Step, Trainer

#: Episodes of a training step, or of an evaluation, that are kept for reading.
KEPT_EPISODES = 24


def check(config: TrainConfig) -> None:
    """Raise the one-line error of what cannot work, before a run folder is made."""
    device(config.device)
    make_collector(config, Policy.wrappers, 1).close()


def run(config: TrainConfig, folder: RunFolder, progress: Progress) -> dict[str, Any]:
    """Train to the last step, from the folder's checkpoint if there is one, and write everything.

    Returns:
        ``{"before": ..., "after": ..., "best_turns": ...}``, the content of ``results.json``.

    Raises:
        Interrupted: Ctrl-C; the checkpoint is written.
    """
    if config.threads:
        torch.set_num_threads(config.threads)
    with _interruptible(progress) as interrupted:
        trainer = _begin(config, folder, progress, interrupted)
        with trainer:
            _train(trainer, folder, progress, interrupted)
            results = _finish(trainer, folder, progress)
    return results


def _begin(config: TrainConfig, folder: RunFolder, progress: Progress, interrupted: threading.Event) -> Trainer:
    checkpoint = folder.checkpoint()
    if checkpoint is not None:
        trainer = Trainer(config, restore_policy(config, checkpoint["policy"]))
        trainer.load(checkpoint)
        folder.cut_back(trainer.step)
        progress.say(f"resuming {folder.path} after step {trainer.step} of {config.steps}")
        return trainer
    folder.cut_back(0)

    def warming(step: int, loss: float) -> None:
        progress.show(f"warm-up {step}/{config.warmup_steps}: learning the form of an answer, loss {loss:.3f}")
        if interrupted.is_set():
            raise Interrupted(f"stopped during warm-up; go on by `gem train --resume {folder.path}`")

    policy = build_policy(config, warming)
    parameters = sum(p.numel() for p in policy.model.parameters())
    progress.say(
        f"{config.env}: {config.algorithm}, gamma {config.gamma:g}, policy {config.policy} "
        f"({parameters:,} parameters, {policy.device})"
    )
    if config.eval_episodes:
        progress.show(f"evaluating {config.eval_episodes} held-out episodes before training")
        _evaluate(policy, config, folder, "before")
    trainer = Trainer(config, policy)
    folder.save(trainer.state())
    return trainer


def _train(trainer: Trainer, folder: RunFolder, progress: Progress, interrupted: threading.Event) -> None:
    config = trainer.config
    meter = Meter(config.steps)
    kept = {1, (config.steps + 1) // 2, config.steps}
    note = ""
    while trainer.step < config.steps:
        begun = time.perf_counter()
        step = trainer.train_step()
        seconds = time.perf_counter() - begun
        number = trainer.step
        if number in kept:
            _keep(step, folder, f"step-{number:06}")
        folder.log(step.metrics, _timing(step, seconds))
        if (stop := interrupted.is_set()) or number % config.checkpoint_every == 0 or number == config.steps:
            folder.save(trainer.state())
        line = meter.line(step.metrics, seconds)
        if step.metrics.get("note", "") != note:
            note = step.metrics.get("note", "")
            if note:
                progress.say(f"step {number}: {note}")
        progress.show(line, last=number == config.steps)
        if stop and number < config.steps:
            raise Interrupted(f"stopped after step {number}; go on by `gem train --resume {folder.path}`")


def _timing(step: Step, seconds: float) -> dict[str, Any]:
    metrics = step.metrics
    return {
        "step": metrics["step"],
        "seconds": round(seconds, 6),
        "rollout_seconds": round(step.rollouts.metrics["seconds"], 6),
        "episodes_per_second": round(metrics["episodes"] / seconds, 3),
        "tokens_per_second": round(metrics["tokens"] / seconds, 3),
    }


def _keep(step: Step, folder: RunFolder, name: str) -> None:
    folder.write_episodes(name, step.rollouts.episodes[:KEPT_EPISODES], step.advantages()[:KEPT_EPISODES])


def _evaluate(policy: Any, config: TrainConfig, folder: RunFolder, name: str) -> None:
    rollouts = evaluate(policy, config)
    folder.write_episodes(name, [*rollouts.episodes, *rollouts.errors], None)


def _finish(trainer: Trainer, folder: RunFolder, progress: Progress) -> dict[str, Any]:
    from gem_rl.plots import learning_curve
    from gem_rl.report import write_report

    config = trainer.config
    limit = turn_limit(config)
    results: dict[str, Any] = {"best_turns": best_turns(config), "turn_limit": limit}
    if config.eval_episodes:
        progress.show(f"evaluating {config.eval_episodes} held-out episodes after training")
        _evaluate(trainer.policy, config, folder, "after")
        for name in ("before", "after"):
            episodes = [episode for episode, _ in folder.episodes(name)]
            played = [episode for episode in episodes if episode.error is None]
            results[name] = {**summary(played, limit), "errored": len(episodes) - len(played)}
    folder.write_results(results)
    learning_curve(folder.path / "curve.png", folder.metrics(), config, results)
    write_report(folder.path / "episodes.html", folder, config, results)
    return results


@contextmanager
def _interruptible(progress: Progress) -> Iterator[threading.Event]:
    """The first Ctrl-C only sets the event, so that a step is never cut in half; the second one cuts."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted  # signals reach the main thread alone
        return

    def handler(number: int, frame: object) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()
        progress.say("stopping after this step; Ctrl-C again to stop at once (going on from the last checkpoint)")

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
