"""The toy environments by id, and one thread for torch: two on a busy machine make small products very slow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, settings
from toys import SMALL

torch.set_num_threads(1)

# a busy machine must not fail a test, nor may luck
settings.register_profile("gem", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gem")


@pytest.fixture
def small() -> Callable[..., Any]:
    """Makes the configuration of a small run, some settings changed."""
    from gem_rl.config import TrainConfig

    def make(**changes: Any) -> TrainConfig:
        return TrainConfig.from_dict({**SMALL, **changes})

    return make
