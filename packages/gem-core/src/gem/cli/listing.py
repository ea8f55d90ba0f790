"""List the environments that the installed packages provide."""

from __future__ import annotations

import argparse
import fnmatch
import json

from gem.cli.output import print_table, style
from gem.env_spec import EnvSpec


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pattern", nargs="?", default="", help="part of an id, or a pattern with * and ? that the whole id must match"
    )
    parser.add_argument("--json", action="store_true", help="one JSON list on standard output")


def run(args: argparse.Namespace) -> int:
    if args.json:
        from gem.registry import specs

        print(json.dumps([_row(spec) for spec in specs() if matches(spec.id, args.pattern)], indent=2))
    else:
        print_list(args.pattern)
    return 0


def print_list(pattern: str = "") -> None:
    """Print the environments a pattern means, then what of the namespaces cannot be listed, and why."""
    from gem.plugins import SEPARATE, manager
    from gem.registry import specs

    found = [spec for spec in specs() if matches(spec.id, pattern)]
    print_table([(spec.id, spec.provider or "this process", spec.description) for spec in found])
    for env_id, owners in manager().collisions().items():
        if matches(env_id, pattern):
            print(style(f"{env_id}  broken: {' and '.join(owners)} both provide it: {SEPARATE}", "red"))
    for plugin in manager().env_plugins():
        for env_id, reason in plugin.bad.items():
            if matches(env_id, pattern):
                print(style(f"{env_id}  broken: {plugin.distribution}: {reason}", "red"))
        # Which ids a broken plugin has nobody knows: its namespace stands for them.
        if plugin.error is not None and (
            matches(f"{plugin.namespace}:", pattern) or pattern.startswith(plugin.namespace)
        ):
            print(style(f"{plugin.namespace}:*  {plugin.problems()[0]}", "red"))
    if not found:
        print(f"no environment matches {pattern!r}" if pattern else "no environments are installed")


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
