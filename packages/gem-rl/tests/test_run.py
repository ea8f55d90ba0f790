"""Whole runs, and runs that are cut short by Ctrl-C, by a kill, by anything, and resumed."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import SMALL

from gem_rl.config import TrainConfig
from gem_rl.progress import Progress
from gem_rl.run import run
from gem_rl.run_folder import RunFolder

Make = Callable[..., Any]
#: Long enough to be cut short in the middle.
LONG = {**SMALL, "steps": 30, "checkpoint_every": 4, "algorithm": "ppo", "gamma": 0.9, "epochs": 2, "kl_coef": 0.01}


def trained(path: Path, config: TrainConfig) -> tuple[RunFolder, dict[str, Any], str]:
    stream = io.StringIO()
    folder = RunFolder.create(path, config)
    return folder, run(config, folder, Progress(stream)), stream.getvalue()


def assert_same_run(first: Path, second: Path) -> None:
    """Bit for bit: metrics, weights, optimizer, evaluation."""
    for name in ("metrics.jsonl", "results.json", "episodes/before.jsonl", "episodes/after.jsonl"):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    one, other = (RunFolder(path).checkpoint() for path in (first, second))
    assert flat(one).keys() == flat(other).keys()
    for (key, a), b in zip(flat(one).items(), flat(other).values(), strict=True):
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b, key


def flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {k: v for name, inner in value.items() for k, v in flat(inner, f"{path}/{name}").items()}
    return {path: value}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The uninterrupted long run."""
    path = tmp_path_factory.mktemp("whole") / "run"
    trained(path, TrainConfig.from_dict(LONG))
    return path


def test_a_run_leaves_everything_behind(tmp_path: Path, small: Make) -> None:
    folder, results, text = trained(tmp_path / "run", small())
    names = {path.name for path in folder.path.iterdir()}
    assert names == {"config.json", "metrics.jsonl", "timing.jsonl", "checkpoint.pt", "episodes", "results.json",
                     "curve.png", "episodes.html"}  # fmt: skip
    assert [record["step"] for record in folder.metrics()] == [1, 2, 3, 4]
    assert folder.episode_sets() == ["before", "step-000001", "step-000002", "step-000004", "after"]
    assert set(results) == {"before", "after", "best_turns", "turn_limit"}
    assert json.loads((folder.path / "results.json").read_text()) == results
    assert "step 4/4" in text


def test_two_runs_of_one_seed_are_the_same(whole: Path, tmp_path: Path) -> None:
    trained(tmp_path / "again", TrainConfig.from_dict(LONG))
    assert_same_run(whole, tmp_path / "again")


def start(path: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(__file__).with_name("train_toy.py")), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=path)


def cut_short(folder: Path, config: Path, number: int) -> tuple[int, str]:
    """Start a run and send it a signal once it has taken six steps; its exit code and output."""
    for _ in range(5):
        process = start(folder.parent, "--config", str(config), "--out", str(folder))
        deadline = time.monotonic() + 120
        metrics = folder / "metrics.jsonl"
        while not metrics.exists() or metrics.read_bytes().count(b"\n") < 6:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.kill(process.pid, number)
        output = process.communicate(timeout=120)[0]
        if process.returncode:
            break
        shutil.rmtree(folder)  # on a busy machine it may have come to its end before the signal came: once more
    return process.returncode, output


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    rows = [f"{k} = {json.dumps(v)}" for k, v in LONG.items() if not isinstance(v, dict)]
    table = [f"{k} = {json.dumps(v)}" for k, v in LONG["policy_options"].items()]
    path.write_text("\n".join([*rows, "[policy_options]", *table]) + "\n")
    return path


def test_ctrl_c_keeps_the_step_says_how_to_go_on_and_resumes_bit_for_bit(
    whole: Path, tmp_path: Path, config_file: Path
) -> None:
    folder = tmp_path / "cut"
    code, output = cut_short(folder, config_file, signal.SIGINT)
    assert code == 130
    assert f"go on by `gem train --resume {folder}`" in output
    assert "Traceback" not in output
    done = RunFolder(folder).metrics()[-1]["step"]
    assert done < 30
    assert RunFolder(folder).checkpoint()["step"] == done
    resumed = start(tmp_path, "--resume", str(folder))
    output = resumed.communicate(timeout=240)[0]
    assert resumed.returncode == 0, output
    assert f"after step {done} of 30" in output
    assert_same_run(whole, folder)


def test_a_killed_run_resumes_bit_for_bit(whole: Path, tmp_path: Path, config_file: Path) -> None:
    folder = tmp_path / "cut"
    code, _ = cut_short(folder, config_file, signal.SIGKILL)
    assert code == -signal.SIGKILL
    checkpoint = RunFolder(folder).checkpoint()
    assert checkpoint["step"] % 4 == 0
    config = RunFolder(folder).config()
    run(config, RunFolder(folder), Progress(io.StringIO()))
    assert_same_run(whole, folder)


def test_a_run_killed_before_its_first_checkpoint_starts_again(whole: Path, tmp_path: Path) -> None:
    config = TrainConfig.from_dict(LONG)
    folder = RunFolder.create(tmp_path / "run", config)
    (folder.path / "metrics.jsonl").write_text('{"step": 1')
    run(config, RunFolder.open(folder.path), Progress(io.StringIO()))
    assert_same_run(whole, folder.path)


def test_a_finished_run_that_is_resumed_changes_nothing(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    folder = RunFolder.open(tmp_path / "copy")
    run(folder.config(), folder, Progress(io.StringIO()))
    assert_same_run(whole, folder.path)


def test_a_finished_run_goes_on_to_more_steps(tmp_path: Path, small: Make) -> None:
    folder, _, _ = trained(tmp_path / "run", small(steps=2))
    run(small(steps=4), folder, Progress(io.StringIO()))
    other, _, _ = trained(tmp_path / "other", small(steps=4))
    assert (folder.path / "metrics.jsonl").read_bytes() == (other.path / "metrics.jsonl").read_bytes()


def test_held_out_episodes_that_errored_are_left_out_and_counted(tmp_path: Path, small: Make) -> None:
    folder, results, _ = trained(tmp_path / "run", small(env_options={"breaks": True}, warmup_steps=0, policy="tiny"))
    assert results["before"]["errored"] == results["after"]["errored"] == 6
    assert len(folder.episodes("after")) == 12


def test_the_second_ctrl_c_does_not_wait() -> None:
    from gem_rl.run import _interruptible

    stream = io.StringIO()
    with _interruptible(Progress(stream)) as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted.is_set()
        assert "Ctrl-C again to stop at once" in stream.getvalue()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_note_is_said_once(tmp_path: Path, small: Make) -> None:
    _, _, text = trained(tmp_path / "run", small(max_tokens=1, eval_episodes=0))
    assert text.count("collapsed") == 1


def test_without_evaluation_there_is_none(tmp_path: Path, small: Make) -> None:
    folder, results, _ = trained(tmp_path / "run", small(eval_episodes=0))
    assert set(results) == {"best_turns", "turn_limit"}
    assert not {"before", "after"} & set(folder.episode_sets())


def test_it_runs_outside_the_main_thread_too(tmp_path: Path, small: Make) -> None:
    import threading

    done: list[RunFolder] = []
    thread = threading.Thread(target=lambda: done.append(trained(tmp_path / "run", small(steps=1))[0]))
    thread.start()
    thread.join(timeout=120)
    assert done
    assert done[0].metrics()


def test_the_signal_handler_is_put_back(tmp_path: Path, small: Make) -> None:
    before = signal.getsignal(signal.SIGINT)
    trained(tmp_path / "run", small(steps=1))
    assert signal.getsignal(signal.SIGINT) is before
