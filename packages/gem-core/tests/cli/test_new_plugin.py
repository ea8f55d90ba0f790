"""`gem new-plugin`: what it writes, and what it refuses. That the result works is tested across packages."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from gem.cli import main, new_plugin


def test_a_rendered_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-plugin", "gem-chess", "--path", str(tmp_path)]) == 0
    assert "gem list chess:" in capsys.readouterr().out
    assert [p.name for p in tmp_path.iterdir()] == ["gem-chess"]  # and nothing is left beside it
    package = tmp_path / "gem-chess"
    files = sorted(str(p.relative_to(package)) for p in package.rglob("*") if p.is_file())
    assert files == [
        ".github/workflows/ci.yml",
        ".gitignore",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "src/gem_chess/__init__.py",
        "src/gem_chess/nim.py",
        "src/gem_chess/plugin.py",
        "tests/test_conformance.py",
        "tests/test_nim.py",
        "tests/test_plugin.py",
    ]
    for file in files:
        text = (package / file).read_text(encoding="utf-8")
        assert not any(word in text for word in ("__NAME__", "__MODULE__", "__NAMESPACE__", "__LICENSE__", "__YEAR__"))
        if file.endswith(".py"):
            compile(text, file, "exec")
    project = tomllib.loads((package / "pyproject.toml").read_text())
    assert project["project"]["name"] == "gem-chess"
    assert project["project"]["license"] == "Apache-2.0"
    assert project["project"]["entry-points"]["gem.envs"] == {"chess": "gem_chess.plugin"}
    assert "Apache License" in (package / "LICENSE").read_text()


def test_choices(tmp_path: Path) -> None:
    arguments = ["new-plugin", "My.Tasks", "--path", str(tmp_path), "--namespace", "eval", "--license", "MIT"]
    assert main(arguments) == 0
    package = tmp_path / "My.Tasks"
    project = tomllib.loads((package / "pyproject.toml").read_text())
    assert project["project"]["license"] == "MIT"
    assert project["project"]["entry-points"]["gem.envs"] == {"eval": "my_tasks.plugin"}
    assert "the authors of My.Tasks" in (package / "LICENSE").read_text()


@pytest.mark.parametrize(
    ("name", "namespace"), [("gem-chess", "chess"), ("Gem_Chess", "chess"), ("chess", "chess"), ("a.b_c", "a-b-c")]
)
def test_default_namespace(name: str, namespace: str) -> None:
    assert new_plugin.default_namespace(name) == namespace


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["9lives"], "'9lives' cannot be a package's name: use letters"),
        (["a b"], "'a b' cannot be a package's name"),
        (["../up"], "'../up' cannot be a package's name"),
        ([""], "'' cannot be a package's name"),
        (["class"], "the module 'class' is taken; try 'gem-class'"),
        (["json"], "the module 'json' is taken"),
        (["gem"], "the module 'gem' is taken"),
        (["gem-x", "--namespace", "a:b"], "'a:b' cannot be a namespace"),
        (["gem-x", "--namespace", ""], "'' cannot be a namespace"),
        (["gem-x", "--license", "GPL"], "argument --license: invalid choice: 'GPL'"),
        (["gem-x", "--path", "no/such/folder"], "'no/such/folder' is no folder: create it"),
        (["there"], "is there already: choose another name"),
    ],
)
def test_refusals_are_one_line_and_write_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["there"]


def test_a_failure_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = Path.write_text

    def full(self: Path, *args: object, **kwargs: object) -> int:
        if self.name == "plugin.py":
            raise OSError("No space left on device")
        return write(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", full)
    assert main(["new-plugin", "gem-x", "--path", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "gem: No space left on device\n"
    assert list(tmp_path.iterdir()) == []


@given(st.text(max_size=20))
def test_any_name_gives_a_module_or_one_line(name: str) -> None:
    message = ""
    try:
        assert new_plugin._module_name(name).isidentifier()
    except ValueError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1
