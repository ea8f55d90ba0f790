import random
import re
import threading

import numpy as np
import pytest
import textarena
from ta_games import OFFLINE, SLOW, play

import gem
from gem_games.textarena.isolation import _Numpy, _Random, drawing_from
from gem_games.textarena.registry import folder

QUICK = [entry for entry in OFFLINE if entry.family not in SLOW]


@pytest.mark.parametrize("entry", OFFLINE, ids=lambda entry: entry.family)
def test_a_game_leaves_the_global_generators_alone_and_does_not_read_them(entry):
    with gem.make(f"ta:{entry.id}") as env:
        random.seed(1)
        np.random.seed(1)
        state, other = random.getstate(), np.random.get_state()[1].tolist()
        first = play(env, seed=0, steps=8)
        assert random.getstate() == state
        assert np.random.get_state()[1].tolist() == other
        random.seed(2)
        np.random.seed(2)
        assert play(env, seed=0, steps=8) == first


def test_a_generator_is_of_its_own_thread():
    stand_in = _Random(random)
    drawn = []

    def draw(seed):
        with drawing_from(random.Random(seed)):
            ready.wait()
            drawn.append((seed, [stand_in.random() for _ in range(500)]))

    ready = threading.Barrier(4)
    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, numbers in drawn:
        rng = random.Random(seed)
        assert numbers == [rng.random() for _ in range(500)]


def test_who_uses_textarena_directly_gets_the_global_generator():
    random.seed(5)
    expected = random.random()
    random.seed(5)
    assert _Random(random).random() == expected
    np.random.seed(5)
    expected = np.random.randint(1000)
    np.random.seed(5)
    assert _Numpy(np).random.randint(1000) == expected


def test_numpy_draws_from_the_instances_generator():
    stand_in = _Numpy(np)

    def draws():
        with drawing_from(random.Random(3)):
            return [stand_in.random.randint(10**6), stand_in.random.choice(5, size=3).tolist()]

    assert draws() == draws()
    assert stand_in.array([1]).tolist() == [1]
    assert stand_in.random.default_rng(0).integers(9) == np.random.default_rng(0).integers(9)


@pytest.mark.parametrize("entry", QUICK[::12], ids=lambda entry: entry.family)
def test_threads_do_not_meet(entry):
    alone = {seed: play_new(entry, seed) for seed in range(4)}
    together = {}
    threads = [
        threading.Thread(target=lambda seed=seed: together.update({seed: play_new(entry, seed)})) for seed in alone
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_no_other_module_keeps_what_it_works_out():
    """Threads would meet in variables of a module that its functions assign."""
    assigning = {
        path.relative_to(folder() / "envs").as_posix()
        for path in (folder() / "envs").rglob("*.py")
        if re.search(r"^\s+global ", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert assigning == {"Sokoban/utils.py"}


def play_new(entry, seed):
    with gem.make(f"ta:{entry.id}") as env:
        return play(env, seed)


def test_a_game_of_ones_own_is_isolated_too(tmp_path, monkeypatch):
    (tmp_path / "own_coin_game.py").write_text(
        "import random\n"
        "import textarena as ta\n"
        "class Coin(ta.Env):\n"
        "    def reset(self, num_players, seed=None):\n"
        "        self.state = ta.TwoPlayerState(num_players=2, seed=seed)\n"
        "        self.state.reset(game_state={}, player_prompt_function=lambda **_: f'Side {random.random()}')\n"
        "    def step(self, action):\n"
        "        return self.state.step()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    textarena.register("OwnCoin-v0", "own_coin_game:Coin")
    try:
        state = random.getstate()
        with gem.make("ta:OwnCoin-v0") as env:
            assert env.reset(seed=3)[0] == env.reset(seed=3)[0] != env.reset(seed=4)[0]
        assert random.getstate() == state
    finally:
        del textarena.envs.registration.ENV_REGISTRY["OwnCoin-v0"]


def test_a_game_prints_nothing(capsys):
    for name in ("LogicPuzzle", "SettlersOfCatan"):
        with gem.make(next(f"ta:{entry.id}" for entry in OFFLINE if entry.family == name)) as env:
            play(env, seed=0)
    assert capsys.readouterr().out == ""
