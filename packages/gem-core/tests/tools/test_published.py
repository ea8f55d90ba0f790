"""Tools of the published package inside ToolEnv."""

from __future__ import annotations

from typing import Any

import gem
from gem.tools import PublishedTool, ToolEnv, tool
from gem.tools.published import is_published_style


class OldSearch:
    tool_type = "search"

    def __init__(self) -> None:
        self.closed = 0

    def instruction_string(self) -> str:
        return "Use <s>."

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        if "<s>" not in action:
            return False, True, "", ""
        if "unknown" in action:
            return False, True, "no such thing", action
        return True, "fail" in action, "\n<information>found</information>\n", action[: action.index("<s>") + 3]

    def close(self) -> None:
        self.closed += 1


class Toy(gem.Env):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return "toy", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "inner", 1.0, True, False, {}


@tool
def one() -> int:
    """One."""
    return 1


ONE = '<tool_call>{"name": "one"}</tool_call>'


def test_it_reads_runs_and_dresses_its_own_calls() -> None:
    env = ToolEnv(Toy(), [OldSearch()], tool_success_reward=0.5)
    assert env.reset()[0] == "toy\nUse <s>."
    observation, reward, _, _, info = env.step("look <s> there")
    assert observation == "\n<information>found</information>\n"
    assert reward == 0.5
    assert (info["tool_type"], info["parsed_action"], info["tool_use_counter"]) == ("search", "look <s>", 1)
    assert env.step("<s> fail")[1] == 0.0
    assert "no such thing" in env.step("<s> unknown")[0]
    assert (env.tool_use_counter, env.tool_success_counter) == (3, 1)
    assert env.step("no call")[0] == "inner"


def test_beside_other_tools() -> None:
    env = ToolEnv(Toy(), [OldSearch(), one])
    env.reset()
    observation, _, _, _, info = env.step(f"{ONE} <s>")
    assert observation == "<tool_response>\n1\n</tool_response>\n\n<information>found</information>\n"
    assert info["tool_use_counter"] == 2
    assert env.step(ONE)[4]["tool_use_counter"] == 3


def test_it_is_not_refused_a_call_it_was_not_given() -> None:
    env = ToolEnv(Toy(), [OldSearch(), one], max_tool_uses=1)
    env.reset()
    observation, *_ = env.step(ONE)
    assert "not carried out" not in observation


def test_thinking_is_kept_from_it() -> None:
    env = ToolEnv(Toy(), [OldSearch()])
    env.reset()
    assert env.step("<think><s></think>")[0] == "inner"


def test_close_and_style() -> None:
    old = OldSearch()
    env = ToolEnv(Toy(), [old])
    env.close()
    assert old.closed == 1
    assert is_published_style(old)
    assert not is_published_style(PublishedTool(old))
