"""Two small games: one in which all move at once, one in which they take turns."""

from __future__ import annotations

from typing import Any

from gem.multiagent import MultiAgentEnv

BEATS = {"rock": "scissors", "scissors": "paper", "paper": "rock"}


class RockPaperScissors(MultiAgentEnv):
    """Two players, best of ``rounds``; an unknown hand loses the round."""

    def __init__(self, rounds: int = 3) -> None:
        super().__init__(["anna", "ben"], mode="parallel")
        self.rounds = rounds

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        self.round = 0
        self.told = dict.fromkeys(self.agents, "first round")

    def observe(self, agent: str) -> str:
        return self.told[agent]

    def _process_actions(self, actions: dict[str, str]) -> Any:
        self.round += 1
        anna, ben = (actions[a] if actions[a] in BEATS else None for a in ("anna", "ben"))
        score = 0.0 if anna == ben else 1.0 if ben is None or (anna is not None and BEATS[anna] == ben) else -1.0
        self.told = {"anna": f"ben: {ben}", "ben": f"anna: {anna}"}
        over = self.round == self.rounds
        return {}, {"anna": score, "ben": -score}, dict.fromkeys(self.agents, over), {}, {"anna": {"round": self.round}}

    def sample_agent_action(self, agent: str) -> str:
        return self.rng.choice(sorted(BEATS))


class Nim(MultiAgentEnv):
    """Take 1 to 3 of a heap; who takes the last wins 1. A bad move puts its player out, and the others go on."""

    def __init__(self, players: int = 3, heap: int | None = 12) -> None:
        super().__init__([f"p{i}" for i in range(players)], mode="sequential")
        self.size = heap

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        self.heap = self.size or self.rng.randint(10, 30)

    def observe(self, agent: str) -> str:
        return f"heap {self.heap}"

    def _process_actions(self, actions: dict[str, str]) -> Any:
        ((agent, move),) = actions.items()
        if move not in ("1", "2", "3") or int(move) > self.heap:
            rewards = {other: 1.0 for other in self.agents if other != agent} if len(self.agents) == 2 else {}
            terminations = dict.fromkeys(self.agents, True) if len(self.agents) == 2 else {agent: True}
            return {}, {**rewards, agent: -1.0}, terminations, {}, {agent: {"invalid_action": move}}
        self.heap -= int(move)
        self.broadcast_message(agent, f"I took {move}")
        over = self.heap == 0
        return {agent: "you moved"}, {agent: float(over)}, dict.fromkeys(self.agents, over), {}, {}

    def sample_agent_action(self, agent: str) -> str:
        return str(self.rng.randint(1, min(3, self.heap)))
