"""Train a policy on an environment.

Settings come from a preset, then a TOML file, then the command line; later ones win.
Ctrl-C keeps a checkpoint; `gem train --resume FOLDER` goes on exactly where it stopped.

  gem train --preset quickstart
  gem train game:GuessTheNumber-v0-easy --algorithm ppo --gamma 0.9 --out runs/ppo
  gem train game:Sudoku-v0-easy --policy hf:./model --policy-option lora_rank=16
  gem train --config run.toml --steps 1000
"""

from __future__ import annotations

import argparse
import ast
import sys
from typing import Any, get_args, get_type_hints

from gem_rl.config import TrainConfig, defaults, preset, presets, read_toml
from gem_rl.errors import ConfigError, Interrupted, RunFolderError
from gem_rl.run_folder import RunFolder

help = "train a policy on an environment"

#: Settings with a form of their own on the command line.
_TABLES = {"env_options": "--env-option", "policy_options": "--policy-option"}
#: Option values in TOML's spelling.
_WORDS = {"true": True, "false": False, "none": None}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from dataclasses import fields

    parser.add_argument("env", nargs="?", metavar="ENV_ID", help="environment id, such as game:GuessTheNumber-v0-easy")
    parser.add_argument("--preset", metavar="NAME", help=f"settings that come with GEM: {', '.join(presets())}")
    parser.add_argument("--config", metavar="FILE", help="a TOML file of the settings below (with _ for -)")
    parser.add_argument("--out", metavar="FOLDER", help="run folder to make (default: the first free runs/NAME-N)")
    parser.add_argument(
        "--resume", metavar="FOLDER", help="go on with a run, bit for bit on a CPU; --steps may change, nothing else"
    )
    hints, default = get_type_hints(TrainConfig), defaults()
    group = parser.add_argument_group("settings")
    for setting in fields(TrainConfig):
        name, text = setting.name, setting.metadata["help"]
        if name == "env":
            continue
        if name in _TABLES:
            group.add_argument(
                _TABLES[name], action="append", metavar="NAME=VALUE", dest=name, help=f"{text}; may be repeated"
            )
            continue
        if default[name] not in (None, ""):
            text += f" (default: {str(default[name]).lower() if isinstance(default[name], bool) else default[name]})"
        flag = f"--{name.replace('_', '-')}"
        if hints[name] is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            kind = next(k for k in (get_args(hints[name]) or (hints[name],)) if k is not type(None))
            group.add_argument(flag, type=kind, metavar=kind.__name__.upper(), help=text.replace("%", "%%"))


def run(args: argparse.Namespace) -> int:
    from gem_rl.progress import Progress
    from gem_rl.run import check, run as train

    progress = Progress()
    if args.resume:
        folder, config = _resumed(args)
    else:
        config = _configured(args)
        check(config)
        folder = RunFolder.create(args.out or RunFolder.free("runs", args.preset or _name(config.env)), config)
    try:
        results = train(config, folder, progress)
    except Interrupted as stop:
        progress.say(str(stop))
        return 130
    except KeyboardInterrupt:
        progress.say(f"stopped at once; go on from the last checkpoint by `gem train --resume {folder.path}`")
        return 130
    progress.say(table(results))
    progress.say(
        f"curve     {folder.path / 'curve.png'}\nepisodes  {(folder.path / 'episodes.html').resolve().as_uri()}"
    )
    return 0


def table(results: dict[str, Any]) -> str:
    """The evaluation before and after as text; empty where there was none."""
    if any("turns" not in results.get(name, {}) for name in ("before", "after")):
        return ""
    limit = results.get("turn_limit")
    note = f"   a failure counts {limit} turns" if limit else ""
    lines = [f"held-out seeds    turns  success   reward{note}"]
    for name in ("before", "after"):
        row = results[name]
        success = f"{row['success']:8.1%}" if "success" in row else f"{'-':>8}"
        errored = f"   {row['errored']} errored, left out" if row.get("errored") else ""
        lines.append(f"{name:14} {row['turns']:8.2f} {success} {row['reward']:8.3f}{errored}")
    if results.get("best_turns") is not None:
        lines.append(f"{'optimum':14} {results['best_turns']:8.3f}")
    return "\n".join(lines)


def _configured(args: argparse.Namespace) -> TrainConfig:
    settings: dict[str, Any] = {}
    if args.preset:
        settings.update(preset(args.preset))
    if args.config:
        settings.update(TrainConfig.checked(read_toml(args.config), args.config))
    for name in defaults():
        value = getattr(args, name)
        if value is None:
            continue
        if name in _TABLES:
            value = {**settings.get(name, {}), **dict(_pair(text, _TABLES[name]) for text in value)}
        settings[name] = value
    return TrainConfig.from_dict(settings)


def _resumed(args: argparse.Namespace) -> tuple[RunFolder, TrainConfig]:
    given = [name for name in (*defaults(), "preset", "config", "out") if getattr(args, name) is not None]
    others = [name for name in given if name != "steps"]
    if others:
        flag = "ENV_ID" if others[0] == "env" else _TABLES.get(others[0], f"--{others[0].replace('_', '-')}")
        raise ConfigError(f"--resume goes on with the settings of the run; {flag} cannot change (only --steps can)")
    folder = RunFolder.open(args.resume)
    config = folder.config()
    if args.steps is not None and args.steps != config.steps:
        checkpoint = folder.checkpoint()
        if checkpoint is not None and args.steps < checkpoint["step"]:
            raise RunFolderError(
                f"{args.resume} has taken {checkpoint['step']} steps already: give --steps of at least that"
            )
        config = TrainConfig.from_dict({**config.to_dict(), "steps": args.steps})
        folder.write_config(config)
    return folder, config


def _pair(text: str, flag: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigError(f"{flag} takes NAME=VALUE, got {text!r}")
    if value.lower() in _WORDS:
        return name, _WORDS[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # plain text needs no quotes


def _name(env_id: str) -> str:
    """A folder name made of an id."""
    return "".join(c if c.isalnum() or c in "-." else "-" for c in env_id.partition(":")[2] or env_id)


def main() -> int:
    """``python -m gem_rl`` is ``gem train``."""
    from gem.cli import main as gem

    return gem(["train", *sys.argv[1:]])
