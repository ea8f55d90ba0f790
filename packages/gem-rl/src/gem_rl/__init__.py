"""Reinforcement learning for GEM: algorithms over turns, policies, a trainer and ``gem train``.

``advantages`` and ``losses`` know no environment; ``policies`` know no algorithm; ``trainer`` joins them. The names
below are imported when they are first used: ``import gem_rl`` does not load torch.
"""

from __future__ import annotations

__version__ = "0.1.0"

_EXPORTS = {
    "ALGORITHMS": "gem_rl.algorithms",
    "Policy": "gem_rl.policies.base",
    "TrainConfig": "gem_rl.config",
    "Trainer": "gem_rl.trainer",
    "build_policy": "gem_rl.policies.build",
    "evaluate": "gem_rl.evaluation",
}

__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> object:
    module_name = _EXPORTS.get(name)
    if module_name is None:
        raise AttributeError(f"module 'gem_rl' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(module_name), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
