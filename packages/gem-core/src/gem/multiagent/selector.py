"""Whose turn it is."""

from __future__ import annotations

from collections.abc import Iterable

MODES = ("sequential", "parallel")


class AgentSelector:
    """Whose turn it is: one agent after the other (``"sequential"``), or all at once (``"parallel"``).

    The order is a circle. Whoever leaves or joins, nobody is passed over and nobody acts twice in a round: when the
    agent whose turn it is leaves, the turn is its successor's; who joins acts last.

    Raises:
        ValueError: the mode is another word.
    """

    def __init__(self, agents: Iterable[str], mode: str = "sequential") -> None:
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}: it is 'sequential' or 'parallel'")
        self.mode = mode
        #: Counts whenever the turn moves.
        self.turn = 0
        self._agents = list(agents)
        self._index = 0

    @property
    def selected(self) -> str | None:
        """In sequential mode the agent whose turn it is; ``None`` when there are no agents."""
        return self._agents[self._index] if self._agents else None

    def get_active_agents(self) -> list[str]:
        """The agents that act next, in order."""
        if self.mode == "parallel":
            return self._agents.copy()
        return self._agents[self._index : self._index + 1]

    def next(self) -> None:
        """The turn is over."""
        self.turn += 1
        if self.mode == "sequential" and self._agents:
            self._index = (self._index + 1) % len(self._agents)

    def select(self, agent: str) -> None:
        """Give the turn to an agent, for games with an order of their own.

        Raises:
            ValueError: there is no such agent.
        """
        if agent not in self._agents:
            raise ValueError(f"cannot select {agent!r}: the agents are {', '.join(self._agents) or 'none'}")
        self.turn += 1
        self._index = self._agents.index(agent)

    def is_first(self) -> bool:
        """Whether the turn is the first agent's."""
        return self._index == 0

    def is_last(self) -> bool:
        """Whether the turn is the last agent's."""
        return self._index == len(self._agents) - 1

    def reinit(self, agents: Iterable[str]) -> None:
        """Start anew with these agents."""
        self._agents = list(agents)
        self._index = 0
        self.turn = 0

    def add_agent(self, agent: str) -> None:
        """An agent joins, at the end of the round. One that is there already stays where it is."""
        if agent not in self._agents:
            self._agents.append(agent)

    def remove_agent(self, agent: str) -> None:
        """An agent leaves. One that is not there is no error."""
        if agent not in self._agents:
            return
        index = self._agents.index(agent)
        del self._agents[index]
        if index < self._index:
            self._index -= 1
        elif index == self._index:
            self.turn += 1  # its successor stands here now
            self._index %= max(len(self._agents), 1)

    def __repr__(self) -> str:
        return f"<AgentSelector {self.mode} {self._agents} selected={self.selected!r}>"
