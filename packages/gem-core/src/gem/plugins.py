"""Discovery: entry points are the index, pluggy hooks the contract.

A namespace is loaded when one of its ids is first asked for, and no other plugin is imported for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import importlib_metadata as metadata
import pluggy

from gem import hookspecs
from gem.errors import PluginError
from gem.spec import EnvSpec

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


@dataclass
class EnvPlugin:
    """One entry point of the group ``gem.envs``, loaded at most once."""

    namespace: str
    entry_point: metadata.EntryPoint
    #: Why it could not be loaded; ``None`` when it could, or was not tried yet.
    error: BaseException | None = None
    specs: dict[str, EnvSpec] = field(default_factory=dict)
    #: Its ``gem_find_env_spec`` hook.
    find: Any = None
    loaded: bool = False

    @property
    def distribution(self) -> str:
        """Name of the distribution that brought it."""
        dist = self.entry_point.dist
        return str(dist.name) if dist is not None else self.entry_point.value

    @property
    def version(self) -> str | None:
        dist = self.entry_point.dist
        return str(dist.version) if dist is not None else None

    def repair(self) -> str:
        """The command that most likely mends a broken plugin."""
        if isinstance(self.error, ModuleNotFoundError) and self.error.name:
            return f"pip install --force-reinstall {self.distribution} (module {self.error.name!r} is missing)"
        return f"pip install --upgrade --force-reinstall {self.distribution}"


class PluginManager:
    """The plugins of this process."""

    def __init__(self) -> None:
        self.hooks = pluggy.PluginManager("gem")
        self.hooks.add_hookspecs(hookspecs)
        self._env_plugins: dict[str, list[EnvPlugin]] = {}
        for entry_point in self.entry_points("gem.envs"):
            plugin = EnvPlugin(entry_point.name, entry_point)
            self._env_plugins.setdefault(entry_point.name, []).append(plugin)
        for entry_point in self.entry_points("gem.hooks"):
            self._register_observer(entry_point)

    # -- the index ------------------------------------------------------------------------------------

    def entry_points(self, group: str) -> Iterator[metadata.EntryPoint]:
        """The entry points of a group that the environment variables allow, in a stable order."""
        found = metadata.entry_points(group=group)
        for entry_point in sorted(found, key=lambda e: (e.name, e.value)):
            if allowed(entry_point):
                yield entry_point

    def load_named(self, group: str, name: str) -> Any | None:
        """The object of entry point ``name`` in ``group``, or ``None`` where no plugin has one."""
        matches = {e.value: e for e in self.entry_points(group) if e.name == name}
        if not matches:
            return None
        if len(matches) > 1:
            providers = " and ".join(sorted(EnvPlugin(name, e).distribution for e in matches.values()))
            raise PluginError(f"{providers} both provide {name!r} in {group}; uninstall one, or set GEM_DISABLE_PLUGINS")
        entry_point = next(iter(matches.values()))
        try:
            return entry_point.load()
        except Exception as error:
            plugin = EnvPlugin(name, entry_point, error=error)
            raise PluginError(
                f"{name!r} of {plugin.distribution} is broken ({error!r}); repair it: {plugin.repair()}"
            ) from error

    def names(self, group: str) -> list[str]:
        """The names plugins provide in a group."""
        return sorted({e.name for e in self.entry_points(group)})

    # -- environments ---------------------------------------------------------------------------------

    def namespaces(self) -> list[str]:
        return sorted(self._env_plugins)

    def env_plugins(self, namespace: str) -> list[EnvPlugin]:
        """The plugins that claim a namespace, loaded. A broken one carries its ``error``; none raises."""
        plugins = self._env_plugins.get(namespace, [])
        for plugin in plugins:
            if not plugin.loaded:
                self._load(plugin)
        return plugins

    def _load(self, plugin: EnvPlugin) -> None:
        plugin.loaded = True
        trace(f"loading {plugin.entry_point.value} of {plugin.distribution} for namespace {plugin.namespace!r}")
        try:
            module = plugin.entry_point.load()
            # One module may serve several namespaces: its hooks are registered once and asked once each.
            if not self.hooks.is_registered(module):
                self.hooks.register(module, name=plugin.entry_point.value)
                self.hooks.check_pending()
            others = [p for p in self.hooks.get_plugins() if p is not module]
            plugin.find = self.hooks.subset_hook_caller("gem_find_env_spec", others)
            for specs in self.hooks.subset_hook_caller("gem_env_specs", others)():
                for spec in specs:
                    self._add(plugin, spec)
        except Exception as error:  # one broken plugin must not break the others
            plugin.error = error
            plugin.specs.clear()

    def find_spec(self, namespace: str, env_id: str) -> EnvSpec | None:
        """Ask the plugins of a namespace for an id they do not list."""
        for plugin in self.env_plugins(namespace):
            if plugin.error is None and plugin.find is not None:
                found = plugin.find(env_id=env_id)
                if found is not None:
                    return found.replace(provider=plugin.distribution, provider_version=plugin.version)
        return None

    def _add(self, plugin: EnvPlugin, spec: EnvSpec) -> None:
        if spec.namespace not in self._env_plugins:
            raise PluginError(f"{spec.id!r} is outside the namespaces that {plugin.distribution} declares")
        if spec.namespace == plugin.namespace:
            plugin.specs[spec.id] = spec.replace(provider=plugin.distribution, provider_version=plugin.version)

    def _register_observer(self, entry_point: metadata.EntryPoint) -> None:
        try:
            self.hooks.register(entry_point.load(), name=f"gem.hooks:{entry_point.value}")
        except Exception as error:
            plugin = EnvPlugin(entry_point.name, entry_point, error=error)
            import warnings

            warnings.warn(
                f"observer {entry_point.name!r} of {plugin.distribution} is broken ({error!r}) and is left out; "
                f"repair it: {plugin.repair()}",
                stacklevel=2,
            )


def allowed(entry_point: metadata.EntryPoint) -> bool:
    """Whether ``GEM_PLUGINS`` and ``GEM_DISABLE_PLUGINS`` let this plugin in.

    Both hold comma-separated names: of a distribution, of an entry point, or ``*`` for all.
    """
    only = _names("GEM_PLUGINS")
    disabled = _names("GEM_DISABLE_PLUGINS")
    if not only and not disabled:
        return True
    dist = entry_point.dist
    own = {entry_point.name, str(dist.name) if dist is not None else ""}
    if own & disabled:
        return False
    if only:
        return bool(own & only)
    return "*" not in disabled


def _names(variable: str) -> set[str]:
    return {name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()}


def trace(message: str) -> None:
    """Say what discovery does on standard error when ``GEM_TRACE_PLUGINS=1``."""
    if os.environ.get("GEM_TRACE_PLUGINS") == "1":
        print(f"gem: {message}", file=sys.stderr)


@cache
def manager() -> PluginManager:
    """The process's plugin manager; the first call discovers."""
    return PluginManager()
