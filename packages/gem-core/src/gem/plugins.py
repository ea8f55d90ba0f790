"""Discovery: entry points are the index, pluggy hooks the contract.

A namespace is loaded when one of its ids is first asked for, and no other plugin is imported for it. One plugin
that is broken never keeps another from working.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pluggy

from gem import hookspecs
from gem.entry_points import EntryPoint, normalized, scan
from gem.env_spec import EnvSpec
from gem.errors import PluginError, PluginWarning
from gem.wording import one_line, short

#: Marks a plugin's hook implementations.
hookimpl = pluggy.HookimplMarker("gem")

#: The entry-point groups, and what the name of an entry point means in each.
GROUPS = {
    "gem.envs": "the namespace its environments live in",
    "gem.tools": "a tool",
    "gem.wrappers": "a wrapper",
    "gem.backends": "a vector backend",
    "gem.commands": "a subcommand of `gem`",
    "gem.hooks": "an observer",
}


class EnvPlugin:
    """One entry point of the group ``gem.envs``, loaded at most once.

    Attributes:
        specs: id -> specification, of its own namespace.
        bad: what it listed that cannot be used: an id (or the ``repr`` of something that has none) -> why.
        error: why it could not be loaded or listed; ``None`` when it could, or was not tried yet.
        find: its :func:`gem.hookspecs.gem_find_env_spec` hook, once loaded.
        load_seconds: what importing it took, wall clock.
    """

    def __init__(self, entry_point: EntryPoint) -> None:
        self.entry_point = entry_point
        self.namespace = entry_point.name
        self.distribution = entry_point.distribution
        self.version = entry_point.version
        self.specs: dict[str, EnvSpec] = {}
        self.bad: dict[str, str] = {}
        self.error: BaseException | None = None
        self.find: Callable[..., EnvSpec | None] | None = None
        self.loading = False
        self.loaded = False
        self.load_seconds = 0.0

    def repair(self) -> str:
        """What most likely mends it."""
        return repair(self.entry_point, self.error)

    def problems(self) -> list[str]:
        """What is wrong with it, a line each; empty when nothing is."""
        lines = [f"{bad!r}: {reason}" for bad, reason in self.bad.items()]
        if self.error is not None:
            lines.insert(0, f"{self.distribution} is broken: {one_line(self.error)}; repair it: {self.repair()}")
        return lines


class PluginManager:
    """The plugins of this process. Its methods may be called from any thread."""

    def __init__(self) -> None:
        started = time.perf_counter()
        self.hooks = pluggy.PluginManager("gem")
        self.hooks.add_hookspecs(hookspecs)
        self._lock = threading.RLock()
        self._failed_observers: set[str] = set()
        everything = scan()
        self._entry_points = [e for e in everything if allowed(e)]
        #: Those that ``GEM_PLUGINS`` or ``GEM_DISABLE_PLUGINS`` leaves out.
        self.disabled = [e for e in everything if not allowed(e)]
        trace(f"{len(everything)} entry points in {1000 * (time.perf_counter() - started):.1f} ms")
        for entry_point in self.disabled:
            trace(f"left out by GEM_PLUGINS or GEM_DISABLE_PLUGINS: {entry_point!r}")
        for problem in self.unknown_names():
            if problem.startswith("GEM_PLUGINS "):  # what is kept out may well be absent, what is asked for should not
                warnings.warn(problem, PluginWarning, stacklevel=3)
        #: Distribution -> its namespaces, those left out too: one module may list the ids of all of them.
        self._declared: dict[str, set[str]] = {}
        for entry_point in everything:
            if entry_point.group == "gem.envs":
                self._declared.setdefault(entry_point.distribution, set()).add(entry_point.name)
        self._env_plugins: dict[str, list[EnvPlugin]] = {}
        for entry_point in self.entry_points("gem.envs"):
            self._env_plugins.setdefault(entry_point.name, []).append(EnvPlugin(entry_point))
        #: Observers that could not be loaded: entry point -> why.
        self.broken_observers: dict[EntryPoint, BaseException] = {}
        for entry_point in self.entry_points("gem.hooks"):
            self._register_observer(entry_point)

    # -- the index ------------------------------------------------------------------------------------

    def entry_points(self, group: str) -> Iterator[EntryPoint]:
        """The entry points of a group that the environment variables allow, by name and distribution."""
        return (e for e in self._entry_points if e.group == group)

    def names(self, group: str) -> list[str]:
        """The names plugins provide in a group."""
        return sorted({e.name for e in self.entry_points(group)})

    def unknown_names(self) -> list[str]:
        """What ``GEM_PLUGINS`` and ``GEM_DISABLE_PLUGINS`` name that is not installed, a line each: likely misspelt."""
        everything = [*self._entry_points, *self.disabled]
        there = {normalized(name) for e in everything for name in (e.name, e.distribution)} | {"*"}
        return [
            f"{variable} names {name!r}, which is no installed distribution or entry point"
            for variable in ("GEM_PLUGINS", "GEM_DISABLE_PLUGINS")
            for name in sorted(listed_in(variable) - there)
        ]

    def load_named(self, group: str, name: str) -> Any | None:
        """The object of entry point ``name`` in ``group``, or ``None`` where no plugin has one.

        Raises:
            gem.PluginError: it cannot be imported, or two distributions have one.
        """
        matches = [e for e in self.entry_points(group) if e.name == name]
        if not matches:
            return None
        if len(matches) > 1:
            providers = " and ".join(sorted({e.distribution for e in matches}))
            raise PluginError(f"{providers} both provide {name!r} in {group}: {SEPARATE}")
        try:
            return matches[0].load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise PluginError(
                f"{name!r} of {matches[0].distribution} is broken: {one_line(error)}; "
                f"repair it: {repair(matches[0], error)}"
            ) from error

    # -- environments ---------------------------------------------------------------------------------

    def namespaces(self) -> list[str]:
        """Every namespace that a plugin declares, loaded or not."""
        return sorted(self._env_plugins)

    def env_plugins(self, namespace: str | None = None) -> list[EnvPlugin]:
        """The plugins that claim a namespace (or all), loaded. A broken one carries its ``error``; none raises."""
        if namespace is None:
            return [plugin for name in self.namespaces() for plugin in self.env_plugins(name)]
        plugins = self._env_plugins.get(namespace, [])
        for plugin in plugins:
            if not plugin.loaded:
                with self._lock:
                    if not plugin.loaded and not plugin.loading:
                        self._load(plugin)
        return plugins

    def find(self, env_id: str, namespace: str) -> EnvSpec | None:
        """The specification of an id, or ``None`` where no plugin has it.

        Raises:
            gem.PluginError: two distributions claim the id, its specification is unusable, or no working plugin has
                it and a broken one of its namespace may.
        """
        plugins = self.env_plugins(namespace)
        claims = [(p.distribution, p.specs[env_id]) for p in plugins if env_id in p.specs]
        unusable = [(p, p.bad[env_id]) for p in plugins if env_id in p.bad]
        if not claims and not unusable:
            claims = [(p.distribution, s) for p in plugins if (s := self._composed(p, env_id)) is not None]
        if len(claims) + len(unusable) > 1:
            names = " and ".join(sorted({name for name, _ in claims} | {p.distribution for p, _ in unusable}))
            raise PluginError(f"{names} both provide {env_id!r}: {SEPARATE}")
        if unusable:
            plugin, reason = unusable[0]
            raise PluginError(f"{plugin.distribution} lists {env_id!r} wrongly: {reason}")
        if claims:
            return claims[0][1]
        broken = [p for p in plugins if p.error is not None]
        if broken:
            causes = "; ".join(problem for p in broken for problem in p.problems()[:1])
            raise PluginError(f"cannot look up {env_id!r}: {causes}") from broken[0].error
        return None

    def collisions(self, namespace: str | None = None) -> dict[str, list[str]]:
        """Ids that several distributions list -> those distributions."""
        owners: dict[str, list[str]] = {}
        for plugin in self.env_plugins(namespace):
            for env_id in plugin.specs:
                owners.setdefault(env_id, []).append(plugin.distribution)
        return {env_id: names for env_id, names in owners.items() if len(names) > 1}

    def _load(self, plugin: EnvPlugin) -> None:
        plugin.loading = True
        started = time.perf_counter()
        module = None
        try:
            module = plugin.entry_point.load()
            self._register(module, plugin.entry_point)
            others = [p for p in self.hooks.get_plugins() if p is not module]
            plugin.find = self.hooks.subset_hook_caller("gem_find_env_spec", others)
            for specs in self.hooks.subset_hook_caller("gem_env_specs", others)():
                if not isinstance(specs, Iterable):
                    raise PluginError(
                        f"gem_env_specs must yield EnvSpecs, or return a list of them; got {short(specs)}"
                    )
                for spec in specs:
                    self._add(plugin, spec)
        except KeyboardInterrupt:
            plugin.loading = False
            raise
        except BaseException as error:  # SystemExit too: whatever one plugin does, the others work
            plugin.error = error
            plugin.find = None
            if module is not None and self.hooks.is_registered(module):
                self.hooks.unregister(module)
        plugin.load_seconds = time.perf_counter() - started
        plugin.loaded = True
        trace(
            f"{plugin.namespace}: loaded {plugin.entry_point.value} of {plugin.distribution} "
            f"in {1000 * plugin.load_seconds:.1f} ms, {len(plugin.specs)} ids"
        )
        problems = plugin.problems()
        if problems:
            more = f" (and {len(problems) - 1} more; `gem doctor` lists them)" if len(problems) > 1 else ""
            warnings.warn(
                f"plugin {plugin.distribution} of namespace {plugin.namespace!r}: {problems[0]}{more}",
                PluginWarning,
                stacklevel=2,
            )

    def _register(self, module: Any, entry_point: EntryPoint) -> None:
        # One module may serve several namespaces: its hooks are registered once.
        if self.hooks.is_registered(module):
            return
        self.hooks.register(module, name=f"{entry_point.group}:{entry_point.name}:{entry_point.value}")
        self.hooks.check_pending()  # a misspelt hook is an error, not a hook that is never called
        callers = self.hooks.get_hookcallers(module)
        if not callers:
            self.hooks.unregister(module)
            raise PluginError(f"{entry_point.value} implements no hook: mark its functions with @gem.hookimpl")
        for caller in callers:
            if any(i.plugin is module and (i.wrapper or i.hookwrapper) for i in caller.get_hookimpls()):
                self.hooks.unregister(module)
                raise PluginError(
                    f"hook {caller.name!r} of {entry_point.value} is a hook wrapper; return values instead"
                )

    def _add(self, plugin: EnvPlugin, spec: object) -> None:
        if not isinstance(spec, EnvSpec):
            plugin.bad[repr(spec)[:80]] = "gem_env_specs gives gem.EnvSpec objects, nothing else"
            return
        if spec.namespace != plugin.namespace:
            declared = self._declared[plugin.distribution]
            if spec.namespace not in declared:
                names = ", ".join(sorted(declared))
                plugin.bad[spec.id] = f"its namespace is none of those that {plugin.distribution} declares ({names})"
            return
        spec = spec.replace(provider=plugin.distribution, provider_version=plugin.version)
        if plugin.specs.get(spec.id, spec) != spec:
            del plugin.specs[spec.id]
            plugin.bad[spec.id] = f"{plugin.distribution} lists it twice, differently"
        elif spec.id not in plugin.bad:
            plugin.specs[spec.id] = spec

    def _composed(self, plugin: EnvPlugin, env_id: str) -> EnvSpec | None:
        """What a plugin's ``gem_find_env_spec`` says about an id that it does not list."""
        if plugin.find is None:
            return None
        try:
            found = plugin.find(env_id=env_id)
        except Exception as error:
            raise PluginError(
                f"{plugin.distribution} failed to look up {env_id!r}: {one_line(error)}; repair it: {plugin.repair()}"
            ) from error
        if found is None:
            return None
        if not isinstance(found, EnvSpec) or found.id != env_id:
            raise PluginError(f"{plugin.distribution} answers {env_id!r} with {found!r}, which is not its EnvSpec")
        return found.replace(provider=plugin.distribution, provider_version=plugin.version)

    # -- observers ------------------------------------------------------------------------------------

    def notify(self, hook: str, **arguments: Any) -> None:
        """Call an observer hook. An observer that raises is warned about once and keeps nobody from working."""
        for impl in getattr(self.hooks.hook, hook).get_hookimpls():
            try:
                impl.function(*(arguments[name] for name in impl.argnames))
            except Exception as error:
                if impl.plugin_name not in self._failed_observers:
                    self._failed_observers.add(impl.plugin_name)
                    warnings.warn(
                        f"observer {impl.plugin_name} failed in {hook}: {one_line(error)}", PluginWarning, stacklevel=3
                    )

    def _register_observer(self, entry_point: EntryPoint) -> None:
        try:
            self._register(entry_point.load(), entry_point)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.broken_observers[entry_point] = error
            warnings.warn(
                f"observer {entry_point.name!r} of {entry_point.distribution} is broken and is left out: "
                f"{one_line(error)}; repair it: {repair(entry_point, error)}",
                PluginWarning,
                stacklevel=2,
            )


#: What to do about two distributions that provide one thing.
SEPARATE = "uninstall one, or name one in GEM_DISABLE_PLUGINS"


def repair(entry_point: EntryPoint, error: BaseException | None) -> str:
    """The command that most likely mends a plugin that failed with ``error``."""
    command = f"pip install --upgrade --force-reinstall {entry_point.distribution}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        own = entry_point.value.partition(":")[0].partition(".")[0]
        missing = error.name.partition(".")[0]
        return command if missing == own else f"pip install {missing.replace('_', '-')}, or {command}"
    return command


def allowed(entry_point: EntryPoint) -> bool:
    """Whether ``GEM_PLUGINS`` and ``GEM_DISABLE_PLUGINS`` let this plugin in.

    Both hold comma-separated names, of distributions or of entry points. ``GEM_PLUGINS`` lets in only those it
    names; ``GEM_DISABLE_PLUGINS`` keeps out those it names, and with ``*`` all that ``GEM_PLUGINS`` does not name.
    """
    only = listed_in("GEM_PLUGINS")
    disabled = listed_in("GEM_DISABLE_PLUGINS")
    own = {normalized(entry_point.name), normalized(entry_point.distribution)}
    if own & disabled:
        return False
    if only:
        return "*" in only or bool(own & only)
    return "*" not in disabled


def listed_in(variable: str) -> set[str]:
    """The comma-separated names in an environment variable, normalised."""
    return {normalized(name.strip()) for name in os.environ.get(variable, "").split(",") if name.strip()}


def trace(message: str) -> None:
    """Say what discovery does on standard error when ``GEM_TRACE_PLUGINS=1``."""
    if os.environ.get("GEM_TRACE_PLUGINS") == "1":
        print(f"gem: {message}", file=sys.stderr)


_manager: PluginManager | None = None
_lock = threading.RLock()


def manager() -> PluginManager:
    """The process's plugin manager. The first call discovers; later ones return the same object."""
    global _manager
    if _manager is None:
        with _lock:
            if _manager is None:
                _manager = PluginManager()
    return _manager


def forget() -> None:
    """Discover again at the next use: after installing something in this process, or changing the environment."""
    global _manager
    with _lock:
        _manager = None


def current() -> PluginManager | None:
    """The manager, if discovery has run in this process; never triggers it."""
    return _manager
