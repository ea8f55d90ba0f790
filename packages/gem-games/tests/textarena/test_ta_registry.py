import subprocess
import sys

import textarena
from textarena.envs.registration import ENV_REGISTRY

from gem_games.textarena import registry
from gem_games.textarena.registry import Entry, entries, entry_of, registered_here


def test_the_source_gives_what_importing_gives():
    assert {(e.id, e.entry_point) for e in entries()} == {(s.id, s.entry_point) for s in ENV_REGISTRY.values()}


def test_an_id_is_given_once():
    ids = [entry.id for entry in entries()]
    assert len(ids) == len(set(ids)) > 500


def test_nothing_is_imported():
    program = (
        "import sys\n"
        "from gem_games.textarena.registry import entries\n"
        "assert list(entries())\n"
        "assert not {'textarena', 'nltk', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_there_is_none_where_textarena_is_not_installed(monkeypatch):
    monkeypatch.setattr(registry.util, "find_spec", lambda name: None)
    assert list(entries()) == []


def test_versions_belong_to_their_id_and_family():
    entry = Entry("Wordle-v0-long-raw", "textarena.envs.Wordle.env:WordleEnv")
    assert (entry.base, entry.family) == ("Wordle-v0-long", "Wordle")
    assert Entry("Mine-v0", "mine.games:Game").family == "games"


def test_a_registration_of_ones_own_is_found():
    class Own(textarena.Env):
        pass

    textarena.register("Own-v0", Own)
    try:
        assert registered_here("Own-v0") == entry_of(ENV_REGISTRY["Own-v0"])
        assert registered_here("Own-v1") is None
    finally:
        del ENV_REGISTRY["Own-v0"]
