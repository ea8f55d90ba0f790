"""Rollouts: one way from environment to learner, evaluator and foreign trainer.

:class:`Episode` drives one episode without I/O and is its record; :class:`Collector` plays many at once.
"""

from __future__ import annotations

_EXPORTS = {
    "Response": "gem.rollout.records",
    "TaskSpec": "gem.rollout.records",
    "Turn": "gem.rollout.records",
    "Episode": "gem.rollout.episode",
    "Row": "gem.rollout.rows",
    "Collector": "gem.rollout.collector",
    "Rollouts": "gem.rollout.collector",
    "TokenPrompts": "gem.rollout.tokens",
}

__all__ = sorted(_EXPORTS)

# Type checkers read these. At run time names are imported on use: a task or a record needs no collector.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from gem.rollout.collector import Collector as Collector, Rollouts as Rollouts
    from gem.rollout.episode import Episode as Episode
    from gem.rollout.records import Response as Response, TaskSpec as TaskSpec, Turn as Turn
    from gem.rollout.rows import Row as Row
    from gem.rollout.tokens import TokenPrompts as TokenPrompts


def __getattr__(name: str) -> object:
    module_name = _EXPORTS.get(name)
    if module_name is None:
        raise AttributeError(f"module 'gem.rollout' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(module_name), name)
    globals()[name] = value
    return value
