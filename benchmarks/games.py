"""Resets and steps a second of every game, and how hard the Sokoban rooms are, beside the published package.

    python benchmarks/games.py --published PATH/TO/PYTHON

Rates are by CPU time, without a seed. Steps are random moves that both packages read, the same stream for both; they
are timed by the episode, resets left out. The published package downloads two word lists when a word game is made;
here it finds files of the same lengths (850 and 236,736) with words of this repository, so that it can be measured at
all, offline, and reads them as it does its own. It has no WikiGame.

The difficulty of Sokoban rooms is what the A* solver of this repository finds in rooms of either package: the fewest
pushes, the moves of that solution, how often it changes from one box to another, and the share of rooms whose
solution fits in the turn limit.
"""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from _harness import Clock, Contender, Numbers, Row, main

SOURCES = Path(__file__).resolve().parents[1] / "packages/gem-games/src/gem_games"

#: Seconds of CPU for each rate; resets slower than that are counted until so many are done.
WARM_UP, SECONDS, SLOW_RESETS = 0.1, 0.2, 8

DIRECTIONS = ("up", "down", "left", "right")
LETTERS = "abcdefghijklmnopqrstuvwxyz"

#: Game -> a random move both packages read, from the environment's options.
MOVES: dict[str, Callable[[random.Random, Any], str]] = {
    "GuessTheNumber": lambda rng, env: str(rng.randint(env.min_number, env.max_number)),
    "Mastermind": lambda rng, env: " ".join(map(str, rng.sample(range(1, env.num_numbers + 1), env.code_length))),
    "Wordle": lambda rng, env: rng.choice(words(env.word_length)),
    "Sudoku": lambda rng, env: " ".join(str(rng.randint(1, env.scale)) for _ in range(3)),
    "Minesweeper": lambda rng, env: (
        f"{rng.choice(['reveal'] * 9 + ['flag'])} {rng.randrange(env.rows)} {rng.randrange(env.cols)}"
    ),
    "FifteenPuzzle": lambda rng, env: rng.choice(DIRECTIONS),
    "TowerofHanoi": lambda rng, env: " ".join(rng.sample("ABC", 2)),
    "Game2048": lambda rng, env: rng.choice(DIRECTIONS),
    "Sokoban": lambda rng, env: rng.choice(DIRECTIONS),
    "Hangman": lambda rng, env: rng.choice([*LETTERS, rng.choice(words(env.word_length))]),
    "Crosswords": lambda rng, env: f"{rng.randrange(8)} {rng.randrange(8)} {rng.choice(LETTERS)}",
    "WordSearch": lambda rng, env: " ".join(
        map(str, (row := rng.randrange(9), rng.randrange(9), row, rng.randrange(9)))
    ),
    "WikiGame": lambda rng, env: rng.choice(env.links),
}
#: Games that the published package does not have.
OURS_ALONE = ("WikiGame",)
LEVELS = ("easy", "hard")

#: How many times the published rate is asked for; steps of other games 1.5 times.
ASKED_RESETS = {
    "Sokoban-hard": 200,
    "Sudoku-hard": 25,
    "FifteenPuzzle-hard": 6,
    "Wordle-hard": 20,
    "WordSearch-hard": 150,
}
ASKED_STEPS = {"Minesweeper": 3.0, "Game2048": 3.0, "Sokoban": 3.0, "Crosswords": 3.0, "WordSearch": 3.0}


@cache
def words(length: int) -> list[str]:
    """The common words of this repository, for both sides."""
    return (SOURCES / f"data/words_{length}.txt").read_text().split("\n")[0].split()


def make(env_id: str) -> Any:
    import gem

    return gem.make(env_id)


@contextmanager
def word_lists() -> Iterator[None]:
    """Lay out files of words where the published package looks for what it has downloaded."""
    import nltk

    common = [word for length in range(3, 11) for word in words(length)]
    known = [word for path in sorted(SOURCES.glob("data/words_*.txt")) for word in path.read_text().split()]
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpora/words"
        corpus.mkdir(parents=True)
        (corpus / "en-basic").write_text("\n".join(rng.sample(common, 850)))
        (corpus / "en").write_text("\n".join(rng.choices(known, k=236_736)))
        nltk.data.path.insert(0, folder)
        nltk.download = lambda *_, **__: True
        yield


def reset_rate(env: Any) -> tuple[float, float]:
    """Resets a CPU second once what is kept has been made, and the longest reset in milliseconds of CPU."""
    longest = 0.0
    for seconds, least in ((WARM_UP, 1), (SECONDS, SLOW_RESETS)):
        count, spent = 0, 0.0
        while spent < seconds or count < least:
            batch = 1 if count < 20 else min(count, 500)
            before = time.process_time()
            for _ in range(batch):
                env.reset()
            passed = time.process_time() - before
            count += batch
            spent += passed
            longest = max(longest, passed / batch)
    return count / spent, 1e3 * longest


def step_rate(env: Any, move: Callable[[random.Random, Any], str]) -> float:
    """Steps a CPU second."""
    rng = random.Random(0)
    env.reset()
    base = getattr(env, "unwrapped", env)
    count, spent = 0, 0.0
    started = time.process_time()
    while spent < SECONDS and time.process_time() - started < 5 * SECONDS:
        actions = ["\\boxed{" + move(rng, base) + "}" for _ in range(64)]
        env.reset()
        step = env.step
        before = time.process_time()
        for action in actions:
            _, _, terminated, truncated, _ = step(action)
            count += 1
            if terminated or truncated:
                break
        spent += time.process_time() - before
    return count / spent


def rooms_module() -> ModuleType:
    """Our solver; it needs the standard library only, so that it runs in the published package's interpreter too."""
    spec = importlib.util.spec_from_file_location("sokoban_rooms", SOURCES / "sokoban_rooms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sokoban_rooms"] = module
    spec.loader.exec_module(module)
    return module


def difficulty(board: Callable[[], str], env: Any, rooms: int, seconds: float) -> Numbers:
    """Means over rooms of what the solver finds in them, at most so many and for so many CPU seconds."""
    module = rooms_module()
    pushes, moves, changes, fitting, resets = [], [], [], [], []
    started = time.process_time()
    while len(pushes) < rooms and time.process_time() - started < seconds:
        before = time.process_time()
        env.reset()
        resets.append(1e3 * (time.process_time() - before))
        cells = [line.split() for line in board().strip().split("\n")]
        sets = {"floor": 0, "targets": 0, "boxes": 0, "player": 0}
        for row, line in enumerate(cells):
            for column, mark in enumerate(line):
                bit = 1 << row * len(line) + column
                sets["floor"] |= bit * (mark != "#")
                sets["targets"] |= bit * (mark in "O*√S")
                sets["boxes"] |= bit * (mark in "X*√")
                sets["player"] |= bit * (mark in "PS")
        sets["player"] = sets["player"].bit_length() - 1
        room = module.Room(len(cells[0]), **sets, plan=b"")
        plan = module.solve(room)
        if plan is None:
            continue
        player, boxes, last, pushed, changed = room.player, room.boxes, -1, 0, 0
        for direction in plan:
            shift = (-room.width, room.width, -1, 1)[direction]
            player += shift
            if boxes >> player & 1:
                boxes ^= 1 << player | 1 << player + shift
                pushed += 1
                changed += player != last
                last = player + shift
        pushes.append(pushed)
        moves.append(len(plan))
        changes.append(changed)
        fitting.append(len(plan) <= env.max_turns)
    solved = len(pushes)
    return {
        "rooms": len(resets),
        "solved": solved / len(resets),
        "pushes": sum(pushes) / solved,
        "moves": sum(moves) / solved,
        "changes": sum(changes) / solved,
        "fitting": sum(fitting) / solved,
        "longest reset": max(resets),
    }


def measure(sokoban_seconds: float, board: str, left_out: tuple[str, ...] = ()) -> Numbers:
    numbers: Numbers = {}
    for game, move in MOVES.items():
        if game in left_out:
            continue
        for level in LEVELS:
            env = make(f"game:{game}-v0-{level}")
            numbers[f"reset {game}-{level}"], numbers[f"longest {game}-{level}"] = reset_rate(env)
            numbers[f"step {game}-{level}"] = step_rate(env, move)
    for level in LEVELS:
        env = make(f"game:Sokoban-v0-{level}")
        base = getattr(env, "unwrapped", env)
        found = difficulty(getattr(base, board), base, 60, sokoban_seconds)
        numbers |= {f"sokoban {level} {name}": value for name, value in found.items()}
    return numbers


def ours() -> Numbers:
    numbers = measure(5.0, "board")
    cold = {}
    for game in MOVES:
        clock = Clock()
        subprocess.run([sys.executable, "-c", f"import gem; gem.make('game:{game}-v0-easy')"], check=True)
        cold[game] = clock.cpu
    return {**numbers, "cold make": max(cold.values())}


def published() -> Numbers:
    with word_lists():
        return measure(45.0, "_render_board", OURS_ALONE)


def report(medians: dict[str, Numbers]) -> list[Row]:
    mine, theirs = medians["ours"], medians.get("published", {})
    rows = []
    for name, value in mine.items():
        kind, _, what = name.partition(" ")
        if kind not in ("reset", "step"):
            continue
        asked = ASKED_RESETS.get(what) if kind == "reset" else ASKED_STEPS.get(what.partition("-")[0], 1.5)
        measured = f"{value:,.0f} a second"
        if name not in theirs:
            rows.append(Row(name, measured))
            continue
        ratio = value / theirs[name]
        measured += f", published {theirs[name]:,.1f}: {ratio:,.1f} times"
        rows.append(Row(name, measured, f"{asked} times" if asked else "", ratio >= asked if asked else None))
    longest = max(value for name, value in mine.items() if name.startswith("longest") or "longest reset" in name)
    rows.append(Row("longest reset of any game", f"{longest:.1f} ms", "50 ms", longest <= 50))
    rows.append(Row("make a game in a cold process, the slowest", f"{mine['cold make']:.3f} s CPU", "0.15 s"))
    rows[-1].held = mine["cold make"] < 0.15
    for level in LEVELS:
        for side, numbers in medians.items():
            found = {
                key.rpartition(f"{level} ")[2]: n for key, n in numbers.items() if key.startswith(f"sokoban {level}")
            }
            text = (
                f"{found['pushes']:.1f} pushes, {found['changes']:.1f} changes of box, {found['moves']:.1f} moves, "
                f"{found['fitting']:.0%} in the turn limit, "
                f"{found['solved']:.0%} of {found['rooms']:.0f} rooms solved, "
                f"longest reset {found['longest reset']:,.0f} ms"
            )
            rows.append(Row(f"rooms of Sokoban-{level}, {side}", text))
    return rows


if __name__ == "__main__":
    main(
        "Games",
        {"ours": Contender(ours), "published": Contender(published, published=True)},
        report,
        repeats=1,
    )
