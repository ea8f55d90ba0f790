"""One agent's view of an environment of several: a plain :class:`gem.Env`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gem.env import Env, Wrapper
from gem.errors import GemError, ResetNeeded
from gem.multiagent.env import MultiAgentEnv, Outcome
from gem.wrappers.content import Content, join, line

if TYPE_CHECKING:
    from gem.env_spec import EnvSpec

#: From an observation to a response: text, or an object with ``text`` such as :class:`gem.Response`.
Policy = Callable[[Any], Any]


class SingleAgentView(Wrapper):
    """A plain environment for one agent, in which policies play the others.

    A step carries out the agent's action, and then the others' until it is its turn again, or its episode is over.
    What it earns while the others move is part of its reward. Rollouts, vector execution and trainers take it like
    any environment.

    Args:
        env: the environment of several agents.
        agent: the agent to be.
        policies: for each other agent a function from observation to response; or one function for all.
        observations: ``"last"``, the latest observation when its turn comes; or ``"all"`` since its last turn,
            joined, for environments whose observations are events rather than states.
        max_other_turns: steps of the others in a row after which something must be wrong.

    Raises:
        ValueError: there is no such agent, or an agent without a policy; the message names it.
    """

    multi_agent = False
    state_excludes = ("env", "_init_arguments", "policies")
    env: MultiAgentEnv

    def __init__(
        self,
        env: Env,
        agent: str,
        policies: Mapping[str, Policy] | Policy,
        *,
        observations: str = "last",
        max_other_turns: int = 10_000,
    ) -> None:
        if not isinstance(env, MultiAgentEnv):
            raise TypeError(f"a SingleAgentView looks at a MultiAgentEnv, got {env!r}")
        if observations not in ("last", "all"):
            raise ValueError(f"observations is 'last' or 'all', got {observations!r}")
        super().__init__(env)
        if agent not in env.possible_agents:
            raise ValueError(f"there is no agent {agent!r}; the agents are {', '.join(env.possible_agents)}")
        self.agent = agent
        self.policies = policies
        self.observations = observations
        self.max_other_turns = max_other_turns
        for other in env.possible_agents:
            if other != agent:
                self._policy_of(other)
        self._seen: list[Content] = []
        self._reward = 0.0
        self._info: dict[str, Any] = {}
        self._over: tuple[bool, bool] | None = (False, False)  # its flags once its episode is over
        self._running = False

    @property
    def unwrapped(self) -> Env:
        """This view: what lies below is no environment for one agent."""
        return self

    @property
    def spec(self) -> EnvSpec | None:
        """The inner environment's, as one for a single agent."""
        spec = self.env.spec
        return spec.replace(multi_agent=False) if spec is not None else None

    @spec.setter
    def spec(self, value: EnvSpec | None) -> None:
        self.env.spec = value

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any) -> tuple[Any, Any]:
        """Begin an episode and play the others until it is this agent's turn.

        Should its episode be over before, the first step says so, whatever the action.
        """
        observations, infos = super().reset(seed=seed, options=options, **kwargs)
        self._running = True
        self._over = None
        self._reward = 0.0
        self._seen = [observations[self.agent]]
        self._info = dict(infos.get(self.agent, {}))
        self._play_others()
        return self._take_observation(), self._take_info()

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, got {type(action).__name__}")
        if not self._running:
            raise ResetNeeded
        if self._over is None:
            actions = {other: self._ask(other) for other in self.env.active_agents() if other != self.agent}
            self._take(self.env.step({self.agent: action, **actions}))
            self._play_others()
        terminated, truncated = self._over or (False, False)
        self._running = self._over is None
        reward, self._reward = self._reward, 0.0
        return self._take_observation(), reward, terminated, truncated, self._take_info()

    def sample_random_action(self) -> str:
        return self.env.sample_agent_action(self.agent)

    # -- the others -----------------------------------------------------------------------------------

    def _play_others(self) -> None:
        for _ in range(self.max_other_turns):
            if self._over is None and self.agent not in self.env.agents:
                self._over = (True, False)
            if self._over is not None:
                return
            active = self.env.active_agents()
            if self.agent in active:
                return
            self._take(self.env.step({other: self._ask(other) for other in active}))
        raise GemError(
            f"{self.agent!r} had no turn in {self.max_other_turns} steps: check the turn order of {self.env!r}"
        )

    def _take(self, outcome: Outcome) -> None:
        observations, rewards, terminations, truncations, infos = outcome
        self._seen.append(observations[self.agent])
        self._reward += rewards[self.agent]
        self._info.update(infos[self.agent])
        if terminations[self.agent] or truncations[self.agent]:
            self._over = terminations[self.agent], truncations[self.agent]

    def _take_observation(self) -> Any:
        seen, self._seen = self._seen, []
        if self.observations == "all" and len(seen) > 1:
            return join([*map(line, seen[:-1]), seen[-1]])
        return seen[-1] if seen else ""

    def _take_info(self) -> dict[str, Any]:
        info, self._info = self._info, {}
        return info

    def _policy_of(self, agent: str) -> Policy:
        if callable(self.policies):
            return self.policies
        if agent not in self.policies:
            raise ValueError(f"no policy for {agent!r}: give one for every agent but {self.agent!r}")
        return self.policies[agent]

    def _ask(self, agent: str) -> str:
        response = self._policy_of(agent)(self.env.observe(agent))
        text = getattr(response, "text", response)
        if not isinstance(text, str):
            raise TypeError(f"the policy of {agent!r} must return a str, got {type(text).__name__}")
        return text
