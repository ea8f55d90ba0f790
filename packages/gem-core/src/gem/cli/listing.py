"""List the environments that the installed packages provide."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys

from gem.cli.output import print_table, style
from gem.env_spec import EnvSpec


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pattern", nargs="?", default="", help="part of an id, or a pattern with * and ? that the whole id must match"
    )
    parser.add_argument("--json", action="store_true", help="one JSON list on standard output")


def run(args: argparse.Namespace) -> int:
    return 0 if print_list(args.pattern, as_json=args.json) or not args.pattern else 1


def print_list(pattern: str = "", *, as_json: bool = False) -> bool:
    """Print the environments a pattern means, then what of them is broken, and why.

    Returns:
        Whether there were any; if not, standard error says so.
    """
    from gem.plugins import manager

    found, lost = _found(pattern), broken(pattern)
    if as_json:
        print(json.dumps([_row(spec) for spec in found] + [{"id": i, "broken": why} for i, why in lost], indent=2))
    else:
        print_table([(spec.id, spec.provider or "this process", spec.description) for spec in found])
        for env_id, why in lost:
            print(style(f"{env_id}  broken: {why}", "red"))
    if found or lost:
        return True
    print(f"no environment matches {pattern!r}" if pattern else "no environments are installed", file=sys.stderr)
    for problem in manager().unknown_names():
        print(problem, file=sys.stderr)
    return False


def _found(pattern: str) -> list[EnvSpec]:
    from gem.registry import specs

    return [spec for spec in specs() if matches(spec.id, pattern)]


def broken(pattern: str = "") -> list[tuple[str, str]]:
    """The ids a pattern means that cannot be used, and why.

    Which ids a plugin has that cannot be loaded nobody knows: ``namespace:*`` stands for them.
    """
    from gem.plugins import SEPARATE, manager

    lost = [
        (env_id, f"{' and '.join(owners)} both provide it: {SEPARATE}")
        for env_id, owners in manager().collisions().items()
        if matches(env_id, pattern)
    ]
    for plugin in manager().env_plugins():
        lost.extend((i, f"{plugin.distribution}: {why}") for i, why in plugin.bad.items() if matches(i, pattern))
        own = f"{plugin.namespace}:"
        if plugin.error is not None and (matches(own, pattern) or pattern.startswith(own)):
            lost.append((f"{own}*", plugin.problems()[0]))
    return lost


def matches(env_id: str, pattern: str) -> bool:
    """Whether an id is meant by a pattern: the whole id with wildcards, else any part of it, in any case."""
    if any(c in pattern for c in "*?["):
        return fnmatch.fnmatchcase(env_id.lower(), pattern.lower())
    return pattern.lower() in env_id.lower()


def _row(spec: EnvSpec) -> dict[str, object]:
    return {
        "id": spec.id,
        "description": spec.description,
        "provider": spec.provider,
        "provider_version": spec.provider_version,
        "requires": list(spec.requires),
    }
