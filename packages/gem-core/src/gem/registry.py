"""From an id to an environment: :func:`make`, :func:`register`, :func:`spec`, :func:`specs`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gem.env import Env
from gem.env_spec import EnvSpec
from gem.errors import DataError, MissingDependency, PluginError, UnknownEnv

#: Environments registered in this process with :func:`register`, which need no plugin.
_local: dict[str, EnvSpec] = {}

#: Published namespaces and the distribution that brings each, for the error message of an id whose package is missing.
KNOWN_PROVIDERS = {
    "game": "gem-games",
    "ta": "'gem-games[textarena]'",
    "math": "gem-math",
    "code": "gem-code",
    "qa": "gem-qa",
    "logic": "gem-qa",
    "rg": "gem-reasoning",
    "eval": "gem-math gem-code gem-qa",
}


def register(
    env_id: str | EnvSpec, entry_point: str | Callable[..., Any] | None = None, *, override: bool = False, **kwargs: Any
) -> EnvSpec:
    """Register an environment in this process. It comes before a plugin's environment of the same id.

    Args:
        env_id: the id, or a whole :class:`EnvSpec`.
        entry_point: ``"module:Class"`` or a callable that returns an :class:`Env`.
        override: replace an earlier registration of the same id in this process.
        **kwargs: constructor arguments of this id.

    Raises:
        ValueError: the id is registered already, or is no id.
    """
    if isinstance(env_id, EnvSpec):
        if entry_point is not None or kwargs:
            raise TypeError("register(EnvSpec) takes no entry point or options: they are in the EnvSpec")
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
    if not isinstance(env_id, str):
        raise TypeError(f"an environment id is a str, got {env_id!r}")
    if env_id in _local:
        return _local[env_id]
    from gem.plugins import manager

    found = manager().find(env_id, _namespace(env_id))
    if found is None:
        raise UnknownEnv(_unknown_message(env_id))
    return found


def _namespace(env_id: str) -> str:
    return env_id.partition(":")[0] if ":" in env_id else ""


def _unknown_message(env_id: str) -> str:
    import difflib

    from gem.plugins import manager

    namespace = _namespace(env_id)
    known = [s.id for s in specs(namespace)] if namespace else []
    near = difflib.get_close_matches(env_id, known, n=3, cutoff=0.6)
    if near:
        return f"unknown environment {env_id!r}; did you mean {' or '.join(map(repr, near))}?"
    if known:
        return f"unknown environment {env_id!r}; `gem list {namespace}:` shows the {len(known)} there are"
    for entry_point in manager().disabled:
        if entry_point.group == "gem.envs" and entry_point.name == namespace:
            return (
                f"unknown environment {env_id!r}: {entry_point.distribution}, which provides {namespace!r}, "
                "is kept out by " + "; ".join(["GEM_PLUGINS or GEM_DISABLE_PLUGINS", *manager().unknown_names()])
            )
    if namespace in KNOWN_PROVIDERS:
        return f"no installed package provides {namespace!r} environments: pip install {KNOWN_PROVIDERS[namespace]}"
    # The namespace is missing or misspelt: look everywhere, at the whole id and at what follows its colon.
    everywhere = {s.id: s.id for s in specs()}
    if not namespace:
        everywhere.update({env_id.partition(":")[2]: env_id for env_id in list(everywhere)})
    near = list(dict.fromkeys(everywhere[n] for n in difflib.get_close_matches(env_id, everywhere, n=3, cutoff=0.7)))
    if near:
        return f"unknown environment {env_id!r}; did you mean {' or '.join(map(repr, near))}?"
    return f"unknown environment {env_id!r}; `gem list` shows what is installed"


def specs(namespace: str | None = None) -> Iterator[EnvSpec]:
    """Every specification there is, of one namespace or of all, sorted by id.

    What broken plugins would provide is left out, and so is an id that two distributions claim.
    """
    from gem.plugins import manager

    collisions = manager().collisions(namespace)
    found: dict[str, EnvSpec] = {}
    for plugin in manager().env_plugins(namespace):
        found.update((env_id, s) for env_id, s in plugin.specs.items() if env_id not in collisions)
    found.update((i, s) for i, s in list(_local.items()) if namespace is None or s.namespace == namespace)
    return iter([found[env_id] for env_id in sorted(found)])


def print_envs(pattern: str = "") -> None:
    """Print the ids there are, those that contain ``pattern``; what ``gem list`` does, for a notebook."""
    from gem.cli.listing import print_list

    print_list(pattern)


def load_entry_point(found: EnvSpec) -> Callable[..., Any]:
    """The class or function that makes an environment.

    Raises:
        gem.MissingDependency: a module it imports is not installed.
        gem.PluginError: the module fails to import, or has no such attribute.
    """
    if not isinstance(found.entry_point, str):
        return found.entry_point
    from importlib import import_module

    module_name, _, attribute = found.entry_point.partition(":")
    try:
        target: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            raise PluginError(f"{found.id!r}: there is no module {error.name!r}; {_mend(found)}") from error
        raise MissingDependency(_missing_message(found, error)) from error
    except Exception as error:
        from gem.wording import one_line

        raise PluginError(
            f"{found.id!r}: importing {module_name!r} failed: {one_line(error)}; {_mend(found)}"
        ) from error
    for name in attribute.split("."):
        try:
            target = getattr(target, name)
        except AttributeError:
            raise PluginError(f"{found.id!r}: module {module_name!r} has no {attribute!r}; {_mend(found)}") from None
    return target  # type: ignore[no-any-return]


def _mend(found: EnvSpec) -> str:
    if found.provider is None:
        return "correct the entry point it was registered with"
    return f"repair it: pip install --upgrade --force-reinstall {found.provider}"


def _missing_message(found: EnvSpec, error: ModuleNotFoundError) -> str:
    target = (error.name or "it").partition(".")[0].replace("_", "-")
    if found.provider and found.extra:
        target = f"'{found.provider}[{found.extra}]'"
    return f"{found.id!r} needs the module {error.name!r}, which is not installed: pip install {target}"


def make(env_id: str | EnvSpec, *, wrappers: str | Iterable[str | Callable[[Env], Env]] = (), **kwargs: Any) -> Env:
    """Make an environment.

    Args:
        env_id: an id such as ``"game:GuessTheNumber-v0-easy"``, or an :class:`EnvSpec`.
        wrappers: names (one comma-separated string or a sequence) and callables, applied inside out in this order.
        **kwargs: constructor arguments, over those of the id.

    Returns:
        The environment. Its ``spec`` holds the constructor arguments it was made with, so that
        ``gem.make(env.spec)`` makes it again.

    Raises:
        gem.UnknownEnv, gem.PluginError, gem.MissingDependency: see :func:`spec` and :func:`load_entry_point`.
        TypeError: the environment has no such option, or needs one; the message lists those it has.
    """
    found = env_id if isinstance(env_id, EnvSpec) else spec(env_id)
    if found.deprecated_for:
        import warnings

        warnings.warn(f"{found.id!r} is deprecated: use {found.deprecated_for!r}", DeprecationWarning, stacklevel=2)
    factory = load_entry_point(found)
    if kwargs:
        found = found.replace(kwargs={**found.kwargs, **kwargs})
    try:
        env: Env = factory(**found.kwargs)
    except TypeError as error:
        explanation = explain_options(repr(found.id), found.kwargs, options(factory), error)
        if explanation is None:
            raise
        raise TypeError(explanation) from error
    except DataError as error:
        raise DataError(f"{found.id!r}: {error}") from error
    if not (callable(getattr(env, "reset", None)) and callable(getattr(env, "step", None))):
        raise TypeError(f"{found.id!r}: {found.entry_point} made {env!r}, which has no reset and step")
    env.spec = found
    if wrappers:
        from gem.wrappers import apply_wrappers

        try:
            env = apply_wrappers(env, wrappers)
        except BaseException:
            env.close()  # nobody else will
            raise
    notify("gem_env_made", spec=found, env=env)
    return env


def notify(hook: str, **arguments: Any) -> None:
    """Call an observer hook, where discovery has run: what is purely local never triggers it."""
    import sys

    plugins = sys.modules.get("gem.plugins")
    if plugins is not None and (current := plugins.current()) is not None:
        current.notify(hook, **arguments)


def options(factory: Callable[..., Any]) -> dict[str, Any]:
    """The options of an environment class or function -> their defaults (``inspect.Parameter.empty``: required).

    A class that passes ``**kwargs`` on to its bases has their options too.
    """
    import inspect

    callables: list[Any] = [factory]
    if isinstance(factory, type):
        callables = [vars(c)["__init__"] for c in factory.__mro__ if "__init__" in vars(c) and c is not object]
    found: dict[str, Any] = {}
    for function in callables:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            break
        for p in parameters[1:] if isinstance(factory, type) else parameters:
            if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
                found.setdefault(p.name, p.default)
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    return found


_UNEXPECTED = re.compile(r"got an unexpected keyword argument '([^']+)'")
_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: '([^']+)'")
_CALLED = re.compile(r"([\w.<>]+?)(?:\.__init__)?\(\) ")


def explain_options(what: str, given: Mapping[str, Any], own: dict[str, Any], error: TypeError) -> str | None:
    """What is wrong with the options, where that is what a ``TypeError`` was about; ``None`` where it was not.

    Args:
        what: what was called, as a message names it.
        given: the options it was called with.
        own: those it has; see :func:`options`.
    """
    import difflib
    import inspect

    message = str(error)
    there = {**own, **_options_of_refusing(error)}
    listing = ", ".join(there) or "none"
    # Python's own message, about an argument that was given and does not exist: anything else that went wrong
    # inside the constructor is the environment's own error and is left as it is.
    match = _UNEXPECTED.search(message)
    if match and match[1] in given and match[1] not in there:
        near = difflib.get_close_matches(match[1], there, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{what} has no option {match[1]!r}{hint} (options: {listing})"
    match = _MISSING.search(message)
    if match and match[1] not in given and own.get(match[1]) is inspect.Parameter.empty:
        return f"{what} needs the option {match[1]!r} (options: {listing})"
    return None


def _options_of_refusing(error: TypeError) -> dict[str, Any]:
    """The options of the class that refused an argument deep inside a factory that passes its own on.

    Python's message names it; what the name means is looked up where the call stands.
    """
    match = _CALLED.match(str(error))
    trace = error.__traceback__
    if match is None or trace is None:
        return {}
    while trace.tb_next is not None:
        trace = trace.tb_next
    name = match[1].rpartition(".")[2]
    refusing = trace.tb_frame.f_locals.get(name, trace.tb_frame.f_globals.get(name))
    return options(refusing) if callable(refusing) else {}
