import copy
import pickle

import pytest
import textarena

from gem_games.textarena.match import Survivors, Tap


@pytest.fixture
def state():
    state = textarena.FFAMultiPlayerState(num_players=2, error_allowance=5)
    state.reset(game_state={})
    return state


def test_everybody_eliminated_is_a_draw_where_textarena_would_never_return(state):
    state.step = Survivors(state, "step")
    state.elimination_order = [0]
    assert state.step() == (False, {})
    state.elimination_order = [1, 0, 1]
    assert state.step()[0] is True
    assert state.rewards == {0: 0, 1: 0}


def test_a_tap_keeps_reasons_and_results(state):
    state.set_invalid_move = Tap(state, "set_invalid_move")
    assert state.set_invalid_move(reason="Too far.") is False
    assert state.set_invalid_move("Too near.") is False
    assert state.set_invalid_move.calls == [("Too far.", False), ("Too near.", False)]


def test_a_reward_before_the_reason_is_put_right():
    state = textarena.SinglePlayerState(num_players=1, error_allowance=0)
    state.reset(game_state={})
    state.set_invalid_move = Tap(state, "set_invalid_move")
    state.set_invalid_move(0.25, "Not a word.")
    assert state.rewards == {0: 0.25}
    assert state.game_info[0]["reason"] == "Invalid Move: Not a word."


def test_a_tapped_state_can_be_copied(state):
    state.step = Survivors(state, "step")
    for copied in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert copied.step.state is copied
        copied.step()
        assert (copied.turn, state.turn) == (1, 0)
