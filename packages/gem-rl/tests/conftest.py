"""The toy environments by id, and one thread for torch: two on a busy machine make small products very slow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gem.env_spec import EnvSpec
from gem.registry import register

sys.path.insert(0, str(Path(__file__).parent))
from toys import Guess, Mute

torch.set_num_threads(1)
register(EnvSpec(id="toy:Guess-v0", entry_point=Guess, max_turns=4), override=True)
register(EnvSpec(id="toy:Mute-v0", entry_point=Mute, max_turns=4), override=True)

#: A run of seconds.
SMALL = {
    "env": "toy:Guess-v0",
    "steps": 4,
    "episodes": 16,
    "warmup_steps": 25,
    "warmup_episodes": 32,
    "warmup_lr": 1e-2,
    "eval_episodes": 12,
    "checkpoint_every": 2,
    "policy_options": {"width": 16, "layers": 1},
}


@pytest.fixture
def small() -> Callable[..., Any]:
    """Makes the configuration of a small run, some settings changed."""
    from gem_rl.config import TrainConfig

    def make(**changes: Any) -> TrainConfig:
        return TrainConfig.from_dict({**SMALL, **changes})

    return make
