"""Rollouts: one way from environment to learner, evaluator and foreign trainer.

:class:`Episode` drives one episode without I/O and is its record; :class:`Collector` drives many.
"""

from __future__ import annotations

from gem.rollout.collector import Collector, Rollouts
from gem.rollout.episode import Episode
from gem.rollout.records import Response, TaskSpec, Turn

__all__ = ["Collector", "Episode", "Response", "Rollouts", "TaskSpec", "Turn"]
