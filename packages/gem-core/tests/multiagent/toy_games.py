"""Two small games: one in which all move at once, one in which they take turns."""

from __future__ import annotations

from typing import Any

from gem.multiagent import MultiAgentEnv, SingleAgentView

BEATS = {"rock": "scissors", "scissors": "paper", "paper": "rock"}


class RockPaperScissors(MultiAgentEnv):
    """Two players, best of ``rounds``; an unknown hand loses the round."""

    def __init__(self, rounds: int = 3) -> None:
        super().__init__(["anna", "ben"], mode="parallel")
        self.rounds = rounds

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        self.round = 0
        self.score = 0.0
        self.told = dict.fromkeys(self.agents, "first round")

    def observe(self, agent: str) -> str:
        return self.told[agent]

    def _process_actions(self, actions: dict[str, str]) -> Any:
        self.round += 1
        anna, ben = (actions[a] if actions[a] in BEATS else None for a in ("anna", "ben"))
        score = 0.0 if anna == ben else 1.0 if ben is None or (anna is not None and BEATS[anna] == ben) else -1.0
        self.score += score
        self.told = {"anna": f"ben: {ben}", "ben": f"anna: {anna}"}
        over = self.round == self.rounds
        won = {"anna": self.score > 0, "ben": self.score < 0}
        infos = {agent: {"success": won[agent]} for agent in self.agents} if over else {"anna": {"round": self.round}}
        return {}, {"anna": score, "ben": -score}, dict.fromkeys(self.agents, over), {}, infos

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
            infos: dict[str, Any] = {agent: {"invalid_action": f"{move!r} cannot be taken", "success": False}}
            if len(self.agents) != 2:
                return {}, {agent: -1.0}, {agent: True}, {}, infos
            (winner,) = (other for other in self.agents if other != agent)
            infos[winner] = {"success": True}
            return {}, {winner: 1.0, agent: -1.0}, dict.fromkeys(self.agents, True), {}, infos
        self.heap -= int(move)
        self.broadcast_message(agent, f"I took {move}")
        over = self.heap == 0
        infos = {other: {"success": other == agent} for other in self.agents} if over else {}
        return {agent: "you moved"}, {agent: float(over)}, dict.fromkeys(self.agents, over), {}, infos

    def sample_agent_action(self, agent: str) -> str:
        return str(self.rng.randint(1, min(3, self.heap)))


def take_one(observation: str) -> str:
    return "1"


def nim_for_p1() -> SingleAgentView:
    """Nim as its second player sees it."""
    return SingleAgentView(Nim(heap=None), "p1", take_one)
