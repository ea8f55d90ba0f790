import ast
import re
import socket
import sys
from pathlib import Path

import pytest
import textarena
from ta_games import FIRST

import gem
from gem_games.textarena import loading
from gem_games.textarena.loading import LONGEST, load

#: Families with a module of their own that is not there, or with syntax no Python has.
BROKEN = {"CharacterConclave", "Klondike", "ScorableGames", "UsedCar", "UsedCarNegotiation"}


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a game went to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)


@pytest.mark.parametrize("entry", FIRST, ids=lambda entry: entry.family)
def test_a_family_is_made_offline_or_says_in_one_line_what_it_needs(entry, no_network):
    try:
        env = gem.make(f"ta:{entry.id}")
    except gem.MissingDependency as error:
        message = str(error)
        assert message.startswith(f"'ta:{entry.id}'")
        assert "\n" not in message
        assert any(what in message for what in ("pip install", "python -m nltk", "Python 3.12", "another version"))
    else:
        env.reset(seed=0)
        env.close()


MISSING_LISTS = """
import socket, time, gem
def refuse(*args, **kwargs):
    raise AssertionError("a game went to the network")
socket.socket.connect = socket.getaddrinfo = refuse
from gem_games.textarena import loading
for name in "Codenames DontSayIt Hangman LetterAuction SpellingBee WordChains WordLadder WordSearch Wordle".split():
    env_id = next(spec.id for spec in gem.specs("ta") if name in spec.tags)
    try:
        gem.make(env_id)
    except gem.MissingDependency as error:
        print(error)
"""


def test_a_missing_list_is_named_with_the_command_that_brings_it(run_without_lists):
    lines = run_without_lists(MISSING_LISTS).splitlines()
    assert len(lines) == 9
    for line in lines:
        assert re.fullmatch(r"'ta:\S+': nltk's '(\w+)' is not on this machine: python -m nltk.downloader \1", line)


@pytest.mark.parametrize("name", ["GuessWho", "TwentyQuestions", "Debate", "ScenarioPlanning"])
def test_a_missing_key_is_named(name, no_network):
    with pytest.raises(gem.MissingDependency, match="set OPENROUTER_API_KEY"):
        gem.make(f"ta:{name}-v0")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 reads this syntax")
def test_a_module_for_a_newer_python_is_named():
    with pytest.raises(gem.MissingDependency, match=r"needs Python 3.12 or newer.*Chess"):
        gem.make("ta:Chess-v0")


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_what_is_broken_in_textarena_says_so(name):
    env_id = next(f"ta:{entry.id}" for entry in FIRST if entry.family == name)
    with pytest.raises(gem.MissingDependency, match=f"needs another version of textarena than {textarena.__version__}"):
        gem.make(env_id)


def test_no_game_is_missing_for_another_reason():
    """Every module of TextArena that Python can read is one whose games can be made, but for what is named above."""
    folder = Path(textarena.__file__).parent
    for entry in FIRST:
        path = folder.parent / (entry.entry_point.partition(":")[0].replace(".", "/") + ".py")
        if path.exists():
            try:
                ast.parse(path.read_text(encoding="utf-8"))
            except SyntaxError:
                with pytest.raises(gem.MissingDependency):
                    gem.make(f"ta:{entry.id}")


def test_an_id_that_is_gone_is_named():
    with pytest.raises(gem.PluginError, match="has no 'Gone-v0'"):
        load("Gone-v0")


def test_options_are_textarenas_own():
    with gem.make("ta:GuessTheNumber-v0", max_number=3) as env:
        assert "between 1 and 3" in env.reset(seed=0)[0]
    with pytest.raises(TypeError, match=r"'ta:GuessTheNumber-v0' has no option 'max_nmber'; did you mean 'max_number'"):
        gem.make("ta:GuessTheNumber-v0", max_nmber=3)
    with pytest.raises(TypeError, match=r"options: num_players, "):
        gem.make("ta:Nim-v0", heaps=3)


def test_wrappers_read_the_action():
    assert load("TicTacToe-v0").read("4") == "[4]"
    assert load("TicTacToe-v0-raw").read("4") == "4"
    assert load("IteratedPrisonersDilemma-v0").read("x" * 2000 + "y") == "x" * 999 + "y"


def test_a_long_response_reaches_the_game_by_its_end():
    assert load("TicTacToe-v0-raw").read("x" * 10**6 + "[4]") == "x" * (LONGEST - 3) + "[4]"


def test_a_game_is_imported_once():
    loading.load.cache_clear()
    assert load("Nim-v0") is load("Nim-v0")
