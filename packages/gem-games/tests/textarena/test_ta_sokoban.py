import threading
from pathlib import Path

import pytest
from ta_games import copy_of
from textarena.envs.Sokoban import utils

import gem
from gem_games.textarena import sokoban


@pytest.fixture
def own():
    return copy_of(utils)


@pytest.mark.parametrize(("dim", "boxes"), [((6, 6), 3), ((6, 6), 2), ((7, 6), 1)])
def test_it_finds_what_textarenas_own_finds(dim, boxes, own, monkeypatch):
    searched, scores = own.reverse_playing, []

    def both(state, structure):
        before = state.copy()
        room, score, mapping = sokoban.reverse_playing(state, structure)
        assert (state == before).all()
        expected = searched(state, structure)
        assert room.dtype == expected[0].dtype
        assert (room.tolist(), score) == (expected[0].tolist(), expected[1])
        assert mapping == {tuple(map(int, target)): tuple(map(int, box)) for target, box in expected[2].items()}
        scores.append(score)
        return expected

    monkeypatch.setattr(own, "reverse_playing", both)
    for seed in range(3):
        own.generate_room(dim=dim, num_steps=20, num_boxes=boxes, seed=seed)
    assert sum(score > 0 for score in scores) >= 3


def test_it_looks_no_deeper_and_at_no_more_states_than_textarena(own, monkeypatch):
    room = own.np.ones((9, 9), dtype=int)
    room[[0, -1], :] = room[:, [0, -1]] = 0
    room[4, 4] = 2
    state = room.copy()
    state[4, 4], state[4, 5] = 4, 5
    for most in (10, 200, 2000):
        monkeypatch.setattr(sokoban, "MOST_STATES", most)
        source = Path(utils.__file__).read_text(encoding="utf-8").replace("300000", str(most))
        exec(source, vars(own))
        expected = own.reverse_playing(state, room)
        found = sokoban.reverse_playing(state, room)
        assert (found[0].tolist(), found[1]) == (expected[0].tolist(), expected[1])


def test_it_stands_for_textarenas_own_and_threads_do_not_meet_in_it():
    envs = [gem.make("ta:Sokoban-v0") for _ in range(4)]
    assert utils.reverse_playing is sokoban.reverse_playing
    alone = [env.reset(seed=seed)[0] for seed, env in enumerate(envs)]
    together = {}
    threads = [
        threading.Thread(target=lambda seed=seed, env=env: together.update({seed: env.reset(seed=seed)[0]}))
        for seed, env in enumerate(envs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[seed] for seed in range(4)] == alone
