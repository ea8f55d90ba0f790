""":func:`make_vec`: from ids to a vector."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gem.env import Env
from gem.env_spec import EnvSpec
from gem.rollout.records import TaskSpec
from gem.vector.base import VectorEnv
from gem.vector.slot import AutoresetMode, EnvMaker, VectorConfig
from gem.wrappers.names import WrapperLike, listed

#: One environment of a vector: an id, a specification, a task, or a callable that returns an environment.
Source = str | EnvSpec | TaskSpec | Callable[..., Env]

_BUILT_IN = {
    "sync": "gem.vector.sync:SyncVectorEnv",
    "thread": "gem.vector.thread:ThreadVectorEnv",
    "process": "gem.vector.process:ProcessVectorEnv",
}


def make_vec(
    env_ids: Source | Sequence[Source],
    num_envs: int | None = None,
    wrappers: str | WrapperLike | Sequence[WrapperLike] | None = None,
    vec_kwargs: Sequence[Mapping[str, Any]] | None = None,
    async_mode: bool = False,
    *,
    backend: str | Callable[..., VectorEnv] | None = None,
    seed: int | None = None,
    autoreset: str | AutoresetMode = AutoresetMode.SAME_STEP,
    step_timeout: float | None = None,
    reset_timeout: float | None = None,
    num_workers: int | None = None,
    start_method: str | None = None,
    **kwargs: Any,
) -> VectorEnv:
    """Make a vector of environments.

    Args:
        env_ids: one environment or a sequence of them: an id, an :class:`EnvSpec`, a :class:`TaskSpec` (whose seed and
            options its first reset uses), or a callable that returns an environment.
        num_envs: repeat a single one this often.
        wrappers: as for :func:`gem.make`, around each environment and the wrappers it brings itself.
        vec_kwargs: arguments of :func:`gem.make` for each environment, one dictionary each, below ``kwargs``.
        async_mode: ``True`` is ``backend="thread"``.
        backend: ``"sync"`` (in line, the default), ``"thread"`` (environments that wait), ``"process"`` (environments
            that compute), the name of a plugin's backend, or a backend itself.
        seed: environment ``i`` uses ``seed + i`` at its first reset, unless that reset is given a seed.
        autoreset: ``"same_step"``, ``"next_step"``, ``"disabled"``, or an :class:`AutoresetMode`.
        step_timeout: seconds after which a step counts as hung, autoreset included.
        reset_timeout: the same for resets, and for making an environment.
        num_workers: threads or processes at most; the backend decides when ``None``.
        start_method: of processes, ``"spawn"`` or ``"fork"``.
        **kwargs: constructor arguments of every environment.

    Raises:
        gem.UnknownEnv, gem.PluginError, gem.MissingDependency, TypeError: as :func:`gem.make`.
        ValueError: options that contradict each other, or no environment at all.
    """
    sources = [env_ids] if isinstance(env_ids, (str, EnvSpec, TaskSpec)) or callable(env_ids) else list(env_ids)
    if num_envs is not None:
        if len(sources) != 1:
            raise ValueError(f"num_envs repeats one environment, but {len(sources)} were given: leave it out")
        sources = sources * _positive("num_envs", num_envs)
    if not sources:
        raise ValueError("a vector needs at least one environment")
    if vec_kwargs is not None and len(vec_kwargs) != len(sources):
        raise ValueError(f"{len(vec_kwargs)} vec_kwargs for {len(sources)} environments: give one dictionary for each")
    if num_workers is not None:
        num_workers = _positive("num_workers", num_workers)
    for name, seconds in (("step_timeout", step_timeout), ("reset_timeout", reset_timeout)):
        if seconds is not None and not seconds > 0:
            raise ValueError(f"{name} must be a positive number of seconds, got {seconds!r}")
    first = None if seed is None else operator.index(seed)

    known: dict[str, EnvSpec] = {}
    makers, seeds, first_options = [], [], {}
    for i, source in enumerate(sources):
        own = dict(vec_kwargs[i]) if vec_kwargs is not None else {}
        task_seed = None
        if isinstance(source, TaskSpec):
            if source.options is not None:
                first_options[i] = source.options
            own, task_seed, source = {**source.kwargs, **own}, source.seed, source.env_id
        around = (*listed(own.pop("wrappers", None)), *listed(wrappers))
        makers.append(_maker(source, {**own, **kwargs}, around, known))
        seeds.append(task_seed if first is None else first + i)

    if backend is None:
        backend = "thread" if async_mode else "sync"
    elif async_mode and backend == "sync":
        raise ValueError("async_mode=True contradicts backend='sync': give one of them")
    config = VectorConfig(
        autoreset=AutoresetMode.parse(autoreset),
        seeds=tuple(seeds),
        options=first_options,
        step_timeout=step_timeout,
        reset_timeout=reset_timeout,
        num_workers=num_workers,
        start_method=start_method,
    )
    return _backend(backend)(makers, config)


def _positive(name: str, value: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")
    return number


def _maker(source: Any, kwargs: dict[str, Any], wrappers: tuple[Any, ...], known: dict[str, EnvSpec]) -> EnvMaker:
    if isinstance(source, str):
        # Looked up here, once an id, so that workers need no registry and an unknown id fails before any starts.
        if source not in known:
            from gem.registry import spec

            known[source] = spec(source)
        return EnvMaker(source, known[source], kwargs, wrappers)
    if isinstance(source, EnvSpec):
        return EnvMaker(source.id, source, kwargs, wrappers)
    if callable(source):
        return EnvMaker(getattr(source, "__qualname__", type(source).__name__), source, kwargs, wrappers)
    raise TypeError(f"an environment of a vector is an id, an EnvSpec, a TaskSpec or a callable, got {source!r}")


def _backend(backend: str | Callable[..., VectorEnv]) -> Callable[..., VectorEnv]:
    if callable(backend):
        return backend
    if backend in _BUILT_IN:
        from importlib import import_module

        module, _, name = _BUILT_IN[backend].partition(":")
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    from gem.plugins import manager

    found = manager().load_named("gem.backends", backend)
    if found is None:
        names = sorted({*_BUILT_IN, *manager().names("gem.backends")})
        hint = ": pip install gem-ray" if backend == "ray" else ""
        raise ValueError(f"unknown backend {backend!r} (there are {', '.join(names)}){hint}")
    return found  # type: ignore[no-any-return]
