"""Check who may import whom (the rules of CONTRIBUTING.md), by reading every import statement.

    python tools/layering.py [PACKAGE ...]

Prints a line for each breach and exits with 1 when there is one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from packages import ROOT, Package, requirement_name, select

#: Imports that a distribution's name does not tell.
MODULES_OF = {
    "math-verify": {"math_verify"},
    "reasoning-gym": {"reasoning_gym"},
    "pillow": {"PIL"},
    "pyyaml": {"yaml"},
    "prometheus-client": {"prometheus_client"},
}

#: Rule 1: all that gem-core may import.
CORE_MAY_IMPORT = {"gem", "gem_launcher", "numpy", "pluggy", "importlib_metadata"}
#: What an environment defined in a script is pickled with, where it is installed.
CORE_VECTOR_MAY_IMPORT = CORE_MAY_IMPORT | {"cloudpickle"}
#: Loading a data set by name imports these where they are installed, and says so where they are not.
CORE_DATASET_MAY_IMPORT = CORE_MAY_IMPORT | {"datasets", "huggingface_hub"}
#: gem.testing plugs into the test runner that is running it.
CORE_TESTING_MAY_IMPORT = CORE_MAY_IMPORT | {"pytest"}
CORE_EXCEPTIONS = {
    "dataset": CORE_DATASET_MAY_IMPORT,
    "testing": CORE_TESTING_MAY_IMPORT,
    "vector": CORE_VECTOR_MAY_IMPORT,
}

#: Rule 2: siblings an environment package may import.
ENVIRONMENT_MAY_IMPORT = {"gem-code": {"gem", "gem_tools"}, "gem-reasoning": {"gem", "gem_tools"}}


def imports(tree: ast.AST) -> Iterator[tuple[int, str, list[str]]]:
    """Line, module and names of every absolute import, those inside functions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, []
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module, [alias.name for alias in node.names]


def breaches(package: Package, siblings: dict[str, str]) -> Iterator[str]:
    """Each breach as ``file:line: what is wrong``. ``siblings``: import name -> distribution."""
    own = package.import_name
    declared = {own}
    extras = package.pyproject["project"].get("optional-dependencies", {})
    for requirement in [*package.requirements, *(r for group in extras.values() for r in group)]:
        name = requirement_name(requirement)
        declared |= MODULES_OF.get(name, {name.replace("-", "_")})
        declared |= {module for module, dist in siblings.items() if dist == name}

    is_environment = package.pyproject["project"].get("entry-points", {}).get("gem.envs") is not None
    for path in sorted(package.source.rglob("*.py")):
        where = path.relative_to(ROOT)
        inside = path.relative_to(package.source)
        if "templates" in inside.parts:  # rendered for others, not imported here
            continue
        for line, module, names in imports(ast.parse(path.read_text(), str(path))):
            top = module.partition(".")[0]
            if top in sys.stdlib_module_names:
                continue
            problem = None
            if own == "gem":
                allowed = CORE_EXCEPTIONS.get(inside.parts[0], CORE_MAY_IMPORT)
                if top not in allowed:
                    problem = f"gem-core may not import {top}"
                elif module.startswith("gem.testing") and inside.parts[0] not in ("testing", "cli"):
                    problem = "runtime code may not import gem.testing"
            elif module.startswith("gem.testing"):
                problem = "runtime code may not import gem.testing"
            elif inside.name == "plugin.py" and top not in ("gem", own):
                problem = f"plugin.py may import gem and the standard library only, not {top}"
            elif (
                is_environment
                and top in siblings
                and top not in {own} | ENVIRONMENT_MAY_IMPORT.get(package.name, {"gem"})
            ):
                problem = f"an environment package may not import {top}"
            elif package.name == "gem-rl" and top in siblings and top not in {own, "gem"}:
                problem = f"{package.name} reaches environments by id only, it may not import {top}"
            elif top not in declared:
                problem = f"imports {top}, which {package.name} does not declare"
            private = [part for part in (*module.split("."), *names) if part.startswith("_") and part != "__version__"]
            if problem is None and top in siblings and top != own and private:
                problem = f"{private[0]} is private to {top}"
            if problem is not None:
                yield f"{where}:{line}: {problem}"


def main(names: list[str]) -> int:
    siblings = {p.import_name: p.name for p in select([])}
    found = [line for package in select(names) for line in breaches(package, siblings)]
    for line in found:
        print(line)
    print(f"layering: {len(found)} breaches in {len(select(names))} packages")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
