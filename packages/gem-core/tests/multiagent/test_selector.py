"""Whose turn it is, whoever leaves and joins."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gem.multiagent import AgentSelector


def test_one_after_the_other() -> None:
    selector = AgentSelector(["a", "b", "c"])
    turns = []
    for _ in range(4):
        turns.append(selector.selected)
        assert selector.get_active_agents() == [selector.selected]
        assert selector.is_first() == (selector.selected == "a")
        assert selector.is_last() == (selector.selected == "c")
        selector.next()
    assert turns == ["a", "b", "c", "a"]


def test_all_at_once() -> None:
    selector = AgentSelector(["a", "b"], mode="parallel")
    active = selector.get_active_agents()
    active.clear()
    selector.next()
    assert selector.get_active_agents() == ["a", "b"]


def test_nobody() -> None:
    for mode in ("sequential", "parallel"):
        selector = AgentSelector([], mode)
        selector.next()
        assert selector.get_active_agents() == []
        assert selector.selected is None


def test_an_order_of_its_own() -> None:
    selector = AgentSelector(["a", "b", "c"])
    selector.select("c")
    assert selector.selected == "c"
    selector.next()
    assert selector.selected == "a"
    with pytest.raises(ValueError, match="cannot select 'd': the agents are a, b, c"):
        selector.select("d")


def test_an_unknown_mode() -> None:
    with pytest.raises(ValueError, match="'sequential' or 'parallel'"):
        AgentSelector(["a"], "random")


NAMES = st.sampled_from("abcdef")


class Turns(RuleBasedStateMachine):
    """The circle as a list whose head has the turn."""

    def __init__(self) -> None:
        super().__init__()
        self.selector = AgentSelector("abc")
        self.circle = list("abc")  # from whose turn it is, onwards
        self.first = "a"

    @rule()
    def next(self) -> None:
        self.selector.next()
        self.circle = self.circle[1:] + self.circle[:1]

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        self.selector.remove_agent(name)
        if name in self.circle:
            self.circle.remove(name)

    @rule(name=NAMES)
    def add(self, name: str) -> None:
        order = self.selector._agents.copy()
        self.selector.add_agent(name)
        if name not in self.circle:
            # the end of the round is before its first agent
            at = self.circle.index(order[0]) if order else 0
            self.circle.insert(at or len(self.circle), name)

    @precondition(lambda self: self.circle)
    @rule(data=st.data())
    def select(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.circle))
        self.selector.select(name)
        at = self.circle.index(name)
        self.circle = self.circle[at:] + self.circle[:at]

    @rule(names=st.lists(NAMES, unique=True))
    def start(self, names: list[str]) -> None:
        self.selector.reinit(names)
        self.circle = list(names)

    @invariant()
    def the_turn_is_the_heads(self) -> None:
        assert self.selector.get_active_agents() == self.circle[:1]
        assert self.selector.selected == (self.circle[0] if self.circle else None)

    @invariant()
    def a_round_visits_everyone_once(self) -> None:
        turn, seen = self.selector.turn, []
        for _ in self.circle:
            seen.append(self.selector.selected)
            self.selector.next()
        assert seen == self.circle
        assert self.selector.turn == turn + len(self.circle)


TestTurns = Turns.TestCase
