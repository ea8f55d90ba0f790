"""Tools that live in servers and speak the Model Context Protocol."""

from __future__ import annotations

from gem_tools.mcp.config import ConfigError, Server, read_config
from gem_tools.mcp.tool import MCPTool

__all__ = ["ConfigError", "MCPTool", "Server", "read_config"]
