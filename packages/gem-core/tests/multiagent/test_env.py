"""The interface of several agents, through two toy games."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import gem
from gem.multiagent import MultiAgentEnv
from gem.testing import check_env

from .toy_games import Nim, RockPaperScissors


def test_all_at_once() -> None:
    env = RockPaperScissors(rounds=2)
    observations, infos = env.reset(seed=1)
    assert observations == {"anna": "first round", "ben": "first round"}
    assert infos == {"anna": {}, "ben": {}}
    assert env.active_agents() == ["anna", "ben"]
    observations, rewards, terminations, truncations, infos = env.step({"anna": "rock", "ben": "scissors"})
    assert observations == {"anna": "ben: scissors", "ben": "anna: rock"}
    assert rewards == {"anna": 1.0, "ben": -1.0}
    assert terminations == truncations == {"anna": False, "ben": False}
    assert infos == {"anna": {"round": 1}, "ben": {}}
    _, _, terminations, _, _ = env.step({"anna": "rock", "ben": "paper"})
    assert terminations == {"anna": True, "ben": True}
    assert env.agents == []
    assert env.cumulative_rewards == {"anna": 0.0, "ben": 0.0}
    with pytest.raises(gem.ResetNeeded):
        env.step({})


def test_reset_options_are_a_dictionary() -> None:
    with pytest.raises(TypeError, match="reset options must be a dict, got 3"):
        Nim().reset(options=3)


def test_in_turn() -> None:
    env = Nim(players=2, heap=5)
    env.reset()
    turns = []
    for move in ("3", "1", "1"):
        (agent,) = env.active_agents()
        turns.append(agent)
        observations, rewards, terminations, _, _ = env.step({agent: move})
        assert observations.keys() == rewards.keys() == {"p0", "p1"}
    assert turns == ["p0", "p1", "p0"]
    assert observations == {"p0": "you moved", "p1": "heap 0"}
    assert rewards == {"p0": 1.0, "p1": 0.0}
    assert terminations == {"p0": True, "p1": True}


def test_agents_leave_and_the_next_is_not_passed_over() -> None:
    env = Nim(players=4)
    env.reset()
    turns = []
    for move in ("1", "oops", "1", "oops", "1", "1"):
        (agent,) = env.active_agents()
        turns.append(agent)
        _, _, terminations, _, _ = env.step({agent: move})
        assert terminations[agent] == (move == "oops")
    assert turns == ["p0", "p1", "p2", "p3", "p0", "p2"]
    assert env.agents == ["p0", "p2"]
    assert set(terminations) == {"p0", "p2"}
    assert env.last("p1") == ("", -1.0, True, False, {"invalid_action": "'oops' cannot be taken", "success": False})
    env.reset()
    assert env.agents == ["p0", "p1", "p2", "p3"]


@pytest.mark.parametrize(
    ("actions", "error", "said"),
    [
        (None, TypeError, "actions is a dictionary from agent to response, got NoneType"),
        ("1", TypeError, "actions is a dictionary"),
        ({}, ValueError, "no action for 'p0', whose turn it is"),
        ({"p0": "1", "p1": "1"}, ValueError, "'p1' acts out of turn: it is the turn of 'p0'"),
        ({"p0": "1", "p00": "1"}, ValueError, "there is no agent 'p00'; did you mean 'p0'"),
        ({"p0": "1", "x": "1"}, ValueError, "there is no agent 'x'; the agents are 'p0', 'p1', 'p2'"),
        ({"p0": 1}, TypeError, "the action of 'p0' is a str, got int"),
        ({"p0": None}, TypeError, "the action of 'p0' is a str, got NoneType"),
    ],
)
def test_wrong_actions_are_clear_errors_and_change_nothing(actions: Any, error: type[Exception], said: str) -> None:
    env = Nim(heap=12)
    env.reset()
    with pytest.raises(error, match=said):
        env.step(actions)
    assert env.heap == 12
    assert env.active_agents() == ["p0"]


def test_who_has_left_cannot_act() -> None:
    env = Nim()
    env.reset()
    env.step({"p0": "oops"})
    with pytest.raises(ValueError, match="'p0' has left the episode: the agents are 'p1', 'p2'"):
        env.step({"p0": "1"})


def test_reset_is_needed_first() -> None:
    with pytest.raises(gem.ResetNeeded):
        Nim().step({"p0": "1"})


def test_messages() -> None:
    env = Nim(players=3)
    env.reset()
    env.step({"p0": "2"})
    env.send_message("p1", "p2", "psst")
    assert env.messages_to("p2") == [
        {"from": "p0", "to": "p2", "message": "I took 2"},
        {"from": "p1", "to": "p2", "message": "psst"},
    ]
    assert env.messages_to("p0") == []
    assert len(env.shared_memory) == 3
    for sender, receiver in (("x", "p0"), ("p0", "x")):
        with pytest.raises(ValueError, match="there is no agent 'x'"):
            env.send_message(sender, receiver, "hi")
    with pytest.raises(ValueError, match="there is no agent 'x'"):
        env.broadcast_message("x", "hi")
    env.reset()
    assert env.shared_memory == []


def test_last_and_active_states() -> None:
    env = Nim(players=2, heap=5)
    env.reset()
    env.step({"p0": "1"})
    assert env.get_active_states() == {"p1": ("heap 4", 0.0, False, False, {})}
    assert env.last("p0") == ("heap 4", 0.0, False, False, {})
    with pytest.raises(ValueError, match="there is no agent 'x'"):
        env.last("x")


class Visitors(MultiAgentEnv):
    """Agents come and go: the action says who."""

    def __init__(self) -> None:
        super().__init__(["a", "b"], mode="sequential")

    def observe(self, agent: str) -> str:
        return f"{agent} sees {','.join(self.agents)}"

    def _process_actions(self, actions: Mapping[str, str]) -> Any:
        for action in actions.values():
            verb, _, agent = action.partition(" ")
            if verb == "add":
                self.add_agent(agent)
            elif verb == "remove":
                self.remove_agent(agent)
            elif verb == "give":
                self.agent_selector.select(agent)
            elif verb == "flag":
                self.terminations[agent] = True
            elif verb == "cut":
                return {}, {}, {}, {agent: True}, {}
            elif verb == "wrong":
                return {}, {"zoe": 1.0}, {}, {}, {}
        return {}, dict.fromkeys(actions, 0.5), {}, {}, {}


def played(*moves: str) -> tuple[Visitors, list[str], Any]:
    env, turns, outcome = Visitors(), [], None
    env.reset()
    for move in moves:
        (agent,) = env.active_agents()
        turns.append(agent)
        outcome = env.step({agent: move})
    return env, turns, outcome


def test_who_joins_acts_last_and_sees_at_once() -> None:
    env, turns, outcome = played("add c")
    assert outcome[0] == {"a": "a sees a,b,c", "b": "b sees a,b,c", "c": "c sees a,b,c"}
    _, turns, _ = played("add c", "-", "-", "-")
    assert turns == ["a", "b", "c", "a"]
    env.reset()
    assert env.agents == ["a", "b"]


def test_who_is_removed_has_terminated_and_keeps_what_it_earned() -> None:
    env, turns, outcome = played("-", "-", "remove a", "-")
    assert turns == ["a", "b", "a", "b"]
    assert outcome[0].keys() == {"b"}
    assert env.last("a") == ("", 1.0, True, False, {})
    _, _, outcome = played("remove b")
    assert outcome[0] == {"a": "a sees a", "b": ""}
    assert outcome[2] == {"a": False, "b": True}


def test_flags_set_by_hand_and_truncation() -> None:
    env, _, outcome = played("flag b")
    assert outcome[2] == {"a": False, "b": True}
    assert env.agents == ["a"]
    env, _, outcome = played("cut a")
    assert outcome[3] == {"a": True, "b": False}
    assert outcome[2] == {"a": False, "b": False}
    assert env.active_agents() == ["b"]


def test_the_environment_may_give_the_turn() -> None:
    _, turns, _ = played("give a", "give b", "-", "-")
    assert turns == ["a", "a", "b", "a"]


def test_who_comes_back_goes_on_earning() -> None:
    env, _, _ = played("-", "remove a", "add a", "-")
    assert env.terminations == {"a": False, "b": False}
    assert env.cumulative_rewards["a"] == 1.0


def test_results_for_nobody_are_the_environments_error() -> None:
    with pytest.raises(ValueError, match=r"Visitors._process_actions returned something for 'zoe', which is no agent"):
        played("wrong")


def test_what_must_be_implemented() -> None:
    env = MultiAgentEnv(["a"])
    for call in (lambda: env.observe("a"), lambda: env._process_actions({}), lambda: env.sample_agent_action("a")):
        with pytest.raises(NotImplementedError, match="MultiAgentEnv"):
            call()


def test_an_environment_in_the_published_manner() -> None:
    class Old(MultiAgentEnv):
        def __init__(self) -> None:
            super().__init__()
            self.possible_agents = ["user", "agent"]

        def observe(self, agent: str) -> str:
            return "hi"

        def _process_actions(self, actions: Mapping[str, str]) -> Any:
            return {}, {}, {}, {}, {}

        def reset(self, seed: int | None = None) -> Any:  # type: ignore[override]
            return super().reset(seed=seed)

    env = Old()
    assert env.reset(seed=1)[0] == {"user": "hi", "agent": "hi"}
    assert env.active_agents() == ["user", "agent"]


# -- determinism and state -----------------------------------------------------------------------------------


def play(env: MultiAgentEnv, steps: int) -> list[Any]:
    outcomes = []
    for _ in range(steps):
        if not env.agents:
            env.reset()
        outcomes.append(env.step(env.sample_random_action()))
    return outcomes


@pytest.mark.parametrize("make", [RockPaperScissors, lambda: Nim(heap=None)])
def test_same_seed_same_game_and_the_global_state_is_left_alone(make: Any) -> None:
    random.seed(5)
    state = random.getstate()
    one, two = make(), make()
    first = one.reset(seed=7)
    two.reset(seed=8)
    outcomes = play(one, 20)
    assert two.reset(seed=7) == first
    assert play(two, 20) == outcomes
    assert random.getstate() == state


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda env: pickle.loads(pickle.dumps(env)),
        lambda env: env.spawn(same_state=True),
    ],
    ids=["deepcopy", "pickle", "spawn"],
)
@pytest.mark.parametrize("make", [lambda: RockPaperScissors(rounds=5), lambda: Nim(4, heap=None)])
def test_copies_go_on_from_here(make: Any, copied: Any) -> None:
    env = make()
    env.reset(seed=3)
    play(env, 2)
    other = copied(env)
    assert play(other, 12) == play(env, 12)


def test_state_comes_back() -> None:
    env = Nim(4, heap=None)
    env.reset(seed=3)
    play(env, 2)
    state = env.get_state()
    expected = play(env, 12)
    env.set_state(state)
    assert play(env, 12) == expected


moves = st.lists(st.sampled_from(["1", "2", "3", "oops", ""]), min_size=40, max_size=40)


@given(st.integers(1, 5), moves)
def test_every_episode_ends_with_everyone_told(players: int, moves: list[str]) -> None:
    env = Nim(players, heap=10)
    env.reset()
    told: set[str] = set()
    earned = dict.fromkeys(env.possible_agents, 0.0)
    for move in moves:
        present = set(env.agents)
        if not present:
            break
        outcome = env.step({env.active_agents()[0]: move})
        assert all(part.keys() == present for part in outcome)
        for agent in present:
            earned[agent] += outcome[1][agent]
            if outcome[2][agent] or outcome[3][agent]:
                assert agent not in env.agents
                assert agent not in told
                told.add(agent)
            else:
                assert agent in env.agents
    assert env.cumulative_rewards == earned
    assert told == set(env.possible_agents) - set(env.agents)


@pytest.mark.parametrize("game", ["RockPaperScissors", "Nim"])
def test_the_toys_conform(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))  # by a name that other processes can import
    spec = gem.EnvSpec(id=f"toys:{game}-v0", entry_point=f"toy_games:{game}", multi_agent=True, description="A toy.")
    assert check_env(spec) == []


# -- vector execution ----------------------------------------------------------------------------------------


def test_vectorised_like_any_environment() -> None:
    gem.register("toys:Nim", lambda: Nim(2, heap=4), override=True)
    vec = gem.make_vec(["toys:Nim"] * 2)
    try:
        observations, _ = vec.reset(seed=1)
        assert list(observations) == [{"p0": "heap 4", "p1": "heap 4"}] * 2
        _, rewards, terminated, _, _ = vec.step([{"p0": "3"}, {"p0": "2"}])
        assert list(rewards) == [{"p0": 0.0, "p1": 0.0}] * 2
        observations, rewards, terminated, _, _ = vec.step([{"p1": "1"}, {"p1": "1"}])
        assert terminated[0] == {"p0": True, "p1": True}
        assert terminated[1] == {"p0": False, "p1": False}
        assert rewards[0] == {"p0": 0.0, "p1": 1.0}
        assert observations[0] == {"p0": "heap 4", "p1": "heap 4"}  # begun anew
    finally:
        vec.close()
