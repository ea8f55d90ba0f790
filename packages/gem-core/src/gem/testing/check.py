"""Run every examination over one environment."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from typing import Any

from gem.testing.violations import Violation

#: The vector backends of gem-core.
BACKENDS = ("sync", "thread", "process")


def check_env(
    env_or_id: Any,
    *,
    kwargs: dict[str, Any] | None = None,
    episodes: int = 3,
    seed: int = 0,
    backends: Iterable[str] = BACKENDS,
    max_steps: int = 200,
    timeout: float = 30.0,
    strict: bool = False,
) -> list[Violation]:
    """Every rule that an environment breaks.

    The environment is made many times and played at random; what it returns is looked at, and the same episode is
    played again in every way it might come out differently. Rules that cannot be judged (an episode that is never
    seen to end, a class that another process cannot import) are left out, as is what follows from a broken rule.

    Args:
        env_or_id: an id, an :class:`gem.EnvSpec`, a class or other callable that makes an environment, or an
            instance, whose siblings are made with its ``spawn``.
        kwargs: constructor arguments, over those of the id.
        episodes: how many random episodes are played; at least two to see what instances share.
        seed: the first episode's seed; the others count on from it.
        backends: the vector backends to play in: ``sync``, ``thread``, ``process``.
        max_steps: steps after which an episode is broken off.
        timeout: seconds one call of the environment may take.
        strict: report advice too.

    Returns:
        Violations in the order of their codes; empty for an environment that conforms.

    Raises:
        gem.MissingDependency: what the environment needs is not here, so that it cannot be judged.
        gem.UnknownEnv, gem.PluginError: nothing provides the id, or its plugin is broken.
        ValueError: an argument out of its range.
    """
    from gem.testing.checks import CHECKS
    from gem.testing.footprint import Surroundings
    from gem.testing.subject import Stop, Subject
    from gem.testing.violations import RULES

    chosen = tuple(backends)
    unknown = [name for name in chosen if name not in BACKENDS]
    if unknown:
        raise ValueError(f"unknown backend {unknown[0]!r}: choose among {', '.join(BACKENDS)}")
    if episodes < 1 or max_steps < 1 or seed < 0 or timeout <= 0:
        raise ValueError("episodes, max_steps and timeout must be positive, seed must not be negative")
    subject = Subject(
        env_or_id,
        kwargs or {},
        seed=seed,
        episodes=episodes,
        max_steps=max_steps,
        timeout=timeout,
        backends=chosen,
    )
    before = Surroundings.now()
    quiet = io.StringIO()  # an environment that prints is reported once, not heard all along
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            for check in CHECKS:
                check(subject)
    except Stop:
        pass
    finally:
        before.restore()
    found = (subject.violations[code] for code in sorted(subject.violations))
    return [violation for violation in found if strict or not RULES[violation.code].advice]


def assert_conforms(env_or_id: Any, **options: Any) -> None:
    """Raise ``AssertionError`` that lists every rule an environment breaks; takes what :func:`check_env` takes."""
    violations = check_env(env_or_id, **options)
    if violations:
        raise AssertionError("\n".join(["the environment does not conform:", *map(str, violations)]))
