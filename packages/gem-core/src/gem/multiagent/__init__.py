"""Environments of several agents, and one agent's view of them."""

from __future__ import annotations

from gem.multiagent.env import MultiAgentEnv
from gem.multiagent.selector import AgentSelector
from gem.multiagent.view import SingleAgentView

__all__ = ["AgentSelector", "MultiAgentEnv", "SingleAgentView"]
