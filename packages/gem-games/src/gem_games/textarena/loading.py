"""From an id of TextArena to what builds the game, and clear errors where something it needs is missing."""

from __future__ import annotations

import copy
import difflib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import textarena

from gem.errors import MissingDependency, PluginError
from gem_games.textarena.families import REUSED, UNORDERED, Family, family
from gem_games.textarena.isolation import importing, isolate, missing_list
from gem_games.textarena.registry import entry_of
from gem_games.textarena.views import View, view_of

#: Characters of an action that reach a game, the last ones: some search with patterns that take the square of them.
LONGEST = 10_000


@dataclass(frozen=True)
class Game:
    """What builds one game of TextArena."""

    id: str
    family: Family
    make: Callable[..., Any]
    #: The options of this id.
    kwargs: dict[str, Any]
    #: What shows a player its messages.
    view: type[View]
    #: TextArena's wrappers that change an action before the game sees it, outermost first.
    action_wrappers: tuple[type, ...]

    def build(self, options: dict[str, Any]) -> Any:
        """A game, not yet begun.

        Raises:
            gem.MissingDependency: a key, a package or a word list is missing.
            TypeError: it has no such option.
        """
        self._check(options)
        with _explained(self.id):
            game = self.make(**{**self.kwargs, **options})
        game.env_id = self.id  # as TextArena's own make does
        if self.family.name in UNORDERED:
            name = UNORDERED[self.family.name]
            setattr(game, name, sorted(getattr(game, name)))
        return game

    def begin(self, built: Any, options: dict[str, Any], num_players: int, seed: int) -> Any:
        """A game at its first move.

        It is built anew, as some games keep what the last episode left, or draw when they are built; ``built`` is
        where that takes long and is not so.

        Raises:
            ValueError: it is not for that many players.
            gem.MissingDependency: see :meth:`build`.
        """
        game = copy.copy(built) if self.family.name in REUSED else self.build(options)
        with _explained(self.id):
            try:
                game.reset(num_players=num_players, seed=seed)
            except AssertionError as error:
                raise ValueError(f"'ta:{self.id}': {error}") from error
        return game

    def try_out(self, built: Any, options: dict[str, Any], num_players: int) -> None:
        """Begin a game and act once, so that one that cannot be played says so when it is made.

        Raises:
            ValueError: it is not for that many players.
            gem.MissingDependency: it lacks something, or is broken in the installed TextArena.
        """
        game = self.begin(built, options, num_players, seed=0)
        try:
            game.step(action=self.read(""))
        except Exception as error:
            raise MissingDependency(_broken(self.id, f"{type(error).__name__}: {error}")) from error

    def _check(self, options: dict[str, Any]) -> None:
        known = inspect.signature(self.make).parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
            return
        for name in options:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                listing = ", ".join([*([] if self.family.single else ["num_players"]), *known])
                raise TypeError(f"'ta:{self.id}' has no option {name!r}{hint} (options: {listing})")

    def read(self, action: str) -> str:
        """An action as TextArena's wrappers hand it to the game, its last :data:`LONGEST` characters."""
        action = action[-LONGEST:]
        for wrapper in self.action_wrappers:
            action = wrapper(None).action(action)
        return action


@cache
def load(game_id: str) -> Game:
    """The game of an id of TextArena, imported.

    Raises:
        gem.MissingDependency: a package, a newer Python or a word list is missing, or its module is broken.
        gem.PluginError: the installed TextArena has no such id.
    """
    registry = import_module("textarena.envs.registration").ENV_REGISTRY
    if game_id not in registry:
        raise PluginError(f"TextArena {textarena.__version__} has no {game_id!r}: pip install --upgrade textarena")
    entry = registry[game_id]
    make = entry.entry_point
    if isinstance(make, str):
        module_name, _, name = make.partition(":")
        with _explained(game_id), importing():
            make = getattr(import_module(module_name), name)
    isolate(make.__module__)
    wrappers = entry.default_wrappers or []
    actions = tuple(w for w in reversed(wrappers) if issubclass(w, textarena.ActionWrapper))
    return Game(game_id, family(entry_of(entry)), make, dict(entry.kwargs), view_of(wrappers), actions)


_RESOURCE = re.compile(r"Resource\s+(?:\x1b\[\d+m)?'?([\w-]+)")


def _broken(game_id: str, cause: str) -> str:
    return (
        f"'ta:{game_id}' needs another version of textarena than {textarena.__version__}, where it is broken: "
        + " ".join(cause.split())
    )


@contextmanager
def _explained(game_id: str) -> Iterator[None]:
    """Turn what a missing thing raises inside TextArena into one line that says what to do."""
    try:
        yield
    except MissingDependency as error:
        raise MissingDependency(f"'ta:{game_id}': {error}") from error
    except SyntaxError as error:
        place = f"{(error.filename or '').rpartition('textarena/')[2]}, line {error.lineno}"
        if sys.version_info < (3, 12) and "f-string" in str(error.msg):
            raise MissingDependency(
                f"'ta:{game_id}' needs Python 3.12 or newer, as TextArena {textarena.__version__} does ({place})"
            ) from error
        raise MissingDependency(_broken(game_id, f"{error.msg} ({place})")) from error
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "textarena":
            raise MissingDependency(_broken(game_id, str(error))) from error
        raise MissingDependency(f"'ta:{game_id}' needs the module {name!r}: pip install {name}") from error
    except LookupError as error:
        missing = _RESOURCE.search(str(error))
        if missing is None:
            raise
        raise MissingDependency(f"'ta:{game_id}': {missing_list(missing[1])}") from error
    except OSError as error:
        raise MissingDependency(_broken(game_id, f"{type(error).__name__}: {error}")) from error
    except (ImportError, ValueError) as error:
        if "OPENROUTER_API_KEY" in str(error):
            raise MissingDependency(
                f"'ta:{game_id}' asks a language model over OpenRouter: set OPENROUTER_API_KEY, pip install openai"
            ) from error
        if isinstance(error, ImportError):
            raise MissingDependency(f"'ta:{game_id}': {' '.join(str(error).split())}") from error
        raise
