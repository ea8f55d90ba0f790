"""`gem info`."""

from __future__ import annotations

import json

import pytest

import gem
from gem.cli import main
from gem.registry import unregister

PLUGIN = """
from gem import EnvSpec, hookimpl
@hookimpl
def gem_env_specs():
    yield EnvSpec(id="toy:Full-v0", entry_point="gem_toys_plugin_envs:Toy", kwargs={"limit": 7}, description="a toy",
                  max_turns=7, reward_range=(0.0, 1.0), requires=("telepathy",), tags=("one", "two"), multi_agent=True,
                  deprecated_for="toy:New-v0", deterministic=False)
    yield EnvSpec(id="toy:Lost-v0", entry_point="absent_module:Toy")
"""


@pytest.fixture(autouse=True)
def plugin(site, installed) -> None:
    site.add_envs("gem-toys", "other:Toy-v0", namespace="other")  # brings the class
    site.add("gem-full", groups={"gem.envs": {"toy": "full_plugin"}}, modules={"full_plugin": PLUGIN})
    installed()


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "toy:Full-v0"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "toy:Full-v0  a toy",
        "  provider         gem-full 1.0",
        "  entry point      gem_toys_plugin_envs:Toy",
        "  turn limit       7",
        "  return           0.0 to 1.0",
        "  deterministic    no",
        "  observations     text",
        "  agents           several",
        "  tags             one, two",
        "  deprecated       use toy:New-v0",
        "  needs telepathy  no: unknown requirement; known are docker, network, gpu, postgres",
        "",
        "options",
        "  limit  7",
        "  label  'a'",
        "",
        "A toy that counts.",
    ]


def test_the_description_is_without_marks(capsys: pytest.CaptureFixture[str]) -> None:
    class Marked(gem.Env):
        """Ends at ``limit``, see :class:`~gem.Env` and :func:`gem.make`."""

    gem.register("toy:Marked-v0", Marked)
    try:
        assert main(["info", "toy:Marked-v0"]) == 0
    finally:
        unregister("toy:Marked-v0")
    assert capsys.readouterr().out.endswith("\nEnds at `limit`, see `gem.Env` and `gem.make`.\n")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "toy:Full-v0", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["options"] == {"limit": 7, "label": "a"}
    assert report["required_options"] == []
    assert report["unmet"] == {"telepathy": "unknown requirement; known are docker, network, gpu, postgres"}
    assert (report["provider"], report["doc"], report["problem"]) == ("gem-full", "A toy that counts.", None)


def test_a_class_that_cannot_be_loaded_is_still_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "toy:Lost-v0"]) == 0
    out = capsys.readouterr().out
    assert "provider       gem-full 1.0" in out
    assert "cannot be loaded: 'toy:Lost-v0': there is no module 'absent_module'; repair it: pip install" in out
    assert main(["info", "toy:Lost-v0", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert "absent_module" in report["problem"]
    assert report["options"] == {}


def test_unknown_ids(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "toy:Ful-v0"]) == 2
    assert capsys.readouterr().err.startswith("gem: unknown environment 'toy:Ful-v0'; did you mean 'toy:Full-v0'")
