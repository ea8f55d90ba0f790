"""``gem train``: one line for what goes wrong, a table for what went right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from gem.cli import main
from gem_rl.commands.train import table
from gem_rl.run_folder import RunFolder

#: Flags of a run of seconds.
QUICK = ["--steps", "2", "--episodes", "8", "--warmup-steps", "5", "--warmup-episodes", "8", "--eval-episodes", "6"]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def refused(capsys: Capture) -> Callable[..., str]:
    """Runs ``gem train`` with arguments that must be refused in one line; returns the line."""

    def run(*arguments: str) -> str:
        assert main(["train", *arguments]) == 2
        captured = capsys.readouterr()
        assert captured.err.startswith("gem: ")
        assert captured.err.count("\n") == 1
        assert captured.out == ""
        return captured.err

    return run


def test_a_run_from_the_command_line(tmp_path: Path, capsys: Capture) -> None:
    assert main(["train", "toy:Guess-v0", "--env-option", "count=3", "--out", "run", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "held-out seeds    turns  success   reward   a failure counts 4 turns" in out
    assert f"{(tmp_path / 'run' / 'episodes.html').as_uri()}" in out
    assert RunFolder(tmp_path / "run").config().env_options == {"count": 3}


def test_without_out_the_first_free_name_is_taken(tmp_path: Path) -> None:
    for _ in range(2):
        assert main(["train", "toy:Guess-v0", *QUICK]) == 0
    assert sorted(p.name for p in (tmp_path / "runs").iterdir()) == ["Guess-v0-1", "Guess-v0-2"]


def test_preset_file_and_flags_in_that_order(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(
        'env = "toy:Guess-v0"\nseed = 5\ngamma = 0.8\n[env_options]\ncount = 2\nmax_turns = 3\n'
    )
    command = ["train", "--config", "run.toml", "--gamma", "0.7", "--env-option", "count=3", "--out", "run"]
    assert main([*command, *QUICK]) == 0
    config = RunFolder(tmp_path / "run").config()
    assert (config.seed, config.gamma, config.env_options) == (5, 0.7, {"count": 3, "max_turns": 3})


def test_unknown_things_are_named(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "did you mean 'toy:Guess-v0'" in refused("toy:Gues-v0")
    assert "no option 'colour'" in refused("toy:Guess-v0", "--env-option", "colour=1")
    assert "unknown algorithm 'a2c': choose one of reinforce, rebn" in refused("toy:Guess-v0", "--algorithm", "a2c")
    assert "unknown preset 'x'" in refused("--preset", "x")
    assert "--polcy" in refused("toy:Guess-v0", "--polcy", "tiny")
    (tmp_path / "run.toml").write_text('env = "toy:Guess-v0"\ngama = 0.8\n')
    assert "run.toml has no setting 'gama'; did you mean 'gamma'?" in refused("--config", "run.toml")
    assert "no environment: give an id" in refused()
    assert "NAME=VALUE" in refused("toy:Guess-v0", "--env-option", "count")
    assert not (tmp_path / "runs").exists()  # nothing is made for a run that cannot start


def test_a_run_folder_that_exists(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    line = refused("toy:Guess-v0", "--out", "run")
    assert "run exists: go on with it by `gem train --resume run`, or choose another --out" in line


def test_cuda_where_there_is_none(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "no CUDA device here: use --device cpu" in refused("toy:Guess-v0", "--device", "cuda")


def test_grpo_with_another_gamma(refused: Callable[..., str]) -> None:
    line = refused("toy:Guess-v0", "--algorithm", "grpo", "--group-size", "8", "--gamma", "0.9")
    assert "gamma is 1 by construction, got 0.9" in line


def test_resume_changes_nothing_but_steps(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "is not a run folder" in refused("--resume", "nowhere")
    assert "--gamma cannot change (only --steps can)" in refused("--resume", "run", "--gamma", "0.5")
    assert "ENV_ID cannot change" in refused("toy:Guess-v0", "--resume", "run")


def test_resume_to_more_steps(capsys: Capture, tmp_path: Path) -> None:
    assert main(["train", "toy:Guess-v0", "--out", "run", *QUICK]) == 0
    assert main(["train", "--resume", "run", "--steps", "3"]) == 0
    folder = RunFolder(tmp_path / "run")
    assert [record["step"] for record in folder.metrics()] == [1, 2, 3]
    assert folder.config().steps == 3
    capsys.readouterr()
    assert main(["train", "--resume", "run", "--steps", "1"]) == 2
    assert "has taken 3 steps already" in capsys.readouterr().err


def test_help_explains_itself(capsys: Capture) -> None:
    assert main(["train", "--help"]) == 0
    out = capsys.readouterr().out
    for part in ("--preset", "quickstart", "--gamma", "discount per turn, in (0, 1]", "default: rebn", "--resume"):
        assert part in out


def test_the_table(tmp_path: Path) -> None:
    row = {"turns": 5.4, "success": 0.61, "reward": 0.77}
    results = {"before": row, "after": {**row, "turns": 2.9}, "best_turns": 2.625, "turn_limit": 8}
    lines = table(results).splitlines()
    assert lines[0].endswith("a failure counts 8 turns")
    assert lines[1].split() == ["before", "5.40", "61.0%", "0.770"]
    assert lines[3].split() == ["optimum", "2.625"]
    assert table({"best_turns": 2.0}) == ""
    assert table({"before": {"errored": 3}, "after": {"errored": 3}}) == ""
    silent = {"turns": 1.0, "reward": 0.5, "errored": 2}
    assert table({"before": silent, "after": silent}).splitlines()[1].split() == [
        "before", "1.00", "-", "0.500", "2", "errored,", "left", "out"
    ]  # fmt: skip


def test_option_values(tmp_path: Path) -> None:
    from gem_rl.commands.train import _pair

    found = [
        _pair(f"x={text}", "--env-option")[1] for text in ("3", "0.5", "true", "None", "[1, 2]", "plain text", "'3'")
    ]
    assert found == [3, 0.5, True, None, [1, 2], "plain text", "3"]
