import copy
import hashlib
import json
import pickle
import random

import pytest
from ta_games import OFFLINE, SLOW, play
from ta_programs import run

import gem
from gem.multiagent import MultiAgentEnv, SingleAgentView
from gem_games.textarena.match import MOST_INVALID

QUICK = [entry for entry in OFFLINE if entry.family not in SLOW]
LISTED = ("Codenames", "DontSayIt", "Hangman", "LetterAuction", "SpellingBee", "WordChains", "WordSearch", "Wordle")


def by_family(entry):
    return entry.family


@pytest.mark.parametrize("entry", OFFLINE, ids=by_family)
def test_a_seed_gives_one_episode(entry):
    with gem.make(f"ta:{entry.id}") as env, gem.make(f"ta:{entry.id}") as other:
        first = play(env, seed=1, steps=12)
        if entry.family not in SLOW:
            play(env, seed=2, steps=12)
        assert play(env, seed=1, steps=12) == first
        assert play(other, seed=1, steps=12) == first


@pytest.mark.parametrize("entry", QUICK, ids=by_family)
def test_a_copy_goes_on_as_the_original(entry):
    with gem.make(f"ta:{entry.id}") as env:
        env.reset(seed=4)
        for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            assert play_on(copied) == play_on(copy.deepcopy(env))
        state = env.get_state()
        first = play_on(env)
        env.set_state(state)
        assert play_on(env) == first


def play_on(env, steps=8):
    rng, shown = random.Random(0), []
    for _ in range(steps):
        match = env._match
        if match.over:
            break
        action = match.some_action(env._game.family.name, match.current, rng)
        shown.append(repr(env.step({env.active_agents()[0]: action} if env.spec.multi_agent else action)))
    return shown


def digest() -> str:
    """Of episodes of every family that is quick."""
    found = hashlib.sha256()
    for entry in QUICK:
        with gem.make(f"ta:{entry.id}") as env:
            for seed in range(2):
                found.update(repr(play(env, seed, steps=15)).encode())
    return found.hexdigest()


def test_episodes_are_the_same_in_every_process_and_hash_seed():
    shown = {run("import test_ta_envs; print(test_ta_envs.digest())", PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert shown == {digest() + "\n"}


@pytest.mark.parametrize("entry", QUICK, ids=by_family)
def test_any_text_is_an_action(entry):
    odd = [
        "",
        "[",
        "]",
        "[]",
        "[ ]",
        "[-1]",
        "[1 1]",
        "[99999999999999999999]",
        "[１]",
        "[a b c]",
        "\\boxed{1}",
        "{" * 99,
    ]
    with gem.make(f"ta:{entry.id}") as env:
        for action in odd:
            env.reset(seed=0)
            outcome = env.step({env.active_agents()[0]: action} if env.spec.multi_agent else action)
            for info in outcome[4].values() if env.spec.multi_agent else [outcome[4]]:
                json.dumps(info)
                assert "error" not in info


WORD_GAMES = f"""
import pickle
import gem
from ta_games import play
for name in {LISTED!r}:
    env = gem.make(next(spec.id for spec in gem.specs("ta") if name in spec.tags))
    first = play(env, seed=1, steps=10)
    play(env, seed=2, steps=10)
    assert play(env, seed=1, steps=10) == first, name
    assert play(pickle.loads(pickle.dumps(env)), seed=1, steps=10) == first, name
    print(name, first)
"""


def test_word_games_play_where_their_lists_are_and_in_every_hash_seed(run_with_lists):
    assert run_with_lists(WORD_GAMES, PYTHONHASHSEED="1") == run_with_lists(WORD_GAMES, PYTHONHASHSEED="2") != ""


# -- one player ---------------------------------------------------------------------------------------


def test_a_game_of_one_player_from_start_to_win():
    with gem.make("ta:TowerOfHanoi-v0") as env:
        observation, info = env.reset(seed=0)
        assert observation.startswith("\n[GAME] ")
        assert info == {}
        moves = ["A C", "A B", "C B", "A C", "B A", "B C", "A C"]
        for move in moves[:-1]:
            observation, reward, terminated, truncated, info = env.step(f"[{move}]")
            assert (reward, terminated, truncated, info) == (0.0, False, False, {})
        _, reward, terminated, truncated, info = env.step(moves[-1])  # brackets are added, as TextArena does
        assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
        assert "Congratulations" in info["reason"]
        with pytest.raises(gem.ResetNeeded):
            env.step("[A C]")


def test_an_invalid_move_is_explained_and_the_second_in_a_row_loses():
    with gem.make("ta:TowerOfHanoi-v0") as env:
        env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step("no move")
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert "did not respond with valid" in info["invalid_action"]
        _, _, terminated, truncated, info = env.step("no move")
        assert (terminated, truncated, info["success"]) == (True, False, False)
        assert "did not respond with valid" in info["invalid_action"]


def test_arguments_in_the_wrong_order_are_put_right():
    with gem.make("ta:Countdown-v0") as env:
        env.reset(seed=0)
        observation, _, _, _, info = env.step("nonsense")
        assert info["invalid_action"].startswith("Invalid action format")
        assert observation.endswith("remember to follow the game rules to avoid penalties.")
        assert "[Player] [nonsense]" in observation
        assert isinstance(env.step("nonsense")[1], float)


def test_the_turn_limit_truncates():
    with gem.make("ta:GuessTheNumber-v0", max_turns=2, max_number=10**6) as env:
        env.reset(seed=0)
        for number in range(1, 5):
            _, reward, terminated, truncated, info = env.step(f"[{number}]")
            if terminated or truncated:
                break
        assert (terminated, truncated, info["success"]) == (False, True, False)
        assert 0.0 <= reward < 1.0
        assert "turn limit" in info["reason"]


def test_a_flaw_of_the_game_ends_the_episode_and_is_told(monkeypatch):
    with gem.make("ta:TowerOfHanoi-v0") as env:
        env.reset(seed=0)

        def fail(action):
            raise KeyError("deep\nin the game")

        monkeypatch.setattr(env._match.env, "step", fail)
        _, reward, terminated, truncated, info = env.step("[A C]")
        assert (reward, terminated, truncated, info["success"]) == (0.0, False, True, False)
        assert "failed on this action: KeyError" in info["error"]
        assert "\n" not in info["error"]


@pytest.mark.parametrize("action", [None, b"[A C]", 1])
def test_an_action_is_a_str(action):
    with gem.make("ta:TowerOfHanoi-v0") as env:
        env.reset(seed=0)
        with pytest.raises(TypeError, match="an action is a str"):
            env.step(action)


def test_before_a_reset_there_is_no_step_and_no_move():
    for env in (gem.make("ta:TowerOfHanoi-v0"), gem.make("ta:TicTacToe-v0")):
        with pytest.raises(gem.ResetNeeded):
            env.step("[A C]")
        if not env.spec.multi_agent:
            with pytest.raises(gem.ResetNeeded):
                env.sample_random_action()


def test_without_a_seed_episodes_differ_and_can_be_had_again():
    with gem.make("ta:GuessTheNumber-v0", max_number=10**9) as env:
        env.reset(seed=0)
        numbers = []
        for _ in range(2):
            env.reset()
            numbers.append(env._match.env.state.game_state)
        env.reset(seed=0)
        env.reset()
        assert env._match.env.state.game_state == numbers[0] != numbers[1]


# -- several players ----------------------------------------------------------------------------------


def test_players_take_turns_and_the_winner_is_paid():
    with gem.make("ta:TicTacToe-v0") as env:
        assert isinstance(env, MultiAgentEnv)
        observations, _ = env.reset(seed=0)
        assert "You are Player 1" in observations["player_1"]
        for cell in (0, 3, 1, 4):
            (agent,) = env.active_agents()
            observations, rewards, *_ = env.step({agent: f"[{cell}]"})
            assert rewards == {"player_0": 0.0, "player_1": 0.0}
        assert "[Player 1] [4]" in observations["player_0"]
        _, rewards, terminations, truncations, infos = env.step({"player_0": "[2]"})
        assert rewards == {"player_0": 1.0, "player_1": -1.0}
        assert terminations == {"player_0": True, "player_1": True}
        assert not any(truncations.values())
        assert (infos["player_0"]["success"], infos["player_1"]["success"]) == (True, False)
        with pytest.raises(gem.ResetNeeded):
            env.step({"player_1": "[5]"})


def test_who_moves_wrongly_is_told_why_and_moves_again():
    with gem.make("ta:TicTacToe-v0") as env:
        env.reset(seed=0)
        env.step({"player_0": "[0]"})
        _, _, _, _, infos = env.step({"player_1": "[0]"})
        assert "already occupied" in infos["player_1"]["invalid_action"]
        assert infos["player_0"] == {}
        assert env.active_agents() == ["player_1"]
        _, rewards, *_ = env.step({"player_1": "[0]"})
        assert rewards == {"player_0": 1.0, "player_1": -1.0}


def test_raw_ids_show_what_is_new():
    with gem.make("ta:TicTacToe-v0-raw") as env:
        observations, _ = env.reset(seed=0)
        assert "You are Player 1" in observations["player_1"]
        env.step({"player_0": "[0]"})
        observations, *_ = env.step({"player_1": "[4]"})
        assert "You are Player 0" not in observations["player_0"]
        assert "[Player 1] [4]" in observations["player_0"]


def test_a_hidden_choice_stays_hidden_until_all_have_chosen():
    with gem.make("ta:IteratedRockPaperScissors-v0") as env:
        env.reset(seed=0)
        observations, *_ = env.step({"player_0": "[paper]"})
        assert "[Player 0] [paper]" not in observations["player_1"]
        assert env.active_agents() == ["player_1"]


def test_a_game_that_asks_the_same_player_for_ever_is_cut_off():
    with gem.make("ta:SantoriniBaseFixed-v0") as env:
        env.reset(seed=0)
        for _ in range(MOST_INVALID):
            assert env.agents
            _, rewards, terminations, truncations, infos = env.step({env.active_agents()[0]: "nothing"})
        assert not env.agents
        assert rewards == {"player_0": 0.0, "player_1": 0.0}
        assert (any(terminations.values()), all(truncations.values())) == (False, True)
        assert infos["player_0"]["reason"] == "25 invalid moves in a row."


def test_more_players_can_be_had():
    with gem.make("ta:Snake-v0", num_players=4) as env:
        observations, _ = env.reset(seed=0)
        assert list(observations) == ["player_0", "player_1", "player_2", "player_3"]
    with pytest.raises(ValueError, match="is for 2 to 15 players, got num_players=16"):
        gem.make("ta:Snake-v0", num_players=16)
    with pytest.raises(ValueError, match="even"):
        gem.make("ta:Taboo-v0", num_players=5)


def test_one_player_can_be_trained_against_a_scripted_one():
    view = SingleAgentView(gem.make("ta:TicTacToe-v0-train"), "player_1", policies={"player_0": lambda o: "[0]"})
    observation, _ = view.reset(seed=0)
    assert "Available Moves: '[1]'" in observation
    # the scripted player goes on with a cell that is taken, and loses by it
    _, reward, terminated, truncated, info = view.step("[4]")
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    view.close()
