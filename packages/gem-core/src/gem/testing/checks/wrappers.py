"""An environment inside a wrapper, and a wrapper as the environment under examination."""

from __future__ import annotations

from typing import Any

from gem.env import Env, Wrapper
from gem.testing.agents import is_multi_agent
from gem.testing.subject import Stop, Subject, describe
from gem.testing.trace import canonical, is_over


def wrapped(subject: Subject) -> None:
    """A plain wrapper changes nothing."""
    if not subject.reproducible:
        return
    with subject.fresh() as env:
        if is_multi_agent(env):
            return
        trace = subject.play(Wrapper(env), subject.best_seed, subject.script)
        subject.compare("GEM703", trace, "inside a gem.Wrapper")


class _Listener(Wrapper):
    """Hears which keywords reach the inner environment's ``reset``."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.heard: dict[str, Any] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        self.heard = kwargs
        return self.env.reset(seed=seed, options=options)


def as_wrapper(subject: Subject) -> None:
    """Every wrapper around the innermost environment passes reset keywords on and shows attributes live."""
    with subject.fresh() as env:
        wrapper: Any = env
        while isinstance(wrapper, Wrapper):
            _passes_keywords(subject, wrapper)
            wrapper = wrapper.env
    with subject.fresh() as env:
        if isinstance(env, Wrapper):
            subject.reset(env, seed=subject.best_seed)
            _shows_live(subject, env)
            for action in subject.script:
                if is_over(subject.step(env, action)):
                    break
                _shows_live(subject, env)


def _passes_keywords(subject: Subject, wrapper: Wrapper) -> None:
    inner = wrapper.env
    listener = _Listener(inner)
    wrapper.env = listener
    try:
        with subject.limited("reset"):
            wrapper.reset(seed=subject.seed, gem_extra=0)
    except Stop:
        raise
    except Exception as error:
        subject.report("GEM701", f"{type(wrapper).__name__}.reset(gem_extra=0) raised {describe(error)}")
    else:
        if listener.heard != {"gem_extra": 0}:
            subject.report("GEM701", f"{type(wrapper).__name__}.reset swallows keywords")
    finally:
        wrapper.env = inner


def _shows_live(subject: Subject, env: Env) -> None:
    layer: Any = env
    while isinstance(layer, Wrapper):
        inner = layer.env
        for name, value in vars(layer).items():
            if name.startswith("_") or name in ("env", "spec") or name not in vars(inner):
                continue
            if canonical(value) != canonical(vars(inner)[name]):
                subject.report(
                    "GEM702", f"{type(layer).__name__}.{name} is {value!r} while the inner one is {vars(inner)[name]!r}"
                )
        layer = inner
