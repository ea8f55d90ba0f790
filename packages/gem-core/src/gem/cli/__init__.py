"""The ``gem`` command: one subcommand a module, imported when it is used.

A subcommand is a module (or any object) with two functions::

    def add_arguments(parser: argparse.ArgumentParser) -> None: ...
    def run(args: argparse.Namespace) -> int: ...      # the exit code

Plugins add their own through the entry-point group ``gem.commands``; those also carry a one-line string ``help``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

#: The subcommands of gem-core: name -> (module, one line of help). No module may be called like a builtin: once
#: imported, a submodule is a name in this one.
COMMANDS = {
    "list": ("gem.cli.listing", "list the installed environments"),
    "info": ("gem.cli.info", "show one environment: options, provider, requirements"),
    "play": ("gem.cli.play", "play an environment in this terminal"),
    "check": ("gem.cli.check", "run the conformance checks over environments"),
    "doctor": ("gem.cli.doctor", "look for what is broken in this installation"),
    "new-plugin": ("gem.cli.new_plugin", "start a package with an environment of your own"),
}

#: Subcommands of other packages of the project -> what brings them, for the error message where it is missing.
KNOWN_PROVIDERS = {"train": "gem-rl", "mcp": "'gem-tools[mcp]'", "search": "'gem-tools[search]'"}

#: Exit codes: wrong use or bad input; ended by Ctrl-C; the reader of a pipe went away.
USAGE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


class UsageError(Exception):
    """The command line was wrong; the message is shown in one line."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (of the process, by default) and return the exit code.

    Errors are one line on standard error and exit code 2; ``GEM_TRACEBACK=1`` shows where they came from.
    """
    import warnings

    from gem.errors import GemError, PluginWarning

    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PluginWarning)  # the subcommands show broken plugins themselves
            code = _dispatch(arguments)
        sys.stdout.flush()  # a reader that went away is noticed here, not while the interpreter shuts down
        return code
    except SystemExit as exit_:  # argparse, after --help
        return exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print("\ngem: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (UsageError, GemError, TypeError, ValueError, OSError) as error:
        if os.environ.get("GEM_TRACEBACK") == "1":
            raise
        print(f"gem: {' '.join(_text(error).split()) or type(error).__name__}", file=sys.stderr)
        return USAGE


def _text(error: Exception) -> str:
    """What an error says; of one of the file system the file first, and no number."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if arguments[0] in ("-V", "--version"):
        import gem

        print(f"gem-core {gem.__version__}")
        return 0
    name = arguments[0]
    command = load_command(name)
    parser = Parser(prog=f"gem {name}", description=command.__doc__, formatter_class=argparse.RawTextHelpFormatter)
    command.add_arguments(parser)
    return int(command.run(parser.parse_args(arguments[1:])) or 0)


def load_command(name: str) -> Any:
    """The module or object of a subcommand.

    Raises:
        UsageError: there is none of that name; the message suggests a near one.
        gem.PluginError: the plugin that brings it is broken.
    """
    from importlib import import_module

    if name in COMMANDS:
        return import_module(COMMANDS[name][0])
    if name.startswith("-"):
        raise UsageError(f"there is no option {name!r} before the subcommand; see `gem --help`")
    from gem.plugins import manager

    command = manager().load_named("gem.commands", name)
    if command is None:
        import difflib

        if name in KNOWN_PROVIDERS:
            raise UsageError(f"no installed package provides `gem {name}`: pip install {KNOWN_PROVIDERS[name]}")
        near = difflib.get_close_matches(name, [*COMMANDS, *manager().names("gem.commands")], n=1)
        hint = f"did you mean `gem {near[0]}`?" if near else "`gem --help` lists what there is"
        raise UsageError(f"there is no subcommand {name!r}; {hint}")
    return command


def _help() -> str:
    """The text of ``gem --help``."""
    from gem.plugins import manager

    lines = {name: text for name, (_, text) in COMMANDS.items()}
    for name in manager().names("gem.commands"):
        lines.setdefault(name, _line_of_help(name))
    width = max(map(len, lines))
    table = "\n".join(f"  {name:{width}}  {text}" for name, text in lines.items())
    return (
        "usage: gem COMMAND [ARGUMENTS]\n\n"
        "A gym for language-model agents. `gem COMMAND --help` explains one command.\n\n"
        f"{table}\n\n"
        "options:\n  --version  show the version\n  --help     show this text"
    )


def _line_of_help(name: str) -> str:
    """What a plugin's command says about itself in one line; a broken one says that.

    The line ``help = "..."`` is read from the module's source: importing it could take seconds.
    """
    import ast
    from importlib.util import find_spec

    from gem.errors import PluginError
    from gem.plugins import manager

    modules = [e.value for e in manager().entry_points("gem.commands") if e.name == name]
    try:
        found = find_spec(modules[0]) if len(modules) == 1 and ":" not in modules[0] else None
        source = getattr(found.loader, "get_source", lambda _: None)(modules[0]) if found is not None else None
        for node in ast.parse(source or "").body:
            if isinstance(node, ast.Assign) and [getattr(t, "id", "") for t in node.targets] == ["help"]:
                return str(ast.literal_eval(node.value))
    except Exception:  # whatever is wrong with it, loading it says so better
        pass
    try:
        return str(getattr(load_command(name), "help", ""))
    except PluginError as error:
        return f"broken: {' '.join(str(error).split())}"
