"""The named wrappers of this package, with their published rewards and limits."""

from __future__ import annotations

from typing import Any

from gem.env import Env
from gem.tools import ToolEnv
from gem.wrappers import takes_options_of
from gem_tools.python.tool import PythonTool

#: Those of a wrapper's options that are the tool's.
_TOOL_OPTIONS = ("timeout", "backend", "keep_error_last_line", "stateful", "print_last_expression", "executor")


@takes_options_of(PythonTool, ToolEnv)
def python_tool(env: Env, **options: Any) -> ToolEnv:
    """The Python tool, rewarded: 0.05 a call, 0.25 more when the program ends well; five calls an episode.

    Takes the options of :class:`PythonTool` and of :class:`gem.tools.ToolEnv`.
    """
    return _with_python(env, options, tool_reward=0.05, tool_success_reward=0.25)


@takes_options_of(PythonTool, ToolEnv)
def python_tool_no_int_reward(env: Env, **options: Any) -> ToolEnv:
    """The Python tool without reward for its use; five calls an episode."""
    return _with_python(env, options)


@takes_options_of(PythonTool, ToolEnv)
def python_tool_no_int_reward_last_line_error(env: Env, **options: Any) -> ToolEnv:
    """As ``python_tool_no_int_reward``; of an error the model reads the last line only."""
    return _with_python(env, options, keep_error_last_line=True)


def _with_python(env: Env, options: dict[str, Any], *, keep_error_last_line: bool = False, **rewards: float) -> ToolEnv:
    own = {name: options.pop(name) for name in _TOOL_OPTIONS if name in options}
    defaults: dict[str, Any] = {"max_tool_uses": 5, **rewards}
    if "tools" not in options:
        defaults["tools"] = [PythonTool(**{"keep_error_last_line": keep_error_last_line, **own})]
    elif own:
        raise TypeError(f"{', '.join(own)} cannot be given beside tools=; give them to the tool")
    return ToolEnv(env, **{**defaults, **options})
