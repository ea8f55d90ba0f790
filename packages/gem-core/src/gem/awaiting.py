"""Wrappers around environments that await.

An environment may offer ``async def astep(action)`` and ``async def areset(seed, options)`` beside ``step`` and
``reset``. A wrapper around one awaits as well when all it does is look at what comes back (:func:`gem.env.observes`):
its own ``step`` and ``reset`` then run on the answer that was awaited, so that nothing is written twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gem.env import Env, Wrapper


def awaits(env: Any, method: str = "step") -> bool:
    """Whether an environment's ``step`` (or ``reset``) can be awaited: its own, or one inside wrappers that observe."""
    own = getattr(type(env), f"a{method}", None)
    if own is None or not isinstance(env, Wrapper):
        return own is not None
    if observing(env):
        return awaits(env.env, method)
    return own is not getattr(Wrapper, f"a{method}")


def observing(env: Wrapper) -> bool:
    """Whether both ``step`` and ``reset`` of a wrapper are marked with :func:`gem.env.observes`."""
    return all(hasattr(getattr(type(env), method), "observes") for method in ("step", "reset"))


@contextmanager
def answered(wrapper: Wrapper, answer: Any) -> Iterator[None]:
    """Within, the environment inside a wrapper answers any step or reset with ``answer``."""
    inner = wrapper.env
    wrapper.env = _Answered(inner, answer)
    try:
        yield
    finally:
        wrapper.env = inner


class _Answered(Wrapper):
    """An environment that was stepped or reset already."""

    def __init__(self, env: Env, answer: Any) -> None:
        super().__init__(env)
        self._answer = answer

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        return self._answer

    def step(self, action: str) -> Any:
        return self._answer
