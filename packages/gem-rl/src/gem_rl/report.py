"""One self-contained HTML page to read episodes turn by turn."""

from __future__ import annotations

import base64
import json
from importlib import resources
from pathlib import Path
from typing import Any

from gem.rollout import Episode
from gem_rl.algorithms import ALGORITHMS, Signal
from gem_rl.batch import turns as padded_turns
from gem_rl.config import TrainConfig
from gem_rl.policies.base import text_of
from gem_rl.run_folder import RunFolder

#: Episodes of one set on the page.
SHOWN = 60


def write_report(path: Path, folder: RunFolder, config: TrainConfig, results: dict[str, Any]) -> None:
    """Write the page; data, style, script and picture are inside it."""
    picture = folder.path / "curve.png"
    data = {
        "title": config.env,
        "options": config.env_options,
        "settings": {"algorithm": config.algorithm, "gamma": config.gamma, "steps": config.steps, "seed": config.seed},
        "results": results,
        "sets": [_episode_set(folder, name, config) for name in folder.episode_sets()],
        "picture": base64.b64encode(picture.read_bytes()).decode() if picture.exists() else None,
    }
    # escaped to ASCII, so that what a model wrote is text for any parser: half a surrogate pair, "</script>"
    text = json.dumps(data).replace("<", "\\u003c")
    template = (resources.files("gem_rl") / "report.html").read_text(encoding="utf-8")
    path.write_text(template.replace("/*DATA*/null", text), encoding="utf-8")


def _episode_set(folder: RunFolder, name: str, config: TrainConfig) -> dict[str, Any]:
    kept = [(episode, advantages) for episode, advantages in folder.episodes(name) if episode.error is None]
    advantages = [advantage for _, advantage in kept]
    if kept and advantages[0] is None:
        advantages = _judged([episode for episode, _ in kept], config)
    shown = list(zip(kept, advantages, strict=True))[:SHOWN]
    training = name.startswith("step-")
    return {
        "name": f"training step {int(name[5:])}" if training else f"{name} training",
        "held_out": not training,
        "count": len(kept),
        "episodes": [_episode(episode, advantage, config.gamma) for (episode, _), advantage in shown],
    }


def _judged(episodes: list[Episode], config: TrainConfig) -> list[list[float] | None]:
    """The algorithm's advantages for held-out episodes as one batch; none where it needs groups or a critic."""
    algorithm = ALGORITHMS[config.algorithm]
    if algorithm.needs_groups or algorithm.needs_critic:
        return [None] * len(episodes)
    rows_NT = algorithm.judge(Signal(padded_turns(episodes), config.gamma)).advantages_NT.tolist()
    return [row[: len(episode.turns)] for row, episode in zip(rows_NT, episodes, strict=True)]


def _episode(episode: Episode, advantages: list[float] | None, gamma: float) -> dict[str, Any]:
    return {
        "seed": episode.task.seed if episode.task is not None else None,
        "success": episode.success,
        "ended": episode.finish_reason,
        "reward": episode.total_reward,
        "turns": [
            {
                "observation": _shown(turn.observation),
                "response": turn.response,
                "reward": turn.reward,
                "return": returned,
                "advantage": None if advantages is None else advantages[number],
                "invalid": turn.info.get("invalid_action"),
                "cut": turn.finish_reason == "length",
            }
            for number, (turn, returned) in enumerate(zip(episode.turns, episode.returns(gamma), strict=True))
        ],
        "last": _shown(episode.observation),
    }


def _shown(observation: Any) -> str:
    try:
        return text_of(observation)
    except TypeError:
        return "[an observation with images]"
