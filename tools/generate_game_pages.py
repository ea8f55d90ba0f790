"""Write ``docs/games/``: a page for each game, from its class, its ids and an episode that its solver plays.

python tools/generate_game_pages.py            write the pages
python tools/generate_game_pages.py --check    fail if they are not what would be written
"""

from __future__ import annotations

import argparse
import inspect
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import gem
from gem.registry import load_entry_point

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "games"

#: Turns shown from the beginning and from the end of the sample episode.
FIRST, LAST = 4, 2


def game_name(spec: gem.EnvSpec) -> str:
    """``game:Wordle-v0-easy`` -> ``Wordle``."""
    return spec.id.partition(":")[2].partition("-")[0]


def markdown(text: str) -> str:
    """A docstring as Markdown."""
    return text.replace("``", "`")


def docstring(cls: type) -> tuple[str, list[tuple[str, str]]]:
    """What a class says about itself, and its options with their descriptions."""
    text = inspect.cleandoc(cls.__doc__ or "")
    about, _, rest = text.partition("\nArgs:\n")
    options: list[tuple[str, str]] = []
    for line in rest.partition("\n\n")[0].split("\n"):
        name, colon, description = line.strip().partition(": ")
        if line.startswith("    ") and not line.startswith("     ") and colon:
            options.append((name, description))
        elif options:
            options[-1] = (options[-1][0], f"{options[-1][1]} {line.strip()}")
    return about.strip(), options


def fenced(text: str) -> str:
    return f"```text\n{text}\n```\n"


def shown(value: Any) -> str:
    return "drawn" if value is None else " x ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def sample_episode(spec: gem.EnvSpec) -> str:
    """An episode of an id, seed 0, by the solver or, without one, at random."""
    env: Any = gem.make(spec)
    observation, info = env.reset(seed=0)
    try:
        env.solve()
        player, policy = "its solver", env.solve
    except NotImplementedError:
        player, policy = "random moves, as it has no solver", env.sample_random_action
    turns = []
    total, ended = 0.0, False
    while not ended:
        action = policy()
        answer, reward, terminated, truncated, after = env.step(action)
        total += reward
        ended = terminated or truncated
        turns.append((action, "\n".join(part for part in (answer, after.get("suffix", "")) if part), reward))
    parts = [f"What the agent reads first (`{spec.id}`, seed 0):\n", fenced(f"{observation}\n{info['suffix']}")]
    parts.append(f"An episode by {player}:\n")
    left_out = len(turns) - FIRST - LAST
    for number, (action, answer, reward) in enumerate(turns):
        if left_out > 0 and FIRST <= number < FIRST + left_out:
            if number == FIRST:
                parts.append(f"*({left_out} turns left out)*\n")
            continue
        parts.append(f"Turn {number + 1}: `{action}`, reward {reward:.3g}\n")
        parts.append(fenced(answer))
    outcome = "won" if after["success"] else "cut off" if truncated else "lost"
    parts.append(f"The episode is {outcome} after {len(turns)} turns, with {total:.3g} in total.\n")
    return "\n".join(parts)


def page(name: str, specs: list[gem.EnvSpec]) -> str:
    cls = load_entry_point(specs[0])
    about, options = docstring(cls)  # type: ignore[arg-type]
    lines = [f"# {name}\n", markdown(about) + "\n", "## Ids\n"]
    columns = list(dict.fromkeys(key for spec in specs for key in spec.kwargs))
    lines.append("| id | " + " | ".join(f"`{column}`" for column in columns) + " |")
    lines.append("|---|" + "---|" * len(columns))
    for spec in specs:
        values = [shown(spec.kwargs[column]) if column in spec.kwargs else "" for column in columns]
        lines.append(f"| `{spec.id}` | " + " | ".join(values) + " |")
    lines += ["\n## Options\n", "| option | default | meaning |", "|---|---|---|"]
    defaults = inspect.signature(cls).parameters
    for option, description in options:
        lines.append(f"| `{option}` | `{defaults[option].default!r}` | {markdown(description)} |")
    lines.append("")
    played = [spec for spec in specs if not spec.requires]
    if played:
        lines += ["## Sample\n", sample_episode(played[0])]
    return "\n".join(lines)


def index(games: dict[str, list[gem.EnvSpec]]) -> str:
    lines = [
        "# Games\n",
        "Text games of `gem-games`. Each is generated from its seed, works offline, and is played by writing a move as",
        "`\\boxed{...}`; the last box of a response counts. Success earns 1.0 in total, a move that is not allowed",
        '0.0, a response without a readable move -0.1, which ends the episode unless `format_error="continue"`.\n',
        "| game | what it is | levels |",
        "|---|---|---|",
    ]
    for name, specs in games.items():
        levels = ", ".join(spec.id.rpartition("-v0-")[2] for spec in specs)
        lines.append(f"| [{name}]({name}.md) | {specs[0].description} | {levels} |")
    lines += ["\n```{toctree}", ":hidden:", *games, "```\n"]
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Every file of the folder and its content."""
    found = sorted(gem.specs("game"), key=lambda spec: spec.id)
    games = {name: list(specs) for name, specs in groupby(found, game_name)}
    content = {FOLDER / f"{name}.md": page(name, specs) for name, specs in games.items()}
    content[FOLDER / "index.md"] = index(games)
    return content


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write docs/games/ from the games.")
    parser.add_argument("--check", action="store_true", help="only say whether the pages are up to date")
    check = parser.parse_args(arguments).check
    content = pages()
    stale = [path for path, text in content.items() if not path.exists() or path.read_text() != text]
    stale += [path for path in FOLDER.glob("*.md") if path not in content]
    if check:
        for path in stale:
            print(f"{path.name} is not up to date: python tools/generate_game_pages.py", file=sys.stderr)
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in stale:
        if path in content:
            path.write_text(content[path])
        else:
            path.unlink()
    print(f"{len(stale)} of {len(content)} pages written to {FOLDER}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
