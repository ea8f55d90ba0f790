"""Rollouts: one way from environment to learner, evaluator and foreign trainer.

:class:`Episode` drives one episode without I/O and is its record; :class:`Collector` plays many at once.
"""

from __future__ import annotations

from gem.lazy import lazy_exports

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

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
