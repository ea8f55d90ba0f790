"""What the tests of TextArena's games share: one id a family, and playing on."""

from __future__ import annotations

import random
from importlib import util
from types import ModuleType

import gem
from gem_games.textarena.registry import Entry, entries

#: The first id of each family.
FIRST: list[Entry] = list({entry.family: entry for entry in reversed(list(entries()))}.values())[::-1]

#: Resets that take a tenth of a second and more.
SLOW = {"Sokoban", "RushHour"}


def missing(env_id: str) -> str | None:
    """Why an id cannot be made here, ``None`` where it can."""
    try:
        gem.make(env_id).close()
    except gem.MissingDependency as error:
        return str(error)
    return None


def copy_of(module: ModuleType) -> ModuleType:
    """A copy of one of TextArena's modules, for whose parts nothing of ours stands."""
    spec = util.spec_from_file_location(f"copy_of_{module.__name__}", module.__file__)
    copy = util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


def guess(env: gem.Env, rng: random.Random) -> str:
    """A guess at the current player's move, drawn from ``rng``."""
    inner = env.unwrapped
    return inner._match.some_action(inner._game.family.name, inner._match.current, rng)


def play(env: gem.Env, seed: int, steps: int = 25) -> list[str]:
    """What an episode shows, played with guesses that depend on nothing but the seed."""
    rng = random.Random(seed)
    shown = [repr(env.reset(seed=seed))]
    for _ in range(steps):
        action = guess(env, rng)
        shown.append(repr(env.step({env.active_agents()[0]: action} if env.spec.multi_agent else action)))
        if env._match.over:
            break
    return shown


#: The families that can be played here, without a word list, a key or another Python.
OFFLINE = [entry for entry in FIRST if missing(f"ta:{entry.id}") is None]
