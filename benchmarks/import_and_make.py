"""What `import gem` and the first `gem.make` cost, beside the published package and the bare interpreter.

    python benchmarks/import_and_make.py --published PATH/TO/PYTHON

Each measurement is a process of its own; the kinds take turns, and the median of each counts. CPU time (user and
system, of the whole process, start of the interpreter included) and peak memory are the kernel's figures, so what
else the machine does hardly matters. (Linux counts into a child's peak what this process held when it started it: about
14 MB, below which no figure of memory can fall.) Bytecode is cached, as it is after an installation by pip. The
published package (``gem-llm`` 0.1.0) lives in an interpreter of its own, ``--published``; without it, a virtual
environment is made for the time of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

GAME = "game:GuessTheNumber-v0-easy"

#: What is run, in which interpreter.
KINDS = {
    "python": ("own", "pass"),
    "import gem": ("own", "import gem; gem.Env"),
    "import gem, make a game": ("own", f"import gem; gem.make({GAME!r})"),
    "import gem, make it twice": ("own", f"import gem; gem.make({GAME!r}); gem.make({GAME!r})"),
    "gem --version": ("own", "import sys; from gem.cli import main; main(['--version'])"),
    "published: python": ("published", "pass"),
    "published: import gem": ("published", "import gem; gem.Env"),
    "published: import gem, make a game": ("published", f"import gem; gem.make({GAME!r})"),
}

FORBIDDEN = ("numpy", "torch", "datasets", "transformers", "reasoning_gym", "textarena", "docker", "math_verify")


def run(python: str, code: str) -> tuple[float, float]:
    """CPU seconds and peak resident megabytes of a process that runs ``code``."""
    process = subprocess.Popen(
        [python, "-c", code],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=tempfile.gettempdir(),
        env={k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GEM_"))},
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    with process.stderr as stream:
        if process.returncode:
            raise SystemExit(f"{python} -c {code!r} failed: {stream.read().decode().strip().splitlines()[-1:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def install_published(folder: str) -> str:
    """A virtual environment with the published package; returns its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(Path(folder) / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "gem-llm==0.1.0"], check=True)
    return python


def loaded_modules() -> list[str]:
    """Those of :data:`FORBIDDEN` that importing gem and making a game load."""
    code = f"import sys, gem; gem.make({GAME!r}); print([m for m in {FORBIDDEN} if m in sys.modules])"
    return list(json.loads(subprocess.check_output([sys.executable, "-c", code], text=True).replace("'", '"')))


def measure(published: str, rounds: int) -> dict[str, dict[str, float]]:
    interpreters = {"own": sys.executable, "published": published}
    for interpreter, code in KINDS.values():  # bytecode and disk caches warm
        run(interpreters[interpreter], code)
    samples: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for _ in range(rounds):
        for kind, (interpreter, code) in KINDS.items():
            samples[kind].append(run(interpreters[interpreter], code))
    return {
        kind: {
            "cpu_ms": 1e3 * statistics.median(cpu for cpu, _ in values),
            "megabytes": statistics.median(memory for _, memory in values),
        }
        for kind, values in samples.items()
    }


def report(rows: dict[str, dict[str, float]]) -> dict[str, Any]:
    def cpu(kind: str) -> float:
        return rows[kind]["cpu_ms"]

    return {
        "import: times less CPU, processes compared": cpu("published: import gem") / cpu("import gem"),
        "import: times less CPU, interpreter's start taken off": (
            (cpu("published: import gem") - cpu("published: python")) / max(cpu("import gem") - cpu("python"), 1e-3)
        ),
        "import: megabytes resident": rows["import gem"]["megabytes"],
        "make a game: ms more than the import": cpu("import gem, make a game") - cpu("import gem"),
        "heavy modules loaded": loaded_modules(),
    }


ASKED = {
    "import: times less CPU, processes compared": "at least 15",
    "import: megabytes resident": "at most 25",
    "make a game: ms more than the import": "at most 50",
    "heavy modules loaded": "none",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="What `import gem` and the first `gem.make` cost.")
    parser.add_argument("--published", help="an interpreter that has gem-llm 0.1.0")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(arguments.published or install_published(folder), arguments.rounds)
    figures = report(rows)
    print(f"{'process':36} {'CPU ms':>8} {'MB':>6}")
    for kind, row in rows.items():
        print(f"{kind:36} {row['cpu_ms']:8.1f} {row['megabytes']:6.1f}")
    print(f"\n{'figure':54} {'measured':>9}  asked")
    for name, value in figures.items():
        shown = f"{value:.1f}" if isinstance(value, float) else ", ".join(value) or "none"
        print(f"{name:54} {shown:>9}  {ASKED.get(name, '-')}")
    text = json.dumps({"rounds": arguments.rounds, "processes": rows, "figures": figures}, indent=1)
    print(f"\n{text}")
    if arguments.json:
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
