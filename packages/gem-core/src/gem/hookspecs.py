"""The contract between GEM and plugins: every hook a plugin may implement.

A plugin module implements any of these under the same name, marked with :data:`gem.hookimpl`, and is found
through an entry point (group ``gem.envs`` for environments, ``gem.hooks`` for observers). An implementation may
leave out arguments it does not need. A hook of any other name is an error, so that a misspelt one is noticed;
``hookimpl(optionalhook=True)`` marks one that only newer versions of GEM know.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from gem.env import Env
    from gem.env_spec import EnvSpec

hookspec = pluggy.HookspecMarker("gem")


@hookspec
def gem_env_specs() -> Iterable[EnvSpec]:  # type: ignore[empty-body]
    """List the environments this plugin provides.

    Called once a process for each namespace that the plugin's entry points name, when an id of it is first asked
    for. Ids outside those namespaces are refused. Import nothing heavy: name classes as ``"module:Class"``.
    """


@hookspec(firstresult=True)
def gem_find_env_spec(env_id: str) -> EnvSpec | None:
    """Return the specification of an id that :func:`gem_env_specs` does not list, or ``None``.

    For open-ended families, where ids are composed rather than listed. Called each time such an id is asked for.
    """


@hookspec
def gem_env_made(spec: EnvSpec, env: Env) -> None:
    """Observe: :func:`gem.make` made ``env``, wrappers included, from ``spec``.

    What an observer raises is shown as a warning, once, and goes no further.
    """


@hookspec
def gem_episode_ended(record: Any) -> None:
    """Observe: a rollout finished the episode ``record`` (a :class:`gem.Episode`).

    What an observer raises is shown as a warning, once, and goes no further.
    """
