"""Show what an agent sees of MCP servers: `gem mcp list CONFIG`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from gem_tools.mcp.tool import MCPTool

help = "show the tools of MCP servers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the tools, as an agent sees them")
    listing.add_argument(
        "config", nargs="?", help="a JSON file with mcpServers, or a server's URL (default: the variable GEM_MCP)"
    )
    listing.add_argument("--auth", metavar="TOKEN", help="with a URL: a bearer token")
    listing.add_argument("--timeout", type=float, default=30.0, help="seconds to connect (default: 30)")
    listing.add_argument("--json", action="store_true", help="the schemas, as chat templates take them")


def run(args: argparse.Namespace) -> int:
    tool = MCPTool(args.config, args.auth, connect_timeout=args.timeout)
    try:
        functions = tool.functions()
    finally:
        tool.close()
    if args.json:
        print(json.dumps([{"type": "function", "function": function} for function in functions], indent=2))
        return 0
    from gem.cli.output import count, style

    for function in functions:
        print(f"{style(function['name'], 'bold')}({_signature(function['parameters'])})")
        for line in function["description"].strip().splitlines():
            print(f"    {line}".rstrip())
        for name, schema in (function["parameters"].get("properties") or {}).items():
            if isinstance(schema, dict) and schema.get("description"):
                print(f"    {name}: {' '.join(schema['description'].split())}")
    print(f"{count(len(functions), 'tool')} of {count(len(tool.servers), 'server')}")
    return 0


def _signature(schema: dict[str, Any]) -> str:
    """``a: integer, b: string = "x"``; optional ones without a default end in ``?``."""
    required = schema.get("required") or ()
    parts = []
    for name, field in (schema.get("properties") or {}).items():
        kind = _kind(field if isinstance(field, dict) else {})
        if name in required:
            parts.append(f"{name}: {kind}")
        elif isinstance(field, dict) and field.get("default") is not None:
            parts.append(f"{name}: {kind} = {json.dumps(field['default'], ensure_ascii=False)}")
        else:
            parts.append(f"{name}?: {kind}")
    return ", ".join(parts)


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(option, ensure_ascii=False) for option in schema["enum"])
    if isinstance(schema.get("type"), list):
        return " | ".join(map(str, schema["type"]))
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            return " | ".join(dict.fromkeys(_kind(option) for option in schema[keyword] if isinstance(option, dict)))
    return str(schema.get("type", "any"))
