import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools" / "generate_textarena_table.py"


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("generate_textarena_table", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_in_the_repository_is_what_running_every_id_gives():
    # in a process of its own, which gives up its network and word lists
    done = subprocess.run([sys.executable, str(TOOL), "--check"], timeout=280, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_check_names_what_is_stale_and_writing_mends_it(tool, tmp_path, monkeypatch, capsys):
    page = tmp_path / "textarena.md"
    page.write_text(f"before\n{tool.BEGIN}| Old | 1 | yes | `ta:Old-v0` |\n{tool.END}after\n")
    monkeypatch.setattr(tool, "PAGE", page)
    monkeypatch.setattr(tool, "offline", lambda: None)
    monkeypatch.setattr(tool, "rows", lambda: {"Nim": "| Nim | 2 | yes | `ta:Nim-v0` |\n"})
    assert tool.main(["--check"]) == 1
    assert "textarena.md is not up to date: python tools/generate_textarena_table.py" in capsys.readouterr().err
    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0
    text = page.read_text()
    assert (text[:7], text[-6:]) == ("before\n", "after\n")
    assert "| Nim | 2 | yes |" in text
    assert "Old" not in text


def test_a_line_about_a_newer_python_stands_where_this_one_is_newer(tool, tmp_path, monkeypatch):
    page = tmp_path / "textarena.md"
    line = "| Chess | 2 | Python 3.11 | `ta:Chess-v0` |\n"
    page.write_text(tool.BEGIN + tool.table({"Chess": line}) + tool.END)
    monkeypatch.setattr(tool, "PAGE", page)
    monkeypatch.setattr(tool, "offline", lambda: None)
    monkeypatch.setattr(tool, "rows", lambda: {"Chess": "| Chess | 2 | yes | `ta:Chess-v0` |\n"})
    assert tool.main(["--check"]) == 0


def test_an_id_that_works_and_one_that_does_not(tool):
    import gem

    assert tool.outcome(gem.spec("ta:TicTacToe-v0")) == "yes"
    assert tool.outcome(gem.spec("ta:Klondike-v0")).startswith("no: broken in TextArena")
