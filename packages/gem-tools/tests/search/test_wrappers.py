"""The wrappers by their published names, rewards and limits."""

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


@pytest.mark.parametrize(("name", "reward"), [("search_tool", 0.3), ("search_tool_no_int_reward", 0.0)])
def test_rewards_and_limit(name, reward, index, monkeypatch):
    monkeypatch.setenv("GEM_SEARCH", str(index))
    with apply_wrappers(Question(), f"{name},concat") as env:
        env.reset(seed=0)
        for _ in range(5):
            observation, got, terminated, _, _ = env.step("<search>capital</search>")
            assert (got, terminated) == (pytest.approx(reward), False)
        assert "<information>" in observation
        assert env.step("<search>capital</search>")[2]  # the sixth search is an answer


def test_options_of_tool_and_wrapper(index):
    options = {"name": "search_tool", "retriever": str(index), "topk": 1, "max_tool_uses": 1, "tool_reward": 1.0}
    with apply_wrappers(Question(), options) as env:
        env.reset(seed=0)
        observation, reward, *_ = env.step("<search>capital</search>")
        assert (observation.count("Doc "), reward) == (1, 1.0)
        assert env.step("<search>capital</search>")[2]
    with pytest.raises(TypeError, match="topk cannot be given beside tools="):
        apply_wrappers(Question(), {"name": "search_tool", "tools": [], "topk": 1})


def test_without_anything_to_search_in():
    with pytest.raises(ValueError, match="nothing to search in: pass retriever="):
        apply_wrappers(Question(), "search_tool")
