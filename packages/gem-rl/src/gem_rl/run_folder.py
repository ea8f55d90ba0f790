"""The folder of a run: configuration, metrics, checkpoint, episodes. Every file is whole at every moment."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from gem.rollout import Episode
from gem_rl.config import TrainConfig
from gem_rl.errors import RunFolderError


class RunFolder:
    """
    ``config.json``      settings, seed, version of every installed package, platform
    ``metrics.jsonl``    one line a step, the same bytes on every CPU run of one seed
    ``timing.jsonl``     one line a step: seconds, episodes a second
    ``checkpoint.pt``    all that the next step depends on
    ``episodes/*.jsonl`` episodes kept for reading: ``before``, ``after``, ``step-<number>``
    ``results.json``     the evaluation before and after
    ``curve.png``, ``episodes.html``
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: str | Path, config: TrainConfig) -> RunFolder:
        """Start a folder. Raises :class:`RunFolderError` where ``path`` holds anything."""
        path = Path(path)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunFolderError(
                f"{path} exists: go on with it by `gem train --resume {path}`, or choose another --out"
            )
        path.mkdir(parents=True, exist_ok=True)
        folder = cls(path)
        folder.write_config(config)
        return folder

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """A folder to resume. Raises :class:`RunFolderError` where it is none."""
        path = Path(path)
        if not (path / "config.json").is_file():
            raise RunFolderError(f"{path} is not a run folder (it has no config.json): start one with --out {path}")
        return cls(path)

    @staticmethod
    def free(parent: str | Path, name: str) -> Path:
        """The first of ``parent/name-1``, ``parent/name-2``, ... that does not exist."""
        number = 1
        while (path := Path(parent) / f"{name}-{number}").exists():
            number += 1
        return path

    # -- configuration --------------------------------------------------------------------------------

    def write_config(self, config: TrainConfig) -> None:
        record = {
            "config": config.to_dict(),
            "python": platform.python_version(),
            "platform": platform.platform(),
            "command": sys.argv,
            "versions": versions(),
        }
        self._write_text("config.json", json.dumps(record, indent=2) + "\n")

    def config(self) -> TrainConfig:
        record = json.loads((self.path / "config.json").read_text(encoding="utf-8"))
        return TrainConfig.from_dict(record["config"], f"{self.path / 'config.json'}")

    # -- metrics --------------------------------------------------------------------------------------

    def log(self, metrics: dict[str, Any], timing: dict[str, Any]) -> None:
        """Append the metrics and the timing of one step."""
        for name, record in (("metrics.jsonl", metrics), ("timing.jsonl", timing)):
            with open(self.path / name, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        return self._records("metrics.jsonl")

    def timing(self) -> list[dict[str, Any]]:
        return self._records("timing.jsonl")

    def cut_back(self, step: int) -> None:
        """Forget what was logged after ``step``: those steps are taken again."""
        for name in ("metrics.jsonl", "timing.jsonl"):
            kept = [record for record in self._records(name) if record["step"] <= step]
            self._write_text(name, "".join(json.dumps(record) + "\n" for record in kept))

    def _records(self, name: str) -> list[dict[str, Any]]:
        path = self.path / name
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines[:-1]]  # what follows the last line break was cut off by a crash

    # -- checkpoint -----------------------------------------------------------------------------------

    def save(self, state: dict[str, Any]) -> None:
        """Replace the checkpoint; a crash leaves the old one or the new one, never half of one."""
        import torch

        partial = self.path / "checkpoint.partial"
        with open(partial, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, self.path / "checkpoint.pt")

    def checkpoint(self) -> dict[str, Any] | None:
        """The last checkpoint, on the CPU; ``None`` before the first.

        Raises:
            RunFolderError: it is broken.
        """
        import torch

        path = self.path / "checkpoint.pt"
        if not path.exists():
            return None
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except OSError:
            raise
        except Exception as error:  # of the many kinds that unpickling anything but a checkpoint raises
            raise RunFolderError(f"{path} is broken: delete it to take the run from its beginning") from error

    # -- episodes -------------------------------------------------------------------------------------

    def write_episodes(
        self, name: str, episodes: Sequence[Episode], advantages: Sequence[Sequence[float]] | None
    ) -> None:
        """Keep episodes, with the advantage of each turn where there is one."""
        (self.path / "episodes").mkdir(exist_ok=True)
        lines = []
        for number, episode in enumerate(episodes):
            record = {**episode.to_dict(), "advantages": None if advantages is None else list(advantages[number])}
            lines.append(json.dumps(record, default=list) + "\n")  # messages are sequences
        self._write_text(f"episodes/{name}.jsonl", "".join(lines))

    def episodes(self, name: str) -> list[tuple[Episode, list[float] | None]]:
        """The episodes kept under a name with the advantages of their turns; none where nothing was kept."""
        return [(Episode.from_dict(record), record["advantages"]) for record in self._records(f"episodes/{name}.jsonl")]

    def episode_sets(self) -> list[str]:
        """Names under which episodes are kept: before, training steps in order, after."""
        order = {"before": (0, ""), "after": (2, "")}
        names = [path.stem for path in (self.path / "episodes").glob("*.jsonl")]
        return sorted(names, key=lambda name: order.get(name, (1, name)))

    # -- results --------------------------------------------------------------------------------------

    def write_results(self, results: dict[str, Any]) -> None:
        self._write_text("results.json", json.dumps(results, indent=2) + "\n")

    def _write_text(self, name: str, text: str) -> None:
        path = self.path / name
        partial = path.with_name(path.name + ".partial")
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)


def versions() -> dict[str, str]:
    """Name -> version of every installed distribution."""
    found = {str(d.metadata["Name"]): d.version for d in metadata.distributions() if d.metadata["Name"]}
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))
