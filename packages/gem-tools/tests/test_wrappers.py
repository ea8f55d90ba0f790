"""The wrappers by their published names."""

from __future__ import annotations

import pytest

import gem
from gem.wrappers import apply_wrappers


class Question(gem.Env):
    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return "?", {}

    def step(self, action):
        return "", 0.0, True, False, {}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [("python_tool", 0.3, 0.05), ("python_tool_no_int_reward", 0.0, 0.0),
     ("python_tool_no_int_reward_last_line_error", 0.0, 0.0)],
)  # fmt: skip
def test_rewards_and_limit(name, good, bad):
    with apply_wrappers(Question(), name) as env:
        observation, _ = env.reset(seed=0)
        assert "<python>" in observation
        assert env.step("<python>print(1)</python>")[1] == pytest.approx(good)
        observation, reward, *_ = env.step("<python>x = 1\n1 / 0</python>")
        assert reward == pytest.approx(bad)
        assert ("Traceback" in observation) == (not name.endswith("last_line_error"))
        for _ in range(3):
            assert not env.step("<python>print(1)</python>")[2]
        assert env.step("<python>print(1)</python>")[2]  # the sixth call is an answer


def test_options():
    with apply_wrappers(Question(), {"name": "python_tool", "max_tool_uses": 1, "tool_reward": 1.0}) as env:
        env.reset(seed=0)
        assert env.step("<python>print(1)</python>")[1] == pytest.approx(1.25)
        assert env.step("<python>print(1)</python>")[2]


def test_options_of_the_tool_go_beside_those_of_the_wrapper():
    options = {"timeout": 7.0, "stateful": True, "backend": "subprocess", "keep_error_last_line": True}
    with apply_wrappers(Question(), {"name": "python_tool", "max_tool_uses": 3, **options}) as env:
        env.reset(seed=0)
        assert env.tools[0].timeout == 7.0
        env.step("<python>x = 6</python>")
        assert "42" in env.step("<python>print(7 * x)</python>")[0]
        assert "Traceback" not in env.step("<python>1 / 0</python>")[0]
    with pytest.raises(TypeError, match="timeout cannot be given beside tools=; give them to the tool"):
        apply_wrappers(Question(), {"name": "python_tool", "tools": ["python_tool"], "timeout": 7.0})


@pytest.mark.parametrize(("name", "own"), [("python_tool", "backend"), ("search_tool", "topk"), ("mcp_tool", "config")])
def test_an_option_that_does_not_exist(name, own):
    with pytest.raises(
        TypeError, match=rf"^the wrapper '{name}' has no option 'nope' \(.*\b{own}\b.*max_tool_uses.*\)$"
    ):
        apply_wrappers(Question(), {"name": name, own: None, "nope": 1})
