"""One agent's view: others play between its turns, and nothing it earns is lost."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import gem
from gem.multiagent import MultiAgentEnv, SingleAgentView
from gem.testing import check_env

from .toy_games import Nim, RockPaperScissors


def one(observation: str) -> str:
    return "1"


def rock(observation: str) -> str:
    return "rock"


def test_all_at_once() -> None:
    view = SingleAgentView(RockPaperScissors(rounds=2), "ben", {"anna": rock})
    assert view.reset(seed=1) == ("first round", {})
    assert view.step("paper") == ("anna: rock", 1.0, False, False, {})
    assert view.step("scissors") == ("anna: rock", -1.0, True, False, {"success": False})
    with pytest.raises(gem.ResetNeeded):
        view.step("rock")
    view.reset()
    view.step("rock")


@pytest.mark.parametrize(("agent", "first"), [("p0", "heap 12"), ("p1", "heap 11"), ("p2", "heap 10")])
def test_the_others_play_until_it_is_our_turn(agent: str, first: str) -> None:
    view = SingleAgentView(Nim(heap=12), agent, one)
    observation, _ = view.reset()
    assert observation == first
    assert view.active_agents() == [agent]
    observation, reward, terminated, truncated, _ = view.step("1")
    assert observation == f"heap {int(first[5:]) - 3}"
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_each_has_its_own_policy_and_sees_its_own_observation() -> None:
    asked: list[tuple[str, str]] = []

    def policy(name: str) -> Any:
        return lambda observation: asked.append((name, observation)) or gem.Response("2")

    view = SingleAgentView(Nim(heap=12), "p1", {"p0": policy("p0"), "p2": policy("p2")})
    view.reset()
    view.step("1")
    assert asked == [("p0", "heap 12"), ("p2", "heap 9"), ("p0", "heap 7")]


def test_winning_losing_and_being_put_out() -> None:
    view = SingleAgentView(Nim(2, heap=4), "p0", lambda observation: observation[-1])
    view.reset()
    observation, reward, terminated, _, _ = view.step("1")
    assert (observation, reward, terminated) == ("heap 0", 0.0, True)
    view = SingleAgentView(Nim(2, heap=2), "p0", one)
    view.reset()
    assert view.step("2")[1:3] == (1.0, True)
    view = SingleAgentView(Nim(3, heap=9), "p0", one)
    view.reset()
    _, reward, terminated, _, info = view.step("oops")
    assert (reward, terminated) == (-1.0, True)
    assert info == {"invalid_action": "'oops' cannot be taken", "success": False}
    assert view.env.agents == ["p1", "p2"]


def test_what_is_earned_while_others_move_is_delivered() -> None:
    view = SingleAgentView(Nim(2, heap=9), "p0", lambda observation: "oops")
    view.reset()
    _, reward, terminated, _, _ = view.step("1")
    assert (reward, terminated) == (1.0, True)


def test_an_episode_that_is_over_before_our_first_turn() -> None:
    view = SingleAgentView(Nim(2, heap=1), "p1", one)
    observation, _ = view.reset()
    assert observation == "heap 0"
    assert view.step("whatever")[1:4] == (0.0, True, False)
    with pytest.raises(gem.ResetNeeded):
        view.step("1")


class Tells(MultiAgentEnv):
    """Observations are events; everyone earns a tenth for each step."""

    def __init__(self) -> None:
        super().__init__(["a", "b", "c"], mode="sequential")

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        self.said = "start"

    def observe(self, agent: str) -> str:
        return self.said

    def _process_actions(self, actions: dict[str, str]) -> Any:
        ((agent, action),) = actions.items()
        self.said = f"{agent} said {action}"
        if action == "dismiss":
            self.remove_agent("a")
        return {}, dict.fromkeys(self.agents, 0.1), {}, {}, {"a": {agent: action}}


def test_rewards_and_infos_since_our_turn_add_up() -> None:
    view = SingleAgentView(Tells(), "a", lambda observation: "hm")
    view.reset()
    observation, reward, _, _, info = view.step("hi")
    assert observation == "c said hm"
    assert reward == pytest.approx(0.3)
    assert info == {"a": "hi", "b": "hm", "c": "hm"}
    assert view.step("hi")[4] == info


def test_all_observations_since_our_turn() -> None:
    view = SingleAgentView(Tells(), "a", lambda observation: "hm", observations="all")
    assert view.reset()[0] == "start"
    assert view.step("hi")[0] == "a said hi\nb said hm\nc said hm"


def test_being_removed_is_termination() -> None:
    view = SingleAgentView(Tells(), "a", {"b": lambda observation: "dismiss", "c": one})
    view.reset()
    assert view.step("hi")[2:4] == (True, False)


def test_a_turn_that_never_comes_is_an_error() -> None:
    class Unfair(Tells):
        def _process_actions(self, actions: dict[str, str]) -> Any:
            self.agent_selector.select("b")
            return {}, {}, {}, {}, {}

    view = SingleAgentView(Unfair(), "a", one, max_other_turns=50)
    view.reset()
    with pytest.raises(gem.GemError, match="'a' had no turn in 50 steps"):
        view.step("hi")


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: SingleAgentView(Nim(), "p9", one), ValueError, "there is no agent 'p9'; the agents are p0, p1, p2"),
        (lambda: SingleAgentView(Nim(), "p0", {"p1": one}), ValueError, "no policy for 'p2'"),
        (lambda: SingleAgentView(gem.Env(), "p0", one), TypeError, "looks at a MultiAgentEnv"),
        (lambda: SingleAgentView(Nim(), "p0", one, observations="some"), ValueError, "'last' or 'all'"),
    ],
)
def test_wrong_arguments(make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()


def test_wrong_actions_and_policies() -> None:
    view = SingleAgentView(Nim(), "p0", lambda observation: 3)
    with pytest.raises(gem.ResetNeeded):
        view.step("1")
    view.reset()
    with pytest.raises(TypeError, match="an action is a str"):
        view.step(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the policy of 'p1' must return a str, got int"):
        view.step("1")


@given(st.integers(1, 4), st.data())
def test_the_view_earns_what_the_agent_earns(players: int, data: st.DataObject) -> None:
    move = st.sampled_from(["1", "2", "3", "oops"])
    env = Nim(players, heap=11)
    agent = data.draw(st.sampled_from(env.possible_agents))
    view = SingleAgentView(env, agent, lambda observation: data.draw(move))
    view.reset()
    earned, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, _ = view.step(data.draw(move))
        earned += reward
        over = terminated or truncated
    assert earned == env.cumulative_rewards[agent]


# -- a plain environment -------------------------------------------------------------------------------------


def test_state_and_copies() -> None:
    view = SingleAgentView(Nim(3, heap=20), "p1", one)
    view.reset(seed=1)
    view.step("1")
    state = view.get_state()
    copies = [copy.deepcopy(view), pickle.loads(pickle.dumps(view)), view.spawn(same_state=True)]
    expected = [view.step("2") for _ in range(3)]
    for other in copies:
        assert [other.step("2") for _ in range(3)] == expected
    view.set_state(state)
    assert [view.step("2") for _ in range(3)] == expected


def test_it_is_no_multi_agent_environment_to_anyone() -> None:
    gem.register(gem.EnvSpec(id="toys:NimMany", entry_point=Nim, multi_agent=True), override=True)
    env = gem.make("toys:NimMany")
    view = SingleAgentView(env, "p0", one)
    assert env.spec is not None
    assert env.spec.multi_agent
    assert view.spec == env.spec.replace(multi_agent=False)
    assert view.env_id == "toys:NimMany"
    assert view.multi_agent is False
    assert view.unwrapped is view
    assert SingleAgentView(Nim(), "p0", one).spec is None
    view.reset(seed=1)
    assert view.sample_random_action() in ("1", "2", "3")


def test_it_conforms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))  # by a name that other processes can import
    assert check_env(gem.EnvSpec(id="toys:View-v0", entry_point="toy_games:nim_for_p1", description="A toy.")) == []


def test_vectorised_like_any_environment() -> None:
    gem.register("toys:NimView", lambda: SingleAgentView(Nim(2, heap=8), "p1", one), override=True)
    vec = gem.make_vec(["toys:NimView"] * 3)
    try:
        observations, _ = vec.reset(seed=1)
        assert list(observations) == ["heap 7"] * 3
        observations, rewards, terminated, truncated, _ = vec.step(["3", "oops", "1"])
        assert list(observations) == ["heap 3", "heap 7", "heap 5"]  # the second began anew
        assert list(rewards) == [0.0, -1.0, 0.0]
        assert list(terminated) == [False, True, False]
        assert not any(truncated)
    finally:
        vec.close()
