"""The interface of environments with several agents."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from gem.env import Env
from gem.errors import ResetNeeded
from gem.multiagent.selector import AgentSelector

#: What one agent sees, earns and learns: (observation, reward, terminated, truncated, info).
AgentOutcome = tuple[Any, float, bool, bool, dict[str, Any]]
#: The same for all agents: five dictionaries keyed by agent.
Outcome = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class MultiAgentEnv(Env):
    """An environment whose actions, observations, rewards, flags and infos are dictionaries keyed by agent.

    A subclass implements :meth:`observe` and :meth:`_process_actions`, and sets up its own state in
    :meth:`_begin_episode`. Agents act one after the other or all at once, as :attr:`agent_selector` says. An agent
    whose flags say so has left; the episode is over when all have.

    Args:
        possible_agents: the agents an episode begins with, in the order of their turns.
        mode: ``"sequential"`` or ``"parallel"``, see :class:`AgentSelector`.
    """

    #: Tells vector execution and tools that actions and results are keyed by agent.
    multi_agent = True

    def __init__(self, possible_agents: Iterable[str] = (), mode: str = "parallel") -> None:
        super().__init__()
        self.possible_agents: list[str] = list(possible_agents)
        #: The agents that are in the episode now.
        self.agents: list[str] = []
        self.agent_selector = AgentSelector(self.possible_agents, mode)
        # Of every agent of this episode, those that left included; the latest step's.
        self.rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        #: What each agent earned in this episode so far.
        self.cumulative_rewards: dict[str, float] = {}
        #: Every message of this episode: ``{"from": ..., "to": ..., "message": ...}``.
        self.shared_memory: list[dict[str, str]] = []
        #: Text for all agents, for the environment to use.
        self.global_context = ""

    # -- to implement ---------------------------------------------------------------------------------

    def observe(self, agent: str) -> Any:
        """What ``agent`` sees now, with all it needs to know when it is its turn."""
        raise NotImplementedError(f"{type(self).__name__} must implement observe(agent)")

    def _process_actions(self, actions: dict[str, str]) -> Outcome:
        """Carry out the actions of the agents whose turn it is.

        Returns:
            Observations, rewards, terminations, truncations and infos, each keyed by agent. An agent that is left
            out is observed anew, earns 0.0 and stays.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement _process_actions(actions)")

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        """Set up an episode; called by :meth:`reset` before the agents observe."""

    def sample_agent_action(self, agent: str) -> str:
        """A random action that the environment can parse, for one agent, drawn from :attr:`rng`."""
        raise NotImplementedError(f"{type(self).__name__} has no random actions")

    # -- what an agent loop calls ---------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin an episode with :attr:`possible_agents`; see :meth:`gem.Env.reset`.

        Returns:
            Observations and infos of all agents.
        """
        super().reset(seed=seed, options=options)
        self.agents = []
        for record in (self.rewards, self.terminations, self.truncations, self.infos, self.cumulative_rewards):
            record.clear()
        self.shared_memory = []
        self.global_context = ""
        self.agent_selector.reinit(())
        for agent in self.possible_agents:
            self.add_agent(agent)
        self._begin_episode(options)
        return {a: self.observe(a) for a in self.agents}, {a: dict(self.infos[a]) for a in self.agents}

    def step(self, actions: Mapping[str, str]) -> Outcome:  # type: ignore[override]
        """Carry out the actions of the agents whose turn it is (:meth:`active_agents`), no more and no fewer.

        Returns:
            Observations, rewards, terminations, truncations and infos of every agent that was in the episode when
            the step began, or joined in it.

        Raises:
            TypeError: ``actions`` is no mapping, or an action is not a ``str``.
            ValueError: an action is missing, out of turn, or of an agent that does not exist; the message says which.
            gem.ResetNeeded: the episode has ended or not begun.
        """
        if not self.agents:
            raise ResetNeeded
        self._validate_actions(actions)
        present, turn = self.agents.copy(), self.agent_selector.turn
        outcome = self._process_actions(dict(actions))
        present += [agent for agent in self.agents if agent not in present]
        complete = self._record(present, outcome)
        if self.agent_selector.turn == turn:  # the environment may have given the turn to someone itself
            self.agent_selector.next()
        for agent in present:
            if self.terminations[agent] or self.truncations[agent]:
                self.remove_agent(agent)
        return complete

    def _record(self, present: list[str], outcome: Outcome) -> Outcome:
        """Take what the environment returned, completed for all who are present."""
        observations, rewards, terminations, truncations, infos = outcome
        for part in outcome:
            for agent in part:
                if agent not in present:
                    raise ValueError(
                        f"{type(self).__name__}._process_actions returned something for {agent!r}, which is no agent"
                    )
        complete: Outcome = ({}, {}, {}, {}, {})
        for agent in present:
            left = agent not in self.agents
            self.rewards[agent] = reward = float(rewards.get(agent, 0.0))
            self.cumulative_rewards[agent] += reward
            self.truncations[agent] |= bool(truncations.get(agent, False))
            self.terminations[agent] |= bool(terminations.get(agent, False)) or (left and not self.truncations[agent])
            info = infos.get(agent, {})
            self.infos[agent] = dict(info)  # the caller may add to what is returned
            if agent in observations:
                complete[0][agent] = observations[agent]
            else:
                complete[0][agent] = "" if left else self.observe(agent)
            complete[1][agent] = reward
            complete[2][agent] = self.terminations[agent]
            complete[3][agent] = self.truncations[agent]
            complete[4][agent] = info
        return complete

    def _validate_actions(self, actions: Mapping[str, str]) -> None:
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions is a dictionary from agent to response, got {type(actions).__name__}")
        active = self.active_agents()
        for agent, action in actions.items():
            if agent not in active:
                raise ValueError(self._why_not(agent, active))
            if not isinstance(action, str):
                raise TypeError(f"the action of {agent!r} is a str, got {type(action).__name__}")
        for agent in active:
            if agent not in actions:
                raise ValueError(f"no action for {agent!r}, whose turn it is")

    def _why_not(self, agent: Any, active: list[str]) -> str:
        if agent in self.agents:
            return f"{agent!r} acts out of turn: it is the turn of {', '.join(map(repr, active))}"
        if agent in self.terminations:
            return f"{agent!r} has left the episode: the agents are {', '.join(map(repr, self.agents))}"
        near = difflib.get_close_matches(str(agent), self.agents, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the agents are {', '.join(map(repr, self.agents))}"
        return f"there is no agent {agent!r}; {hint}"

    def sample_random_action(self) -> dict[str, str]:  # type: ignore[override]
        """Random actions for the agents whose turn it is."""
        return {agent: self.sample_agent_action(agent) for agent in self.active_agents()}

    # -- agents ---------------------------------------------------------------------------------------

    def active_agents(self) -> list[str]:
        """The agents whose turn it is."""
        return self.agent_selector.get_active_agents()

    def last(self, agent: str) -> AgentOutcome:
        """What an agent sees now, what it earned in this episode so far, its flags and its latest info.

        Raises:
            ValueError: it was never in this episode.
        """
        if agent not in self.terminations:
            raise ValueError(self._why_not(agent, self.active_agents()))
        observation = self.observe(agent) if agent in self.agents else ""
        return (
            observation,
            self.cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def get_active_states(self) -> dict[str, AgentOutcome]:
        """:meth:`last` of the agents whose turn it is."""
        return {agent: self.last(agent) for agent in self.active_agents()}

    def add_agent(self, agent: str) -> None:
        """An agent joins, or comes back; it acts after all others of the round. No effect if it is there."""
        if agent in self.agents:
            return
        self.agents.append(agent)
        self.rewards[agent] = 0.0
        self.terminations[agent] = False
        self.truncations[agent] = False
        self.infos[agent] = {}
        self.cumulative_rewards.setdefault(agent, 0.0)
        self.agent_selector.add_agent(agent)

    def remove_agent(self, agent: str) -> None:
        """An agent leaves; what it earned stays on record. No effect if it is not there."""
        if agent in self.agents:
            self.agents.remove(agent)
            self.agent_selector.remove_agent(agent)

    # -- messages -------------------------------------------------------------------------------------

    def send_message(self, from_agent: str, to_agent: str, message: str) -> None:
        """Put a message from one agent to another on record.

        Raises:
            ValueError: one of them is not in the episode.
        """
        for agent in (from_agent, to_agent):
            if agent not in self.agents:
                raise ValueError(self._why_not(agent, self.active_agents()))
        self.shared_memory.append({"from": from_agent, "to": to_agent, "message": message})

    def broadcast_message(self, from_agent: str, message: str) -> None:
        """Send a message to everyone else."""
        if from_agent not in self.agents:
            raise ValueError(self._why_not(from_agent, self.active_agents()))
        for agent in self.agents:
            if agent != from_agent:
                self.send_message(from_agent, agent, message)

    def messages_to(self, agent: str) -> list[dict[str, str]]:
        """The messages of this episode to an agent, oldest first."""
        return [message for message in self.shared_memory if message["to"] == agent]
