"""Check that environments keep the rules that trainers and evaluators rely on; docs/conformance.md explains each."""

from __future__ import annotations

import argparse
import json
from typing import Any

from gem.cli.output import style


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Exit code 1 when a rule is broken or nothing could be checked, 0 otherwise."
    parser.add_argument("targets", nargs="+", metavar="ID", help="an id, a namespace such as 'game:', or a pattern")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--strict", action="store_true", help="report advice too")
    parser.add_argument("--episodes", type=int, default=3, help="random episodes to play (default: 3)")
    parser.add_argument("--seed", type=int, default=0, help="the first episode's seed (default: 0)")
    parser.add_argument(
        "--backends", default="sync,thread,process", help="vector backends to play in, or '' (default: all)"
    )
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds one call may take (default: 30)")


def run(args: argparse.Namespace) -> int:
    from gem.errors import MissingDependency, PluginError
    from gem.testing import check_env
    from gem.testing.requirements import unmet_requirement

    backends = [name for name in args.backends.split(",") if name]
    report: list[dict[str, Any]] = []
    for env_id in selected(args.targets):
        entry: dict[str, Any] = {"id": env_id, "violations": [], "skipped": unmet_requirement(env_id)}
        if entry["skipped"] is None:
            try:
                found = check_env(
                    env_id,
                    episodes=args.episodes,
                    seed=args.seed,
                    backends=backends,
                    timeout=args.timeout,
                    strict=args.strict,
                )
                entry["violations"] = [violation.to_dict() for violation in found]
            except (MissingDependency, PluginError) as error:
                entry["skipped"] = " ".join(str(error).split())
        report.append(entry)
        if not args.json:
            _print(entry)
    broken = sum(bool(entry["violations"]) for entry in report)
    skipped = sum(entry["skipped"] is not None for entry in report)
    if args.json:
        print(json.dumps({"environments": report, "broken": broken, "skipped": skipped}, indent=2))
    else:
        print(f"{len(report)} checked: {len(report) - broken - skipped} conform, {broken} do not, {skipped} skipped")
    return 1 if broken or skipped == len(report) else 0


def selected(targets: list[str]) -> list[str]:
    """The ids that the targets name, each once.

    Raises:
        gem.UnknownEnv: a target names none.
    """
    from fnmatch import fnmatchcase

    from gem.errors import UnknownEnv
    from gem.registry import spec, specs

    found: dict[str, None] = {}
    for target in targets:
        if target.endswith(":") or any(letter in target for letter in "*?["):
            # Only the plugins of one namespace are loaded where the pattern names it.
            namespace = target.partition(":")[0] if ":" in target else None
            literal = namespace is not None and not any(letter in namespace for letter in "*?[")
            pattern = f"{target}*" if target.endswith(":") else target
            ids = [s.id for s in specs(namespace if literal else None) if fnmatchcase(s.id, pattern)]
            if not ids:
                raise UnknownEnv(f"no installed environment matches {target!r}; `gem list` shows what is installed")
            found.update(dict.fromkeys(ids))
        else:
            found[spec(target).id] = None
    return list(found)


def _print(entry: dict[str, Any]) -> None:
    if entry["skipped"] is not None:
        print(f"{style('skip', 'yellow')}  {entry['id']}  {entry['skipped']}", flush=True)
    elif not entry["violations"]:
        print(f"{style('ok', 'green')}    {entry['id']}", flush=True)
    for violation in entry["violations"]:
        print(f"{style(violation['code'], 'red')}  {entry['id']}  {violation['message']}")
        print(style(f"        {violation['mend']}", "dim"), flush=True)
