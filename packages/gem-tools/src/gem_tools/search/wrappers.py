"""The named wrappers for search, with their published rewards and limits."""

from __future__ import annotations

from typing import Any

from gem.env import Env
from gem.tools import ToolEnv
from gem.wrappers import takes_options_of
from gem_tools.search.tool import SearchTool

#: Those of a wrapper's options that are the tool's.
_TOOL_OPTIONS = ("retriever", "topk", "timeout", "method", "max_document_chars", "search_url")


@takes_options_of(SearchTool, ToolEnv)
def search_tool(env: Env, **options: Any) -> ToolEnv:
    """The search tool, rewarded by 0.3 a call; five calls an episode.

    Takes the options of :class:`SearchTool` and of :class:`gem.tools.ToolEnv`.
    """
    return _with_search(env, options, tool_reward=0.3)


@takes_options_of(SearchTool, ToolEnv)
def search_tool_no_int_reward(env: Env, **options: Any) -> ToolEnv:
    """The search tool without reward for its use; five calls an episode."""
    return _with_search(env, options, tool_reward=0.0)


def _with_search(env: Env, options: dict[str, Any], tool_reward: float) -> ToolEnv:
    own = {name: options.pop(name) for name in _TOOL_OPTIONS if name in options}
    defaults: dict[str, Any] = {"max_tool_uses": 5, "tool_reward": tool_reward}
    if "tools" not in options:
        defaults["tools"] = [SearchTool(**own)]
    elif own:
        raise TypeError(f"{', '.join(own)} cannot be given beside tools=; give them to the tool")
    return ToolEnv(env, **{**defaults, **options})
