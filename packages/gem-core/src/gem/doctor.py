"""Look for what is broken in this installation; ``gem doctor`` prints what :func:`examine` finds."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from gem_launcher import other_owners

from gem import requirements
from gem.entry_points import EntryPoint
from gem.plugins import GROUPS, SEPARATE, PluginManager, manager, repair
from gem.wording import one_line

#: Modules that take long to import. An index of environments, a subcommand or an observer that pulls one in makes
#: every user of its namespace wait for it.
HEAVY = (
    *("torch", "tensorflow", "jax", "numpy", "pandas", "scipy", "sklearn", "sympy", "matplotlib", "pyarrow"),
    *("datasets", "transformers", "peft", "vllm", "ray", "openai", "anthropic", "mcp", "fastmcp", "nltk", "spacy"),
    *("reasoning_gym", "textarena", "docker", "math_verify"),
)

#: Groups that are imported to be looked at, where heavy imports are a mistake.
LIGHT_GROUPS = ("gem.envs", "gem.commands", "gem.hooks")

#: Seconds after which a plugin that is still importing counts as hanging.
HANGING = 60.0


def examine(hanging: float = HANGING) -> dict[str, Any]:
    """Load every plugin and say what is there and what is wrong.

    Each distribution is imported in an interpreter of its own, so that import times and heavy imports are its own.

    Returns:
        A JSON-able dictionary: ``gem_core``, ``python``, ``location``; ``distributions``, each with name, version,
        location, namespaces, number of ids, other entry points, ``import_seconds`` and ``heavy_imports``;
        ``requirements`` (name -> ids that need it, and what is missing or ``None``); ``problems`` (``kind``, ``text``).
    """
    import gem

    plugins = manager()
    loaded = plugins.env_plugins()
    report: dict[str, Any] = {
        "gem_core": getattr(gem, "__version__", "overwritten by another package"),
        "python": sys.version.split()[0],
        "location": os.path.dirname(gem.__file__ or ""),
        "distributions": [],
        "requirements": _requirements(plugins),
        "problems": [],
    }
    problems: list[dict[str, str]] = report["problems"]

    def problem(kind: str, text: str) -> None:
        if {"kind": kind, "text": text} not in problems:
            problems.append({"kind": kind, "text": text})

    for text in _other_owners_of_gem():
        problem("shadowed", text)
    for text in plugins.unknown_names():
        problem("environment variable", text)
    for plugin in loaded:
        for text in plugin.problems():
            problem("broken plugin", text if plugin.error else f"{plugin.distribution} lists {text}")
    for entry_point, error in plugins.broken_observers.items():
        problem("broken plugin", _broken(entry_point, one_line(error), repair(entry_point, error)))
    for env_id, owners in plugins.collisions().items():
        problem("collision", f"{' and '.join(owners)} both provide {env_id!r}: {SEPARATE}")
    for text in _named_collisions(plugins):
        problem("collision", text)
    for text in _missing_modules(plugins):
        problem("entry point", text)
    by_distribution: dict[tuple[str, str, str], list[EntryPoint]] = {}
    for group in GROUPS:
        for entry_point in plugins.entry_points(group):
            key = (entry_point.distribution, entry_point.version, entry_point.location)
            by_distribution.setdefault(key, []).append(entry_point)
    for (name, version, location), entry_points in sorted(by_distribution.items()):
        probed = _probe(entry_points, hanging)
        heavy = sorted({module for p in probed for module in p["heavy"]})
        for entry_point, found in zip(entry_points, probed, strict=True):
            failed = found["error"]
            if failed and entry_point.group not in ("gem.envs", "gem.hooks"):  # those two are told of above
                problem("broken plugin", _broken(entry_point, failed, repair(entry_point, None)))
            elif failed and failed.startswith("still importing"):
                problem("broken plugin", f"{entry_point!r}: {failed}")
            if found["heavy"]:
                modules = ", ".join(found["heavy"])
                problem("heavy import", f"{name}: {entry_point.value} imports {modules}; import it where it is used")
        report["distributions"].append(
            {
                "name": name,
                "version": version,
                "location": location,
                "namespaces": sorted({e.name for e in entry_points if e.group == "gem.envs"}),
                "ids": sum(len(p.specs) for p in loaded if p.distribution == name),
                "entry_points": {
                    group: sorted(e.name for e in entry_points if e.group == group)
                    for group in GROUPS
                    if any(e.group == group for e in entry_points)
                },
                "import_seconds": round(sum(p["seconds"] for p in probed), 4),
                "heavy_imports": heavy,
            }
        )
    for name, entry in report["requirements"].items():
        if entry["unmet"]:
            problem("requirement", f"{name}, which {entry['ids']} environment(s) need: {entry['unmet']}")
    return report


def _broken(entry_point: EntryPoint, cause: str, mend: str) -> str:
    what = f"{entry_point.name!r} ({entry_point.group}) of {entry_point.distribution}"
    return f"{what} is broken: {cause}; repair it: {mend}"


def _requirements(plugins: PluginManager) -> dict[str, dict[str, Any]]:
    needed: dict[str, int] = {}
    for plugin in plugins.env_plugins():
        for spec in plugin.specs.values():
            for name in spec.requires:
                needed[name] = needed.get(name, 0) + 1
    unmet = requirements.unmet(needed)
    return {name: {"ids": count, "unmet": unmet.get(name)} for name, count in sorted(needed.items())}


def _named_collisions(plugins: PluginManager) -> Iterator[str]:
    for group in GROUPS:
        if group in ("gem.envs", "gem.hooks"):  # a namespace may be shared, and observers are all called
            continue
        owners: dict[str, set[str]] = {}
        for entry_point in plugins.entry_points(group):
            owners.setdefault(entry_point.name, set()).add(entry_point.distribution)
        for name, distributions in owners.items():
            if len(distributions) > 1:
                yield f"{' and '.join(sorted(distributions))} both provide {name!r} in {group}: {SEPARATE}"


def _missing_modules(plugins: PluginManager) -> Iterator[str]:
    """Environments whose module is not there; the modules themselves are not imported, only their packages."""
    for plugin in plugins.env_plugins():
        modules: dict[str, list[str]] = {}
        for spec in plugin.specs.values():
            if isinstance(spec.entry_point, str):
                modules.setdefault(spec.entry_point.partition(":")[0], []).append(spec.id)
        for module, ids in modules.items():
            try:
                missing = importlib.util.find_spec(module) is None
            except Exception:  # the package cannot be imported, whatever the reason
                missing = True
            if missing:
                more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
                what = f"{plugin.distribution}: there is no module {module!r} for {ids[0]!r}{more}"
                yield f"{what}; repair it: {plugin.repair()}"


def _other_owners_of_gem() -> Iterator[str]:
    """Other packages that import as ``gem``."""
    import gem

    own = os.path.realpath(os.path.dirname(gem.__file__ or ""))
    for name, version in other_owners():
        yield f"{name} {version} also installs the package 'gem': pip uninstall {name}, then reinstall gem-core"
    for folder in dict.fromkeys(sys.path):
        other = os.path.join(folder or os.curdir, "gem")
        if os.path.isfile(os.path.join(other, "__init__.py")) and os.path.realpath(other) != own:
            yield f"another package 'gem' lies in {other!r}, beside the one in use: remove one of them"


def _probe(entry_points: list[EntryPoint], hanging: float) -> list[dict[str, Any]]:
    """Load one distribution's entry points in a fresh interpreter: seconds, heavy modules and error of each."""
    asked = [[e.group, e.name, e.value] for e in entry_points]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", "from gem.doctor import _probe_here; _probe_here()", json.dumps(asked)],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=hanging,
        )
        return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]
    except subprocess.TimeoutExpired:
        error = f"still importing after {hanging:g} s"
    except (ValueError, IndexError):
        error = f"the interpreter ended with code {done.returncode} while importing it"
    return [{"seconds": 0.0, "heavy": [], "error": error} for _ in asked]


def _probe_here() -> None:
    """The other side of :func:`_probe`: the last line on standard output is the answer."""
    results = []
    for group, name, value in json.loads(sys.argv[1]):
        before = set(sys.modules)
        started = time.perf_counter()
        error = None
        try:
            EntryPoint(group, name, value, "", "", "").load()
        except BaseException as raised:  # SystemExit too
            error = one_line(raised)
        heavy = [m for m in HEAVY if m in sys.modules and m not in before] if group in LIGHT_GROUPS else []
        results.append({"seconds": time.perf_counter() - started, "heavy": heavy, "error": error})
    print("\n" + json.dumps(results))
