"""Keeping TextArena's games to one instance's randomness, and off the network.

Its games draw from the global generators of ``random`` and ``numpy``, and seed them. Here the names ``random`` and
``numpy`` *in TextArena's modules* stand for objects that draw from the generator of the instance that plays, and from
the global ones where none does: the global generators are neither read nor written, and threads do not meet.

Sokoban keeps what it works out in variables of its module: :mod:`gem_games.textarena.sokoban` stands for that.

Its word games download lists from the network when imported. Here a list that is not on this machine is an error.
"""

from __future__ import annotations

import functools
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from gem.errors import MissingDependency
from gem_games.textarena import sokoban, sudoku

_playing: ContextVar[random.Random | None] = ContextVar("gem_games_textarena_generator", default=None)


@contextmanager
def drawing_from(rng: random.Random) -> Iterator[None]:
    """Let TextArena's games draw from ``rng`` in this block, in this thread only."""
    token = _playing.set(rng)
    try:
        yield
    finally:
        _playing.reset(token)


class _Module:
    """Stands for a module within TextArena's modules; what is not replaced is the module's own."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


#: The hidden global generator of ``random``.
_GLOBAL: Any = random.seed.__self__  # type: ignore[attr-defined]


class _Random(_Module):
    #: The functions of ``random`` that are methods of its hidden global generator.
    _drawing = frozenset(n for n in dir(random) if getattr(getattr(random, n), "__self__", None) is _GLOBAL)

    def __getattr__(self, name: str) -> Any:
        rng = _playing.get()
        return getattr(random if rng is None or name not in self._drawing else rng, name)


class _NumpyRandom(_Module):
    def __getattr__(self, name: str) -> Any:
        rng = _playing.get()
        state = self._module.mtrand._rand  # the hidden global generator: its methods are the module's functions
        if rng is None or getattr(getattr(self._module, name), "__self__", None) is not state:
            return getattr(self._module, name)
        # A generator a draw: few games draw from numpy, and so there is no second state to keep.
        return getattr(self._module.RandomState(rng.getrandbits(32)), name)


class _Numpy(_Module):
    def __init__(self, module: ModuleType) -> None:
        super().__init__(module)
        self.random = _NumpyRandom(module.random)


class _Nltk(_Module):
    def __init__(self, module: ModuleType) -> None:
        super().__init__(module)
        self.download = functools.partial(_on_this_machine, module)


def _print(*args: Any, **kwargs: Any) -> None:
    """What stands for ``print``: a game that is played here leaves standard output alone."""
    if _playing.get() is None:
        print(*args, **kwargs)


def _on_this_machine(nltk: Any, names: Any = (), *_: Any, **__: Any) -> bool:
    """What stands for ``nltk.download``: say what is missing, never fetch it."""
    for name in [names] if isinstance(names, str) else names:
        places = [f"{kind}/{name}{end}" for kind in ("corpora", "taggers", "tokenizers") for end in ("", ".zip")]
        if not any(_found(nltk, place) for place in places):
            raise MissingDependency(missing_list(name))
    return True


def _found(nltk: Any, place: str) -> bool:
    try:
        nltk.data.find(place)
    except LookupError:
        return False
    return True


def missing_list(name: str) -> str:
    """What is wrong, and what to do, where a list of nltk is missing."""
    return f"nltk's {name!r} is not on this machine: python -m nltk.downloader {name}"


_lock = threading.RLock()
_done: set[str] = set()


@contextmanager
def importing() -> Iterator[None]:
    """Import modules of TextArena in this block: nothing is downloaded, and they are isolated afterwards.

    Raises:
        gem.MissingDependency: a module wants a list of nltk that is not on this machine.
    """
    import nltk

    with _lock:
        download = nltk.download
        nltk.download = functools.partial(_on_this_machine, nltk)
        state = random.getstate()
        try:
            yield
        finally:
            nltk.download = download
            if random.getstate() != state:
                random.setstate(state)
            isolate()


def isolate(game: str = "") -> None:
    """Put the stand-ins into every module of TextArena, and that of a game of one's own, that has none yet."""
    for name, module in list(sys.modules.items()):
        if module is None or name in _done or not (name == game or (name + ".").startswith("textarena.")):
            continue
        _done.add(name)
        vars(module).setdefault("print", _print)
        for key, value in list(vars(module).items()):
            if value is random:
                setattr(module, key, _Random(random))
            elif isinstance(value, ModuleType) and value.__name__ == "numpy":
                setattr(module, key, _Numpy(value))
            elif isinstance(value, ModuleType) and value.__name__ == "nltk":
                setattr(module, key, _Nltk(value))
            elif key == "EnglishDictionary" and isinstance(value, type) and name != value.__module__:
                setattr(module, key, _cached(value))  # a game is built anew each episode; its dictionary is not
        _quicken(name, module)


def _quicken(name: str, module: Any) -> None:
    """Put what finds the same in less time in place of searches that keep a reset waiting."""
    if name == "textarena.envs.Sokoban.utils":
        module.reverse_playing = sokoban.reverse_playing
    elif name == "textarena.envs.Sudoku.env":
        module.SudokuEnv._remove_cells = sudoku.remover(module.random)


@functools.cache
def _cached(kind: Any) -> Any:
    kind.__deepcopy__ = lambda self, memo: self  # it never changes, and is large
    return functools.cache(kind)
