"""GEM: a gym for language-model agents whose environments install separately.

``import gem`` loads almost nothing: every public name below is imported from its module when it is first
used (:pep:`562`), so that a process that only needs :class:`Env` never pays for the registry, numpy or torch.
"""

from __future__ import annotations

from gem.lazy import lazy_exports

__version__ = "0.1.0"

_EXPORTS = {
    # the interface
    "Env": "gem.env",
    "Wrapper": "gem.env",
    "EnvSpec": "gem.env_spec",
    # the registry
    "make": "gem.registry",
    "print_envs": "gem.registry",
    "register": "gem.registry",
    "spec": "gem.registry",
    "specs": "gem.registry",
    "hookimpl": "gem.plugins",
    # vector execution
    "make_vec": "gem.vector",
    "VectorEnv": "gem.vector",
    # rollouts
    "Episode": "gem.rollout",
    "Response": "gem.rollout",
    "TaskSpec": "gem.rollout",
    "Turn": "gem.rollout",
    # tools and several agents
    "Tool": "gem.tools",
    "ToolEnv": "gem.tools",
    "MultiAgentEnv": "gem.multiagent",
    # data sets
    "DatasetEnv": "gem.dataset",
    # errors
    "GemError": "gem.errors",
    "ResetNeeded": "gem.errors",
    "UnknownEnv": "gem.errors",
    "PluginError": "gem.errors",
    "PluginWarning": "gem.errors",
    "MissingDependency": "gem.errors",
    "StateNotSupported": "gem.errors",
    "DataError": "gem.errors",
}

__all__ = sorted(_EXPORTS)

# Type checkers read these; at run time the condition is false and costs nothing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from gem.dataset import DatasetEnv as DatasetEnv
    from gem.env import Env as Env, Wrapper as Wrapper
    from gem.env_spec import EnvSpec as EnvSpec
    from gem.errors import (
        DataError as DataError,
        GemError as GemError,
        MissingDependency as MissingDependency,
        PluginError as PluginError,
        PluginWarning as PluginWarning,
        ResetNeeded as ResetNeeded,
        StateNotSupported as StateNotSupported,
        UnknownEnv as UnknownEnv,
    )
    from gem.multiagent import MultiAgentEnv as MultiAgentEnv
    from gem.plugins import hookimpl as hookimpl
    from gem.registry import (
        make as make,
        print_envs as print_envs,
        register as register,
        spec as spec,
        specs as specs,
    )
    from gem.rollout import (
        Episode as Episode,
        Response as Response,
        TaskSpec as TaskSpec,
        Turn as Turn,
    )
    from gem.tools import Tool as Tool, ToolEnv as ToolEnv
    from gem.vector import VectorEnv as VectorEnv, make_vec as make_vec

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
