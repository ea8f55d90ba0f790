"""Which algorithm learns what, in miniature: the tiny model on GuessTheNumber 1..8, the quickstart's settings.

    python benchmarks/learning.py --seeds 3 --out runs/learning --json learning.json

Each algorithm is trained from scratch on each seed, one run after another (about a minute of one core each), and a
run that is there already is not repeated. The question: what the paper reports (arXiv:2510.01051), as far as two cores
can show it. ReBN beats plain REINFORCE; GRPO, which knows no discount, has no reason to save turns. All of it with this
game's partial reward at the turn limit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Row of the table -> flags of ``gem train``. The turn limit of this game is part of the task and pays partial credit,
#: so the critic must not look beyond it: PPO would learn to run out of turns.
RUNS = {
    "PPO, gamma 0.9": ["--algorithm", "ppo", "--gamma", "0.9", "--no-bootstrap", "--whiten"],
    "ReBN, gamma 0.9": ["--algorithm", "rebn", "--gamma", "0.9"],
    "ReBN, gamma 1": ["--algorithm", "rebn", "--gamma", "1"],
    "REINFORCE, gamma 0.9": ["--algorithm", "reinforce", "--gamma", "0.9"],
    "GRPO, groups of 8": ["--algorithm", "grpo", "--gamma", "1", "--group-size", "8"],
    "Dr. GRPO, groups of 8": ["--algorithm", "dr-grpo", "--gamma", "1", "--group-size", "8"],
}


def train(name: str, seed: int, steps: int, out: Path) -> Path:
    """The run folder of one algorithm and seed; trained, or gone on with, unless it is finished."""
    folder = out / "".join(c if c.isalnum() else "-" for c in f"{name} {steps} {seed}".lower())
    if not (folder / "results.json").exists():
        begun = folder.exists()
        flags = ["--resume", str(folder)] if begun else [*RUNS[name], "--preset", "quickstart", "--out", str(folder)]
        flags += [] if begun else ["--steps", str(steps), "--seed", str(seed)]
        print(f"training {name}, seed {seed}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "gem_rl", *flags], check=True, stdout=subprocess.DEVNULL)
    return folder


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def summary(folders: list[Path]) -> dict[str, Any]:
    """Means over seeds: held-out numbers after training, of the last training steps, and what it took."""
    after = [json.loads((folder / "results.json").read_text())["after"] for folder in folders]
    curves = [[record["turns"] for record in records(folder, "metrics.jsonl")] for folder in folders]
    return {
        "turns": statistics.mean(row["turns"] for row in after),
        "turns_of_each_seed": [row["turns"] for row in after],
        "turns_won": statistics.mean(row.get("turns_won", float("nan")) for row in after),
        "success": statistics.mean(row["success"] for row in after),
        "seconds": statistics.mean(sum(r["seconds"] for r in records(folder, "timing.jsonl")) for folder in folders),
        "curve": [statistics.mean(step) for step in zip(*curves, strict=True)],
    }


def draw(table: dict[str, dict[str, Any]], best: float, path: Path) -> None:
    from matplotlib.figure import Figure

    from gem_rl.plots import smooth

    figure = Figure(figsize=(7, 4), dpi=160, layout="constrained")
    axes = figure.subplots()
    for name, row in table.items():
        axes.plot(smooth(row["curve"]), linewidth=1.8, label=name)
    axes.axhline(best, color="black", linewidth=1, linestyle=(0, (5, 3)), label=f"optimum {best:g}")
    axes.set(xlabel="step", ylabel="turns an episode (a failure counts 8)", ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--only", nargs="*", choices=list(RUNS), help="these rows alone")
    parser.add_argument(
        "--out", type=Path, default=Path("runs/learning"), help="where the run folders and the picture go"
    )
    parser.add_argument("--json", type=Path, help="write the numbers there")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    table = {}
    for name in arguments.only or RUNS:
        folders = [train(name, seed, arguments.steps, arguments.out) for seed in range(arguments.seeds)]
        table[name] = summary(folders)
    best = json.loads((folders[0] / "results.json").read_text())["best_turns"]
    print(f"{'held-out seeds, after training':32} turns  (won)  success  seconds   turns of each seed")
    for name, row in sorted(table.items(), key=lambda item: item[1]["turns"]):
        each = " ".join(f"{turns:.2f}" for turns in row["turns_of_each_seed"])
        numbers = f"{row['turns']:5.2f}  {row['turns_won']:5.2f}  {row['success']:7.1%}  {row['seconds']:7.0f}"
        print(f"{name:32} {numbers}   {each}")
    print(f"{'optimum':32} {best:5.3f}")
    draw(table, best, arguments.out / "learning.png")
    print(f"picture: {arguments.out / 'learning.png'}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"best_turns": best, "rows": table}, indent=2) + "\n")


if __name__ == "__main__":
    main()
