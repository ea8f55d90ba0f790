"""Tests of every rule for every id of a package: inherit, name the ids, done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from gem.testing.check import BACKENDS, check_env
from gem.testing.requirements import unmet_requirement
from gem.testing.violations import RULES, Violation


class EnvSuite:
    """Inherit and name what to check::

        class TestMine(EnvSuite):
            env_ids = ["mine:Task-v0"]      # or: namespace = "mine"

    Each rule is a test of its own for each id, such as
    ``TestMine::test_rule[mine:Task-v0-GEM205-reward]``. An id whose requirements are not met is skipped and says why.
    """

    #: The ids to check; classes and specifications work as well.
    env_ids: ClassVar[Sequence[Any]] = ()
    #: Check every id of this namespace too.
    namespace: ClassVar[str | None] = None
    #: Constructor arguments for every id.
    kwargs: ClassVar[Mapping[str, Any]] = {}
    #: How many random episodes are played.
    episodes: ClassVar[int] = 3
    #: Steps after which an episode is broken off.
    max_steps: ClassVar[int] = 200
    #: Seconds one call may take.
    timeout: ClassVar[float] = 30.0
    #: Vector backends to leave out: ``sync``, ``thread``, ``process``.
    skip_backends: ClassVar[Sequence[str]] = ()
    #: Codes of rules to leave out; say why beside it.
    skip_rules: ClassVar[Sequence[str]] = ()
    #: Check advice too.
    strict: ClassVar[bool] = False

    @classmethod
    def parametrize(cls, metafunc: pytest.Metafunc) -> None:
        """Make a test of each rule for each id."""
        if "gem_env" in metafunc.fixturenames and "gem_rule" in metafunc.fixturenames:
            envs = cls.all_envs()
            rules = [r for r in RULES.values() if r.code not in cls.skip_rules and (cls.strict or not r.advice)]
            metafunc.parametrize(
                ("gem_env", "gem_rule"),
                [
                    pytest.param(env, rule.code, id=f"{_name(env)}-{rule.code}-{rule.name}")
                    for env in envs
                    for rule in rules
                ],
            )

    @classmethod
    def all_envs(cls) -> list[Any]:
        """Everything this suite checks.

        Raises:
            pytest.UsageError: that is nothing.
        """
        envs = list(cls.env_ids)
        if cls.namespace is not None:
            from gem.registry import specs

            envs += [spec.id for spec in specs(cls.namespace) if spec.id not in envs]
        if not envs:
            raise pytest.UsageError(
                f"{cls.__name__} checks nothing: set env_ids, or the namespace of an installed package"
            )
        return envs

    def test_rule(self, gem_env: Any, gem_rule: str, gem_violations: Callable[..., Any]) -> None:
        problem = unmet_requirement(gem_env)
        if problem is not None:
            pytest.skip(problem)
        broken: list[Violation] = gem_violations((type(self), _name(gem_env)), lambda: self.check(gem_env))
        for violation in broken:
            if violation.code == gem_rule:
                pytest.fail(f"{violation}\nSee it alone: {self.command(gem_env, violation)}", pytrace=False)

    def command(self, env: Any, violation: Violation) -> str:
        """What shows this violation outside of the tests."""
        from gem.registry import spec

        # The command line knows only what is installed, as it is registered.
        if isinstance(env, str) and spec(env).provider is not None and not self.kwargs:
            return f"gem check {env} --episodes {self.episodes}{' --strict' * violation.rule.advice}"
        name = repr(env) if isinstance(env, str) else _name(env)
        return f"gem.testing.check_env({name}, kwargs={dict(self.kwargs)!r}, strict={violation.rule.advice})"

    def check(self, env: Any) -> list[Violation]:
        """Every rule that ``env`` breaks."""
        return check_env(
            env,
            kwargs=dict(self.kwargs),
            episodes=self.episodes,
            max_steps=self.max_steps,
            timeout=self.timeout,
            backends=[name for name in BACKENDS if name not in self.skip_backends],
            strict=self.strict,
        )


def _name(env: Any) -> str:
    name = env if isinstance(env, str) else getattr(env, "id", None) or getattr(env, "__name__", None)
    return name or type(env).__name__
