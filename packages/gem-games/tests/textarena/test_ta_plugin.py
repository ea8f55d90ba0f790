import subprocess
import sys

import pytest

import gem
from gem_games.textarena import plugin
from gem_games.textarena.registry import entries


def test_every_id_of_textarena_is_an_id_here():
    assert {spec.id for spec in gem.specs("ta")} == {f"ta:{entry.id}" for entry in entries()}


def test_ids_of_one_player_are_plain_and_others_are_for_several_agents():
    assert not gem.spec("ta:Wordle-v0").multi_agent
    snake = gem.spec("ta:Snake-v0")
    assert snake.multi_agent
    assert snake.kwargs == {"game": "Snake-v0", "num_players": 2}
    assert snake.description == "TextArena: Snake, 2-15 players"
    assert gem.spec("ta:Debate-v0").requires == ("network",)
    for spec in gem.specs("ta"):
        assert gem.EnvSpec.from_dict(spec.to_dict()) == spec


def test_listing_imports_no_textarena():
    program = (
        "import sys, gem\n"
        "assert sum(1 for _ in gem.specs('ta')) > 500\n"
        "assert not {'textarena', 'nltk', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_without_textarena_making_an_id_says_what_to_install():
    program = (
        "import sys, importlib.util\n"
        "find, sys.modules['textarena'] = importlib.util.find_spec, None\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'textarena' else find(name, *a)\n"
        "import gem\n"
        "assert list(gem.specs('ta')) == []\n"
        "try:\n"
        "    gem.make('ta:TicTacToe-v0')\n"
        "except gem.MissingDependency as error:\n"
        "    print(error)\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)
    assert "pip install 'gem-games[textarena]'" in shown.stdout
    assert shown.stdout.count("\n") == 1


def test_an_unknown_id_names_near_ones():
    with pytest.raises(gem.UnknownEnv, match="ta:TicTacToe-v0"):
        gem.make("ta:TicTacTo-v0")
    assert plugin.gem_find_env_spec("rg:chess") is None


def test_what_a_program_registers_with_textarena_is_an_id_too():
    import textarena
    from textarena.envs.registration import ENV_REGISTRY

    textarena.register("Own-v0", "textarena.envs.TicTacToe.env:TicTacToeEnv")
    try:
        with gem.make("ta:Own-v0") as env:
            observations, _ = env.reset(seed=0)
            assert "Tic Tac Toe" in observations["player_0"]
    finally:
        del ENV_REGISTRY["Own-v0"]
