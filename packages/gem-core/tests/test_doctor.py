"""Every kind of problem that `gem doctor` is there to find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gem.doctor import examine


def found(**kwargs: Any) -> list[tuple[str, str]]:
    report = examine(**kwargs)
    json.dumps(report, allow_nan=False)
    assert all("\n" not in p["text"] for p in report["problems"])
    return [(p["kind"], p["text"]) for p in report["problems"]]


def test_a_sound_installation(site, installed) -> None:
    site.add_envs("gem-a", "toy:X-v0", "other:X-v0", namespace="toy other")
    site.add("gem-tool", groups={"gem.tools": {"t": "tool_module"}}, modules={"tool_module": "import numpy"})
    installed()
    report = examine()
    assert report["problems"] == []
    a, tool = report["distributions"]
    assert (a["name"], a["version"], a["location"], a["namespaces"], a["ids"]) == (
        "gem-a",
        "1.0",
        str(site.folder),
        ["other", "toy"],
        2,
    )
    assert 0 < a["import_seconds"] < 60
    assert tool["entry_points"] == {"gem.tools": ["t"]}
    assert tool["heavy_imports"] == []  # a tool is imported when it is used: it may be heavy


def test_broken_plugins_of_every_group(site, installed) -> None:
    groups = ("gem.envs", "gem.tools", "gem.wrappers", "gem.backends", "gem.commands", "gem.hooks")
    site.add(
        "gem-bad", groups={g: {"bad": "bad_module"} for g in groups}, modules={"bad_module": "raise SystemExit(1)"}
    )
    installed()
    with pytest.warns(UserWarning, match="gem-bad"):
        problems = found()
    assert len(problems) == len(groups)
    assert all(kind == "broken plugin" and "SystemExit: 1; repair it: pip install" in text for kind, text in problems)


def test_a_plugin_that_kills_the_interpreter(site, installed) -> None:
    site.add(
        "gem-dead",
        groups={"gem.tools": {"dead": "dead_module"}},
        modules={"dead_module": "import os; print('noise'); os._exit(9)"},
    )
    installed()
    (dead,) = found()
    assert "the interpreter ended with code 9 while importing it" in dead[1]


def test_a_plugin_that_hangs(site, installed) -> None:
    site.add(
        "gem-slow",
        groups={"gem.tools": {"slow": "slow_module"}},
        modules={"slow_module": "import time; time.sleep(3600)"},
    )
    installed()
    (slow,) = found(hanging=1)
    assert "still importing after 1 s" in slow[1]


def test_noise_on_standard_output_is_no_problem(site, installed) -> None:
    site.add_envs("gem-loud", "toy:X-v0", body="print('loud', flush=True)")
    installed()
    assert found() == []


@pytest.mark.parametrize("group", ["gem.envs", "gem.commands", "gem.hooks"])
def test_heavy_imports(site, installed, group: str) -> None:
    source = "import numpy, gem\n@gem.hookimpl\ndef gem_env_made(): pass\n"
    site.add("gem-heavy", groups={group: {"heavy": "heavy_module"}}, modules={"heavy_module": source})
    installed()
    assert found() == [("heavy import", "gem-heavy: heavy_module imports numpy; import it where it is used")]


def test_collisions(site, installed) -> None:
    for name in ("gem-one", "gem-two"):
        site.add_envs(name, "toy:Same-v0")
    for name in ("gem-x", "gem-y"):
        site.add(name, groups={"gem.tools": {"t": "tool_module"}}, modules={"tool_module": ""})
    installed()
    assert found() == [
        (
            "collision",
            "gem-one and gem-two both provide 'toy:Same-v0': uninstall one, or name one in GEM_DISABLE_PLUGINS",
        ),
        (
            "collision",
            "gem-x and gem-y both provide 't' in gem.tools: uninstall one, or name one in GEM_DISABLE_PLUGINS",
        ),
    ]


def test_bad_specifications_and_missing_modules(site, installed) -> None:
    source = """
from gem import EnvSpec, hookimpl
@hookimpl
def gem_env_specs():
    yield 3
    yield EnvSpec(id="toy:A-v0", entry_point="absent_package.module:A")
    yield EnvSpec(id="toy:B-v0", entry_point="absent_package.module:B")
"""
    site.add("gem-bad", groups={"gem.envs": {"toy": "bad_specs"}}, modules={"bad_specs": source})
    installed()
    with pytest.warns(UserWarning, match="gem-bad"):
        problems = found()
    assert problems == [
        ("broken plugin", "gem-bad lists '3': gem_env_specs gives gem.EnvSpec objects, nothing else"),
        (
            "entry point",
            "gem-bad: there is no module 'absent_package.module' for 'toy:A-v0' and 1 more; "
            "repair it: pip install --upgrade --force-reinstall gem-bad",
        ),
    ]


def test_misspelt_names_in_the_environment(site, installed, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_envs("gem-a", "toy:X-v0")
    monkeypatch.setenv("GEM_PLUGINS", "toy,tyo")
    monkeypatch.setenv("GEM_DISABLE_PLUGINS", "*")
    installed()
    problem = "GEM_PLUGINS names 'tyo', which is no installed distribution or entry point"
    with pytest.warns(UserWarning, match=problem):
        assert found() == [("environment variable", problem)]


def test_another_distribution_that_owns_gem(site, installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add("gem-llm", version="0.1.0")
    (site.folder / "gem_llm-0.1.0.dist-info" / "RECORD").write_text("gem/__init__.py,sha256=x,1\ngem/core.py,,\n")
    other = tmp_path / "elsewhere"
    (other / "gem").mkdir(parents=True)
    (other / "gem" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(other))
    installed()
    assert found() == [
        (
            "shadowed",
            "gem-llm 0.1.0 also installs the package 'gem': pip uninstall gem-llm, then reinstall gem-core",
        ),
        (
            "shadowed",
            f"another package 'gem' lies in {str(other / 'gem')!r}, beside the one in use: remove one of them",
        ),
    ]


def test_a_core_that_was_overwritten_is_still_examined(installed, monkeypatch: pytest.MonkeyPatch) -> None:
    import gem

    monkeypatch.delattr(gem, "__version__")  # what another package's gem/__init__.py leaves
    assert examine()["gem_core"] == "overwritten by another package"
