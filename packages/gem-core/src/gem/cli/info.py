"""Show one environment: its specification, its options with their defaults, and whether it can run here."""

from __future__ import annotations

import argparse
import inspect
import json
import re
from typing import Any

from gem.cli.output import print_table, style
from gem.env_spec import EnvSpec
from gem.requirements import unmet


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="an environment id, such as game:GuessTheNumber-v0-easy")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from gem.errors import GemError
    from gem.registry import load_entry_point, options, spec

    found = spec(args.id)
    try:
        factory = load_entry_point(found)
        problem = None
    except GemError as error:
        factory, problem = None, str(error)
    settings = {} if factory is None else {**options(factory), **found.kwargs}
    doc = inspect.getdoc(factory) if factory is not None else None
    missing = unmet(found.requires)
    if args.json:
        report = _json(found, settings, missing, problem, doc)
        print(json.dumps(report, indent=2, default=repr))
        return 0
    print(style(found.id, "bold") + (f"  {found.description}" if found.description else ""))
    print_table(_facts(found, missing), indent="  ")
    if problem:
        print(style(f"  cannot be loaded: {problem}", "red"))
    if settings:
        print("\noptions")
        rows = [
            (name, "required" if value is inspect.Parameter.empty else repr(value)) for name, value in settings.items()
        ]
        print_table(rows, indent="  ")
    if doc:
        print(f"\n{_plain(doc)}")
    return 0


def _plain(doc: str) -> str:
    """A docstring without the marks of reStructuredText: roles and double backticks."""
    return re.sub(r":[a-z:]+:`~?([^`<]+)`", r"`\1`", doc).replace("``", "`")


def _facts(spec: EnvSpec, missing: dict[str, str]) -> list[tuple[str, str]]:
    facts = [
        ("provider", f"{spec.provider} {spec.provider_version or ''}".rstrip() if spec.provider else "this process"),
        ("entry point", spec.entry_point if isinstance(spec.entry_point, str) else repr(spec.entry_point)),
        ("turn limit", "none known" if spec.max_turns is None else str(spec.max_turns)),
        ("return", "{} to {}".format(*spec.reward_range)),
        ("deterministic", "yes" if spec.deterministic else "no"),
        ("observations", ", ".join(spec.modalities)),
    ]
    if spec.multi_agent:
        facts.append(("agents", "several"))
    if spec.tags:
        facts.append(("tags", ", ".join(spec.tags)))
    if spec.deprecated_for:
        facts.append(("deprecated", f"use {spec.deprecated_for}"))
    facts.extend(
        (f"needs {name}", style(f"no: {missing[name]}", "red") if name in missing else style("there", "green"))
        for name in spec.requires
    )
    return facts


def _json(
    spec: EnvSpec, settings: dict[str, Any], missing: dict[str, str], problem: str | None, doc: str | None
) -> dict[str, Any]:
    entry = spec.entry_point if isinstance(spec.entry_point, str) else repr(spec.entry_point)
    return {
        **spec.replace(entry_point=entry).to_dict(),
        "options": {k: None if v is inspect.Parameter.empty else v for k, v in settings.items()},
        "required_options": [k for k, v in settings.items() if v is inspect.Parameter.empty],
        "unmet": missing,
        "problem": problem,
        "doc": doc,
    }
