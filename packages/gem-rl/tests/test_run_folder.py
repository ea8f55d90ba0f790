"""The run folder: nothing overwritten, nothing torn."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from builders import episode

from gem_rl.errors import RunFolderError
from gem_rl.run_folder import RunFolder, versions

Make = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, small: Make) -> RunFolder:
    return RunFolder.create(tmp_path / "run", small())


def test_the_configuration_has_settings_seed_and_versions(folder: RunFolder, small: Make) -> None:
    record = json.loads((folder.path / "config.json").read_text())
    assert record["config"]["seed"] == 0
    assert record["versions"]["torch"] == versions()["torch"]
    assert "gem-core" in record["versions"]
    assert folder.config() == small()


def test_a_folder_that_exists_is_left_alone(folder: RunFolder, small: Make) -> None:
    with pytest.raises(
        RunFolderError, match=r"exists: go on with it by `gem train --resume .*`, or choose another --out"
    ):
        RunFolder.create(folder.path, small(seed=9))
    assert folder.config().seed == 0


def test_a_file_in_the_way_is_left_alone(tmp_path: Path, small: Make) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RunFolderError, match="exists"):
        RunFolder.create(tmp_path / "file", small())
    assert (tmp_path / "file").read_text() == "mine"


def test_an_empty_folder_will_do(tmp_path: Path, small: Make) -> None:
    RunFolder.create(tmp_path, small())


def test_only_run_folders_are_resumed(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="is not a run folder"):
        RunFolder.open(tmp_path)


def test_the_next_free_name(tmp_path: Path) -> None:
    assert RunFolder.free(tmp_path, "x").name == "x-1"
    (tmp_path / "x-1").mkdir()
    assert RunFolder.free(tmp_path, "x").name == "x-2"


def test_metrics_are_cut_back_to_the_checkpoint(folder: RunFolder) -> None:
    for step in range(1, 6):
        folder.log({"step": step, "reward": step / 3}, {"step": step, "seconds": 0.1})
    with open(folder.path / "metrics.jsonl", "a") as file:
        file.write('{"step": 6, "rew')  # a crash in mid-line
    folder.cut_back(3)
    assert [record["step"] for record in folder.metrics()] == [1, 2, 3]
    assert [record["step"] for record in folder.timing()] == [1, 2, 3]
    assert folder.metrics()[0]["reward"] == 1 / 3


def test_checkpoints(folder: RunFolder) -> None:
    assert folder.checkpoint() is None
    state = {"step": 3, "weights": torch.arange(4.0), "words": ["a", "b"]}
    folder.save(state)
    found = folder.checkpoint()
    assert found["step"] == 3
    assert torch.equal(found["weights"], state["weights"])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half of it", b"something else"])
def test_a_checkpoint_that_is_broken_says_what_to_do(folder: RunFolder, content: bytes) -> None:
    (folder.path / "checkpoint.pt").write_bytes(content)
    with pytest.raises(RunFolderError, match=r"checkpoint\.pt is broken: delete it"):
        folder.checkpoint()


def test_a_crash_while_saving_leaves_the_old_checkpoint(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.save({"step": 1})

    def crash(source: object, target: object) -> None:
        raise OSError("power cut")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="power cut"):
        folder.save({"step": 2})
    assert folder.checkpoint() == {"step": 1}


def test_episodes_come_back_as_they_were(folder: RunFolder) -> None:
    episodes = [episode([0.0, 1.0]), episode([0.5], truncated=True)]
    folder.write_episodes("step-000001", episodes, [[0.1, 0.2], [0.3]])
    folder.write_episodes("after", episodes, None)
    folder.write_episodes("before", episodes, None)
    assert folder.episode_sets() == ["before", "step-000001", "after"]
    (first, advantages), _ = folder.episodes("step-000001")
    assert first.to_dict() == episodes[0].to_dict()
    assert advantages == [0.1, 0.2]
    assert folder.episodes("after")[1][1] is None
    assert folder.episodes("never") == []
