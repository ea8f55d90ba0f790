"""Give an agent the tools of an MCP server.

The server here is a small one, written below with the MCP library; any server of a registry stands in the same place.
It keeps a notebook, which lasts for one episode: each episode has a server process of its own. The agent plays
GuessTheNumber, writes down what it learns, and reads it again, so that its next guess needs nothing but the notebook.
The policy is a short script; a language model stands in the same place, and reads and writes the same texts.

    pip install gem-core gem-games 'gem-tools[mcp]'     # from this repository: by path, see the README
    python examples/06_mcp_tools.py
"""

from __future__ import annotations

import json
import re
import sys

import gem
from gem.tools import ToolEnv
from gem_tools.mcp import MCPTool


def serve() -> None:
    """The server: what `command` and `args` of the configuration start."""
    from mcp.server import MCPServer

    app = MCPServer("notebook")
    bounds = {"low": 1, "high": 10}

    @app.tool()
    def note(guess: int, hint: str) -> str:
        """Write down a guess and whether the number is 'higher' or 'lower'."""
        if hint == "higher":
            bounds["low"] = max(bounds["low"], guess + 1)
        else:
            bounds["high"] = min(bounds["high"], guess - 1)
        return f"the number is between {bounds['low']} and {bounds['high']}"

    app.run()


def policy(observation: str, guess: int) -> str:
    """The next response: a note of what was just learned, or a guess from what the notebook answers."""
    if between := re.search(r"between (\d+) and (\d+)\n</tool_response>", observation):
        return f"\\boxed{{{(int(between[1]) + int(between[2])) // 2}}}"
    if hint := re.search(r"\b(higher|lower)\b", observation):
        return f"<tool_call>{json.dumps({'name': 'note', 'arguments': {'guess': guess, 'hint': hint[1]}})}</tool_call>"
    return r"\boxed{5}"


def main() -> None:
    config = {"mcpServers": {"notebook": {"command": sys.executable, "args": [__file__, "--serve"]}}}
    with ToolEnv(gem.make("game:GuessTheNumber-v0-easy"), tools=[MCPTool(config)]) as env:
        for seed in range(2):
            observation, info = env.reset(seed=seed)
            print(f"{observation}\n")
            response, guess, done = r"\boxed{5}", 5, False
            while not done:
                print(f"> {response}")
                observation, _, terminated, truncated, info = env.step(response)
                print(f"{observation}\n")
                done = terminated or truncated
                response = policy(observation, guess)
                if boxed := re.search(r"\\boxed\{(\d+)\}", response):
                    guess = int(boxed[1])
            print(f"success: {info['success']}, {info['tool_use_counter']} tool calls\n{'-' * 60}")
            if not info["success"]:
                raise SystemExit("the number was not found")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
