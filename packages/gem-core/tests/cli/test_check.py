"""`gem check`: what it selects, prints and exits with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gem
from gem.cli import main
from gem.registry import unregister

HERE = Path(__file__).parent
SPECS = [
    gem.EnvSpec(id="toycheck:Count-v0-easy", entry_point="cli_toys:Count"),
    gem.EnvSpec(id="toycheck:Count-v0-hard", entry_point="cli_toys:Count", kwargs={"max_turns": 3}),
    gem.EnvSpec(id="toycheck:Broken-v0", entry_point="cli_toys:Broken"),
    gem.EnvSpec(id="toycheck:Far-v0", entry_point="cli_toys:Count", requires=("a-moon",)),
    gem.EnvSpec(id="toycheck:Missing-v0", entry_point="cli_needs:Count"),
]


@pytest.fixture(autouse=True)
def _toys(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    for spec in SPECS:
        gem.register(spec)
    yield
    for spec in SPECS:
        unregister(spec.id)


@pytest.fixture
def check(capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["check", *arguments, "--backends", "sync", "--episodes", "2"])
        return code, *capsys.readouterr()

    return run


def test_an_id_that_conforms(check):
    code, out, _ = check("toycheck:Count-v0-easy")
    assert code == 0
    assert out == "ok    toycheck:Count-v0-easy\n1 checked: 1 conform, 0 do not, 0 skipped\n"


def test_an_id_that_does_not(check):
    code, out, _ = check("toycheck:Broken-v0")
    assert code == 1
    assert "GEM205  toycheck:Broken-v0  the reward of step is '0.0' (str)\n        return float(reward)\n" in out
    assert out.endswith("1 checked: 0 conform, 1 do not, 0 skipped\n")


def test_namespaces_patterns_and_what_cannot_run_here(check):
    code, out, _ = check("toycheck:")
    assert code == 1
    assert "skip  toycheck:Far-v0  needs a-moon: unknown requirement" in out
    assert "skip  toycheck:Missing-v0  'toycheck:Missing-v0' needs the module 'no_such_module_of_gem'" in out
    assert "5 checked: 2 conform, 1 do not, 2 skipped" in out
    code, out, _ = check("toycheck:*-easy", "toycheck:Count-v0-?asy", "toycheck:Count-v0-hard")
    assert code == 0
    assert "2 checked: 2 conform" in out


def test_nothing_that_could_be_checked_is_no_success(check):
    assert check("toycheck:Far-v0")[0] == 1


def test_json_and_strict(check):
    code, out, _ = check("toycheck:Count-v0-easy", "--json", "--strict")
    report = json.loads(out)
    assert code == 1
    assert report["broken"] == 1
    codes = [violation["code"] for violation in report["environments"][0]["violations"]]
    assert codes == ["GEM121", "GEM122"]
    assert set(report["environments"][0]["violations"][0]) == {"code", "name", "env_id", "message", "mend"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("toycheck:Nothing-*",), "no installed environment matches 'toycheck:Nothing-*'"),
        (("toycheck:Count-v0-esy",), "did you mean 'toycheck:Count-v0-easy'"),
    ],
)
def test_what_does_not_exist_is_one_line(check, arguments, message):
    code, _, err = check(*arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_an_unknown_backend(capsys):
    assert main(["check", "toycheck:Count-v0-easy", "--backends", "sink"]) == 2
    assert "unknown backend 'sink': choose among sync, thread, process" in capsys.readouterr().err
