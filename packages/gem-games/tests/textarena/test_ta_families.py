from pathlib import Path

import pytest
from ta_games import FIRST, OFFLINE

import gem
from gem_games.textarena import families
from gem_games.textarena.families import family
from gem_games.textarena.registry import Entry


def test_every_family_is_listed_once():
    listed = [*families.SINGLE, *families.PLAYERS, *families.TWO]
    assert len(listed) == len(set(listed))
    assert {entry.family for entry in FIRST} <= set(listed)


@pytest.mark.parametrize("entry", [e for e in OFFLINE if not family(e).single], ids=lambda e: e.family)
def test_the_fewest_players_can_play_and_fewer_cannot(entry):
    fewest = family(entry).players[0]
    gem.make(f"ta:{entry.id}", num_players=fewest).close()
    with pytest.raises(ValueError, match="players, got num_players=" + str(fewest - 1)):
        gem.make(f"ta:{entry.id}", num_players=fewest - 1)


@pytest.mark.parametrize(
    ("source", "players"),
    [("ta.SinglePlayerState(x)", (1, 1)), ("ta.TwoPlayerState(x)", (2, 2)), ("ta.FFAMultiPlayerState(x)", (2, 15))],
)
def test_a_game_that_is_not_listed_is_judged_by_its_source(tmp_path, monkeypatch, source, players):
    (tmp_path / "textarena" / "envs" / "Own").mkdir(parents=True)
    (tmp_path / "textarena" / "envs" / "Own" / "env.py").write_text(source)
    monkeypatch.setattr(families, "folder", lambda: Path(tmp_path / "textarena"))
    assert family(Entry("Own-v0", "textarena.envs.Own.env:Own")).players == players
