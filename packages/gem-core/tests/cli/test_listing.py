"""`gem list`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from gem.cli import main
from gem.cli.listing import matches


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("", True),
        ("game:", True),
        ("guess", True),
        ("game:*", True),
        ("*-easy", True),
        ("game:Guess*v?-easy", True),
        ("[gh]ame:*", True),
        ("math:", False),
        ("Guess*", False),  # a pattern is for the whole id
    ],
)
def test_matches(pattern: str, meant: bool) -> None:
    assert matches("game:GuessTheNumber-v0-easy", pattern) is meant


def test_list(site, installed, capsys: pytest.CaptureFixture[str]) -> None:
    site.add_envs("gem-a", "toy:A-v0", "toy:Long-name-v0")
    installed()
    assert main(["list"]) == 0
    assert capsys.readouterr().out == "toy:A-v0          gem-a\ntoy:Long-name-v0  gem-a\n"
    assert main(["list", "long"]) == 0
    assert capsys.readouterr().out == "toy:Long-name-v0  gem-a\n"
    assert main(["list", "nothing"]) == 1
    assert capsys.readouterr() == ("", "no environment matches 'nothing'\n")
    assert main(["list", "nothing", "--json"]) == 1
    assert capsys.readouterr() == ("[]\n", "no environment matches 'nothing'\n")
    assert main(["list", "A-v0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"id": "toy:A-v0", "description": "", "provider": "gem-a", "provider_version": "1.0", "requires": []}
    ]


def test_nothing_installed(installed, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert capsys.readouterr() == ("", "no environments are installed\n")


def test_all_that_is_installed_kept_out_by_a_misspelt_name(
    site, installed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site.add_envs("gem-a", "toy:A-v0")
    monkeypatch.setenv("GEM_PLUGINS", "tyo")
    installed()
    assert main(["list"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "no environments are installed",
        "GEM_PLUGINS names 'tyo', which is no installed distribution or entry point",
    ]


def test_what_is_broken_is_listed_as_broken(site, installed, capsys: pytest.CaptureFixture[str]) -> None:
    site.add_envs("gem-one", "toy:Same-v0", "toy:Good-v0")
    site.add_envs("gem-two", "toy:Same-v0", "else:Where-v0")
    site.add("gem-bad", groups={"gem.envs": {"bad": "bad_plugin"}}, modules={"bad_plugin": "1 / 0"})
    installed()
    assert main(["list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "toy:Good-v0  gem-one",
        "toy:Same-v0  broken: gem-one and gem-two both provide it: uninstall one, or name one in GEM_DISABLE_PLUGINS",
        "bad:*  broken: gem-bad is broken: ZeroDivisionError: division by zero; "
        "repair it: pip install --upgrade --force-reinstall gem-bad",
        "else:Where-v0  broken: gem-two: its namespace is none of those that gem-two declares (toy)",
    ]
    assert main(["list", "bad:X"]) == 0
    assert capsys.readouterr().out.startswith("bad:*  broken: gem-bad is broken")
    assert main(["list", "Same", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["id"] == "toy:Same-v0"
    assert entry["broken"].startswith("gem-one and gem-two both provide it")
    assert main(["list", "toy:Good"]) == 0
    assert capsys.readouterr().out == "toy:Good-v0  gem-one\n"


@given(st.text(max_size=20))
def test_any_text_is_a_pattern(pattern: str) -> None:
    matches("game:GuessTheNumber-v0-easy", pattern)
