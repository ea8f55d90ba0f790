"""Every view shows what TextArena's own wrapper shows."""

import random

import pytest
import textarena
from ta_games import OFFLINE, SLOW, guess

import gem
from gem_games.textarena.isolation import drawing_from
from gem_games.textarena.views import VIEWS, Board, MessagesAndBoard, News

#: Games that hand TextArena's state their arguments in the wrong order, which is put right here.
REPAIRED = {"Countdown", "Cryptarithm", "Slitherlink", "ThreeCardMonte"}
#: Training ids whose wrapper fails in TextArena, for want of a board.
FAILING = {"LightsOut-v0-train"}


@pytest.mark.parametrize("version", ["", "-train"])
@pytest.mark.parametrize("entry", [e for e in OFFLINE if e.family not in REPAIRED | SLOW], ids=lambda e: e.family)
def test_a_player_reads_what_textarena_shows(entry, version):
    env_id = entry.id + version
    if env_id in FAILING:
        return
    with gem.make(f"ta:{env_id}") as env:
        env.reset(seed=3)
        generator, guesses = random.Random(3), random.Random(1)
        with drawing_from(generator):
            own = textarena.make(env_id)
            own.reset(num_players=env.unwrapped._game.family.players[0], seed=3)
        for _ in range(15):
            with drawing_from(generator):
                player, text = own.get_observation()
            assert (player, text) == (env._match.current, env._match.text(player))
            action = guess(env, guesses)
            env.step({env.active_agents()[0]: action} if env.spec.multi_agent else action)
            if env._match.reason(0) == "All players were eliminated.":
                break  # where TextArena looks for the next player for ever
            with drawing_from(generator):
                done, _ = own.step(action)
            done = done or own.state.done  # a game or two say no where their state says yes
            assert done == env._match.over
            if done:
                break


def test_every_wrapper_of_the_registry_has_a_view():
    used = {w.__name__ for s in textarena.envs.registration.ENV_REGISTRY.values() for w in s.default_wrappers or []
            if issubclass(w, textarena.ObservationWrapper)}  # fmt: skip
    assert used == set(VIEWS)


def test_news_are_what_came_since_the_player_acted():
    view = News()
    view.add("GAME", "Hello.", "PROMPT")
    assert view.text() == "\n[GAME] Hello."
    view.acted()
    assert view.text() == ""
    view.add("Player 1", "[3]", "PLAYER_ACTION")
    assert view.text() == "\n[Player 1] [3]"


def test_without_a_board_the_rest_is_shown():
    for view in (Board(), MessagesAndBoard()):
        view.add("GAME", "Rules.", "PROMPT")
        assert view.text() == "Rules."
