"""`gem doctor` prints what :mod:`gem.doctor` finds; what it finds is tested there."""

from __future__ import annotations

import json

import pytest

from gem.cli import main


def test_nothing_wrong(site, installed, capsys: pytest.CaptureFixture[str]) -> None:
    site.add_envs("gem-a", "toy:X-v0", "toy:Y-v0")
    installed()
    assert main(["doctor", "--strict"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("gem-core ")
    assert "  gem-a 1.0  2 ids  import " in out
    assert "  toy:\n" in out
    assert out.endswith("\nno problems\n")


def test_problems_and_exit_codes(site, installed, capsys: pytest.CaptureFixture[str]) -> None:
    site.add("gem-bad", groups={"gem.envs": {"bad": "bad_plugin"}}, modules={"bad_plugin": "1 / 0"})
    installed()
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "\n1 problem\n  broken plugin: gem-bad is broken: ZeroDivisionError: division by zero; repair it: pip" in out
    assert main(["doctor", "--strict", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [p["kind"] for p in report["problems"]] == ["broken plugin"]


def test_requirements_are_shown(site, installed, capsys: pytest.CaptureFixture[str]) -> None:
    plugin = """
from gem import EnvSpec, hookimpl
@hookimpl
def gem_env_specs():
    yield EnvSpec(id="toy:X-v0", entry_point="needy_plugin:X", requires=("telepathy",))
"""
    site.add("gem-needy", groups={"gem.envs": {"toy": "needy_plugin"}}, modules={"needy_plugin": plugin})
    installed()
    assert main(["doctor", "--strict"]) == 1
    out = capsys.readouterr().out
    assert "  telepathy  1 id  unknown requirement" in out
    assert "requirement: telepathy, which 1 environment(s) need: unknown requirement" in out
