"""Tables and colour."""

from __future__ import annotations

import os
import sys

import pytest

from gem.cli import output


def test_plain_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table([("a", "long cell", "x" * 500), ("bbb", "c", "")], indent="  ")
    assert capsys.readouterr().out == f"  a    long cell  {'x' * 500}\n  bbb  c\n"
    assert output.style("text", "red") == "text"
    output.print_table([])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("no_color", [None, "1"])
def test_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], no_color: str | None
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    if no_color is None:
        monkeypatch.delenv("NO_COLOR", raising=False)
    else:
        monkeypatch.setenv("NO_COLOR", no_color)
    assert output.style("text", "red") == ("text" if no_color else "\x1b[31mtext\x1b[0m")
    output.print_table([("id", "y" * 100)])
    line = capsys.readouterr().out.rstrip("\n")
    assert len(line) <= 40
    assert line.endswith("…")
    assert os.environ["COLUMNS"] == "40"
