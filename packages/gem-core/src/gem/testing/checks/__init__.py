"""The examinations, in order: later ones rely on what earlier ones found.

Each is a function of one :class:`gem.testing.subject.Subject` that reports what it finds.
"""

from __future__ import annotations

from collections.abc import Callable

from gem.testing.checks import (
    agents,
    backends,
    course,
    life,
    process,
    reproducibility,
    specification,
    wrappers,
)
from gem.testing.subject import Subject

CHECKS: tuple[Callable[[Subject], None], ...] = (
    process.surroundings,  # first: what construction changes, it changes when it is done first
    specification.construction,
    specification.keywords,
    course.random_episodes,
    course.limits,
    specification.advice,
    course.step_before_reset,
    course.step_after_end,
    reproducibility.global_generators,
    reproducibility.same_seed,
    reproducibility.random_actions,
    reproducibility.interleaved,
    reproducibility.earlier_episodes,
    reproducibility.unseeded_resets,
    reproducibility.seeds,
    course.readable_random_actions,
    course.wrong_types,
    course.any_text,
    course.reset_options,
    reproducibility.elsewhere,
    life.closing,
    life.copies,
    life.states,
    life.spawning,
    life.aliases,
    wrappers.wrapped,
    wrappers.as_wrapper,
    agents.agents,
    backends.backends,
)
