"""EnvSuite and the pytest plugin, as a package's tests use them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

_TESTS = """
import sys
sys.path.insert(0, {here!r})
import gem
from gem.testing import EnvSuite

gem.register(gem.EnvSpec(id="toy:Digits-v0", entry_point="well_behaved:Digits"))
gem.register(gem.EnvSpec(id="toy:Missing-v0", entry_point="well_behaved:Digits", requires=("a-moon",)))
gem.register(gem.EnvSpec(id="bad:Talks-v0", entry_point="defective:Talks"))


class TestGood(EnvSuite):
    env_ids = ["toy:Digits-v0"]
    kwargs = {{"max_turns": 3}}
    episodes = 2
    skip_backends = ["process", "thread"]
    skip_rules = ["GEM408"]


class TestBad(EnvSuite):
    namespace = "bad"
    skip_backends = ["process", "thread", "sync"]
    strict = True


class TestMissing(EnvSuite):
    env_ids = ["toy:Missing-v0"]
"""


def run(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments, "test_it.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_each_rule_is_a_test_for_each_id(tmp_path):
    done = run(tmp_path, _TESTS.format(here=str(HERE)), "-q", "-rfs")
    out = done.stdout
    assert done.returncode == 1, out
    assert "FAILED test_it.py::TestBad::test_rule[bad:Talks-v0-GEM610-silent]" in out
    assert "GEM610 bad:Talks-v0: it printed 'thinking" in out
    assert "TestBad::test_rule[bad:Talks-v0-GEM121-spec-description]" in out  # strict
    assert "See it alone: gem.testing.check_env('bad:Talks-v0', kwargs={}, strict=False)" in out
    assert "TestGood" not in out.partition("short test summary")[2]
    assert "needs a-moon: unknown requirement" in out
    assert "3 failed" in out


def test_a_failure_says_how_to_see_it_alone(monkeypatch):
    import gem
    from gem.testing import EnvSuite, Violation

    class Suite(EnvSuite):
        episodes = 5

    class Strange(gem.Env):
        pass

    monkeypatch.setattr("gem.registry.spec", lambda env_id: gem.EnvSpec(id=env_id, entry_point="m:C", provider="gem-x"))
    advice, rule = Violation("GEM121", "x:A", "none"), Violation("GEM205", "x:A", "a word")
    assert Suite().command("x:A", rule) == "gem check x:A --episodes 5"
    assert Suite().command("x:A", advice) == "gem check x:A --episodes 5 --strict"
    assert Suite().command(Strange, rule) == "gem.testing.check_env(Strange, kwargs={}, strict=False)"
    Suite.kwargs = {"size": 3}
    assert Suite().command("x:A", rule) == "gem.testing.check_env('x:A', kwargs={'size': 3}, strict=False)"


def test_ids_are_readable(tmp_path):
    out = run(tmp_path, _TESTS.format(here=str(HERE)), "-q", "--collect-only").stdout
    assert "test_it.py::TestGood::test_rule[toy:Digits-v0-GEM205-reward]" in out
    assert "TestGood::test_rule[toy:Digits-v0-GEM408" not in out
    assert "TestGood::test_rule[toy:Digits-v0-GEM121" not in out


def test_a_suite_of_nothing_is_an_error(tmp_path):
    done = run(tmp_path, "from gem.testing import EnvSuite\n\n\nclass TestNone(EnvSuite):\n    namespace = 'nowhere'\n")
    assert done.returncode != 0
    assert "TestNone checks nothing: set env_ids, or the namespace of an installed package" in done.stdout + done.stderr


def test_the_plugin_imports_next_to_nothing():
    program = (
        "import pytest, sys; before = set(sys.modules); import gem.testing.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert set(done.stdout.split()) == {"gem", "gem.lazy", "gem.testing", "gem.testing.pytest_plugin"}


@pytest.mark.parametrize("name", ["check_env", "assert_conforms", "EnvSuite", "RULES", "Rule", "Violation"])
def test_public_names(name):
    import gem.testing

    assert getattr(gem.testing, name)
    assert name in gem.testing.__all__


def test_unknown_names():
    import gem.testing

    with pytest.raises(AttributeError, match="has no attribute 'check_envs'"):
        gem.testing.check_envs  # noqa: B018
