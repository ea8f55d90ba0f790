import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools" / "generate_game_pages.py"


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("generate_game_pages", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_in_the_repository_are_up_to_date(tool, capsys):
    assert tool.main(["--check"]) == 0, capsys.readouterr().err


def test_check_names_what_is_stale_and_writing_mends_it(tool, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tool, "FOLDER", tmp_path / "games")
    assert tool.main(["--check"]) == 1
    assert "Wordle.md is not up to date: python tools/generate_game_pages.py" in capsys.readouterr().err
    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0
    (tmp_path / "games" / "Wordle.md").write_text("old")
    (tmp_path / "games" / "Gone.md").write_text("of a game that is no more")
    assert tool.main(["--check"]) == 1
    assert tool.main([]) == 0
    assert not (tmp_path / "games" / "Gone.md").exists()
    assert tool.main(["--check"]) == 0


def test_a_page_shows_rules_levels_options_and_a_won_episode(tool):
    text = tool.pages()[tool.FOLDER / "Sokoban.md"]
    for part in ("| `game:Sokoban-v0-hard` | 8 x 8 | 4 | 50 |", "| `num_boxes` | `3` |", "# # #", "is won after"):
        assert part in text
