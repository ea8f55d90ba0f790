"""From an id to an environment: :func:`make`, :func:`register`, :func:`spec`, :func:`specs`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gem.env import Env
from gem.errors import MissingDependency, PluginError, UnknownEnv
from gem.spec import EnvSpec

#: Environments registered in this process with :func:`register`, which need no plugin.
_local: dict[str, EnvSpec] = {}

#: Published namespaces and the distribution that brings each, for the error message of an id whose package is missing.
KNOWN_PROVIDERS = {
    "game": "gem-games",
    "ta": "gem-games[textarena]",
    "math": "gem-math",
    "code": "gem-code",
    "qa": "gem-qa",
    "logic": "gem-qa",
    "rg": "gem-reasoning",
    "terminal": "gem-terminal",
    "eval": "gem-math gem-code gem-qa",
}


def register(
    env_id: str | EnvSpec, entry_point: str | Callable[..., Any] | None = None, *, override: bool = False, **kwargs: Any
) -> EnvSpec:
    """Register an environment in this process.

    Args:
        env_id: the id, or a whole :class:`EnvSpec`.
        entry_point: ``"module:Class"`` or a callable that returns an :class:`Env`.
        override: replace an earlier registration of the same id in this process.
        **kwargs: constructor arguments of this id.

    Raises:
        ValueError: the id is registered already.
    """
    if isinstance(env_id, EnvSpec):
        spec = env_id
    elif entry_point is None:
        raise TypeError(f"register({env_id!r}) needs an entry point: 'module:Class' or a callable")
    else:
        spec = EnvSpec(id=env_id, entry_point=entry_point, kwargs=kwargs)
    if spec.id in _local and not override:
        raise ValueError(f"{spec.id!r} is registered already; pass override=True to replace it")
    _local[spec.id] = spec
    return spec


def unregister(env_id: str) -> None:
    """Forget an id registered with :func:`register`."""
    if _local.pop(env_id, None) is None:
        raise UnknownEnv(f"{env_id!r} was not registered with gem.register")


def spec(env_id: str) -> EnvSpec:
    """The specification of an id.

    Raises:
        gem.UnknownEnv: nothing provides it; the message names near ids or the package to install.
        gem.PluginError: its plugin is broken, or two plugins claim it.
    """
    if env_id in _local:
        return _local[env_id]
    if not isinstance(env_id, str):
        raise TypeError(f"an environment id is a str, got {env_id!r}")
    from gem.plugins import manager

    plugins = manager()
    namespace = env_id.partition(":")[0] if ":" in env_id else ""
    claims: dict[str, EnvSpec] = {}
    broken = []
    for plugin in plugins.env_plugins(namespace):
        if plugin.error is not None:
            broken.append(plugin)
        elif env_id in plugin.specs:
            claims[plugin.distribution] = plugin.specs[env_id]
    if len(claims) > 1:
        names = " and ".join(sorted(claims))
        raise PluginError(f"{names} both provide {env_id!r}; uninstall one, or set GEM_DISABLE_PLUGINS to its name")
    if claims:
        return next(iter(claims.values()))
    found = plugins.find_spec(namespace, env_id)
    if found is not None:
        return found
    if broken:
        causes = "; ".join(f"{p.distribution} is broken: {p.error!r}; repair it: {p.repair()}" for p in broken)
        raise PluginError(f"cannot look up {env_id!r}: {causes}") from broken[0].error
    raise UnknownEnv(_unknown_message(env_id, namespace))


def _unknown_message(env_id: str, namespace: str) -> str:
    import difflib

    known = [s.id for s in specs(namespace)] + list(_local)
    near = difflib.get_close_matches(env_id, known, n=3, cutoff=0.6)
    if near:
        return f"unknown environment {env_id!r}; did you mean {' or '.join(map(repr, near))}?"
    if known and namespace:
        return f"unknown environment {env_id!r}; `gem list {namespace}:` shows the {len(known)} ids there are"
    if namespace in KNOWN_PROVIDERS:
        return f"no installed package provides {namespace!r} environments: pip install {KNOWN_PROVIDERS[namespace]}"
    return f"unknown environment {env_id!r}; `gem list` shows what is installed"


def specs(namespace: str | None = None) -> Iterator[EnvSpec]:
    """Every specification that can be listed, of one namespace or of all, sorted by id. Broken plugins are left out."""
    from gem.plugins import manager

    plugins = manager()
    found: dict[str, EnvSpec] = {}
    for name in plugins.namespaces() if namespace is None else [namespace]:
        for plugin in plugins.env_plugins(name):
            found.update(plugin.specs)
    for env_id, local in _local.items():
        if namespace is None or local.namespace == namespace:
            found[env_id] = local
    yield from (found[env_id] for env_id in sorted(found))


def load_entry_point(entry_point: str | Callable[..., Any], env_id: str) -> Callable[..., Any]:
    """The class or function an entry point names.

    Raises:
        gem.MissingDependency: a module it imports is not installed.
        gem.PluginError: the module has no such attribute.
    """
    if not isinstance(entry_point, str):
        return entry_point
    from importlib import import_module

    module_name, _, attribute = entry_point.partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise MissingDependency(_missing_message(env_id, error)) from error
    try:
        return getattr(module, attribute)  # type: ignore[no-any-return]
    except AttributeError:
        raise PluginError(f"{env_id!r}: module {module_name!r} has no {attribute!r}") from None


def _missing_message(env_id: str, error: ModuleNotFoundError) -> str:
    found = spec(env_id)
    target = found.provider or (error.name or "the missing package")
    if found.extra:
        target = f"'{target}[{found.extra}]'"
    return f"{env_id!r} needs the module {error.name!r}, which is not installed: pip install {target}"


def make(
    env_id: str | EnvSpec, *, wrappers: str | Iterable[str | Callable[[Env], Env]] = (), **kwargs: Any
) -> Env:
    """Make an environment.

    Args:
        env_id: an id such as ``"game:GuessTheNumber-v0-easy"``, or an :class:`EnvSpec`.
        wrappers: names (one comma-separated string or a sequence) and callables, applied inside out in this order.
        **kwargs: constructor arguments, over those of the id.

    Raises:
        gem.UnknownEnv, gem.PluginError, gem.MissingDependency: see :func:`spec`.
        TypeError: the environment has no such option; the message lists those it has.
    """
    found = env_id if isinstance(env_id, EnvSpec) else spec(env_id)
    if found.deprecated_for:
        import warnings

        warnings.warn(f"{found.id!r} is deprecated: use {found.deprecated_for!r}", DeprecationWarning, stacklevel=2)
    factory = load_entry_point(found.entry_point, found.id)
    arguments = {**found.kwargs, **kwargs}
    try:
        env: Env = factory(**arguments)
    except TypeError as error:
        _explain_options(found.id, factory, arguments, error)
        raise
    env.spec = found
    if wrappers:
        from gem.wrappers import apply_wrappers

        env = apply_wrappers(env, wrappers)
    if found.provider is not None or _observed():
        from gem.plugins import manager

        manager().hooks.hook.gem_env_made(spec=found, env=env)
    return env


def _observed() -> bool:
    """Whether discovery ran, so that an observer may be listening; a purely local ``make`` never triggers it."""
    import sys

    plugins = sys.modules.get("gem.plugins")
    return plugins is not None and plugins.manager.cache_info().currsize > 0


def _explain_options(env_id: str, factory: Callable[..., Any], arguments: Mapping[str, Any], error: TypeError) -> None:
    """Raise a ``TypeError`` that names the unknown option, when that is what went wrong."""
    import difflib
    import inspect

    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    unknown = [name for name in arguments if name not in parameters]
    if unknown:
        near = difflib.get_close_matches(unknown[0], parameters, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        options = ", ".join(parameters) or "none"
        raise TypeError(f"{env_id!r} has no option {unknown[0]!r}{hint} (options: {options})") from error
