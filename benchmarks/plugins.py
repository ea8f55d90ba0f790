"""What many installed plugins cost the first `gem.make` of one id.

    python benchmarks/plugins.py

Generates folders of installed distributions, each a plugin with a namespace of its own and ten ids, puts one in front
of the module path, and measures CPU time inside a fresh process: from before the first use of ``gem.make`` until the
environment is there, `import gem` itself not counted. "of that, discovery" is reading the entry points of all
distributions. Bytecode is cached, as it is after an installation by pip. The numbers of plugins take turns; the median
of each counts.
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

PLUGIN = """
from gem import EnvSpec, hookimpl

@hookimpl
def gem_env_specs():
    for i in range(10):
        yield EnvSpec(id=f"bench{number}:Task{{i}}-v0", entry_point="bench_plugin_envs:Task")
"""

ENV = """
import gem

class Task(gem.Env):
    def step(self, action):
        return "", 0.0, True, False, {}
"""

CHILD = """
import json, sys, time
import gem
gem.Env
before = set(sys.modules)
begun = time.process_time()
gem.make("bench0:Task3-v0")
make = time.process_time() - begun
plugins = [m for m in sys.modules if m.startswith("bench_plugin_")]
begun = time.process_time()
gem.make("bench0:Task3-v0")
again = time.process_time() - begun
from gem.entry_points import scan
begun = time.process_time()
found = len(scan())
scan = time.process_time() - begun
print(json.dumps({"make": make, "again": again, "scan": scan, "found": found, "imported": plugins}))
"""


def install(folder: Path, count: int) -> None:
    """``count`` plugin distributions, as pip leaves them."""
    (folder / "bench_plugin_envs.py").write_text(ENV)
    for number in range(count):
        module = f"bench_plugin_{number}"
        (folder / f"{module}.py").write_text(PLUGIN.format(number=number))
        info = folder / f"gem_bench_{number}-1.0.dist-info"
        info.mkdir()
        readme = "Text of a readme.\n" * 200  # real metadata files hold one
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: gem-bench-{number}\nVersion: 1.0\n\n{readme}")
        (info / "RECORD").write_text(f"{module}.py,,\n")
        (info / "entry_points.txt").write_text(f"[gem.envs]\nbench{number} = {module}\n")


def measure(folder: Path) -> dict[str, float]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GEM_"))}
    environment["PYTHONPATH"] = str(folder)
    out = subprocess.check_output([sys.executable, "-c", CHILD], env=environment, text=True)
    found = json.loads(out)
    imported = set(found.pop("imported"))
    if imported != {"bench_plugin_0", "bench_plugin_envs"}:
        raise SystemExit(f"more than one plugin was imported: {sorted(imported)}")
    return found  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description="What many installed plugins cost the first gem.make.")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 50, 200, 1000])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    arguments = parser.parse_args()
    samples: dict[int, list[dict[str, float]]] = {count: [] for count in arguments.counts}
    with tempfile.TemporaryDirectory() as root:
        folders = {count: Path(root) / str(count) for count in arguments.counts}
        for count, folder in folders.items():
            folder.mkdir()
            install(folder, count)
            measure(folder)  # bytecode and disk caches warm
        for _ in range(arguments.rounds):
            for count, folder in folders.items():
                samples[count].append(measure(folder))
    rows = [
        {
            "plugins": count,
            "entry_points_found": int(statistics.median(s["found"] for s in values)),
            "make_ms": 1e3 * statistics.median(s["make"] for s in values),
            "discovery_ms": 1e3 * statistics.median(s["scan"] for s in values),
            "make_again_ms": 1e3 * statistics.median(s["again"] for s in values),
        }
        for count, values in samples.items()
    ]
    print("CPU of the first gem.make of one id, milliseconds (asked: under 60 with 200 plugins)\n")
    print(f"{'plugins':>8} {'entry points':>13} {'gem.make':>9} {'of that, discovery':>19} {'second make':>12}")
    for row in rows:
        print(
            f"{row['plugins']:8} {row['entry_points_found']:13} {row['make_ms']:9.1f} {row['discovery_ms']:19.1f} "
            f"{row['make_again_ms']:12.3f}"
        )
    text = json.dumps({"rounds": arguments.rounds, "rows": rows}, indent=1)
    print(f"\n{text}")
    if arguments.json:
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
