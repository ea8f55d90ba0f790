"""The named wrapper of MCP tools."""

from __future__ import annotations

from typing import Any

from gem.env import Env
from gem.tools import ToolEnv
from gem.wrappers import takes_options_of
from gem_tools.mcp.tool import MCPTool


@takes_options_of(ToolEnv)
def mcp_tool(env: Env, config: Any = None, **options: Any) -> ToolEnv:
    """The tools of MCP servers, without reward for their use.

    Args:
        config: as :class:`MCPTool` takes it; by default the environment variable ``GEM_MCP``.
        options: those of :class:`gem.tools.ToolEnv`.
    """
    return ToolEnv(env, **{"tools": [MCPTool(config)], **options})
