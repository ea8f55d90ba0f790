"""Look for what is broken in this installation, and say how to repair it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from gem.cli.output import count, print_table, style


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when there is any problem")


def run(args: argparse.Namespace) -> int:
    from gem.doctor import examine

    report = examine()
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        _print(report)
    return 1 if args.strict and report["problems"] else 0


def _print(report: dict[str, Any]) -> None:
    print(style(f"gem-core {report['gem_core']}", "bold") + f" in {report['location']}, Python {report['python']}")
    print(style("\nplugins", "bold"))
    print_table([_row(d) for d in report["distributions"]] or [("none installed",)], indent="  ")
    if report["requirements"]:
        print(style("\nrequirements", "bold"))
        rows = [
            (
                name,
                count(entry["ids"], "id"),
                style(entry["unmet"], "red") if entry["unmet"] else style("there", "green"),
            )
            for name, entry in report["requirements"].items()
        ]
        print_table(rows, indent="  ")
    problems = report["problems"]
    if not problems:
        print(style("\nno problems", "green"))
        return
    print(style(f"\n{count(len(problems), 'problem')}", "red"))
    for problem in problems:
        print(f"  {style(problem['kind'], 'bold')}: {problem['text']}")


def _row(distribution: dict[str, Any]) -> tuple[str, ...]:
    others = [
        f"{group.removeprefix('gem.')} {', '.join(names)}"
        for group, names in distribution["entry_points"].items()
        if group != "gem.envs"
    ]
    namespaces = " ".join(f"{name}:" for name in distribution["namespaces"])
    return (
        f"{distribution['name']} {distribution['version']}",
        count(distribution["ids"], "id"),
        f"import {1000 * distribution['import_seconds']:.0f} ms",
        "  ".join([namespaces, *others]).strip(),
    )
