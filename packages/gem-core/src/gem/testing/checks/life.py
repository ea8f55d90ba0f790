"""Closing, copying, saving and restoring an environment, and what it hands out."""

from __future__ import annotations

import contextlib
import copy
import pickle
from collections.abc import Callable
from typing import Any

from gem.env import Env
from gem.errors import StateNotSupported
from gem.testing.subject import Stop, Subject, describe
from gem.testing.trace import Trace, canonical, event, is_over


def closing(subject: Subject) -> None:
    """Close twice, close before reset, close by ``with``."""
    for what, reset in (("before reset", False), ("after an episode began", True)):
        env = subject.make()
        try:
            if reset:
                subject.reset(env, seed=subject.seed)
            for count in ("", " a second time"):
                what_now = f"close(){count} {what}"
                with subject.limited("close"):
                    env.close()
        except Stop:
            raise
        except Exception as error:
            subject.report("GEM501", f"{what_now} raised {describe(error)}")
            return
    env = subject.make()
    calls = []
    close = env.close
    try:
        with _instead(env, "close", lambda: calls.append(close())):
            with env as entered:
                pass
            if entered is not env:
                subject.report("GEM502", f"`with env as e` gave {entered!r}")
            elif not calls:
                subject.report("GEM502", "leaving `with env` did not call close")
    except Stop:
        raise
    except Exception as error:
        subject.report("GEM502", f"`with env` raised {describe(error)}")
    finally:
        subject.close(env)


@contextlib.contextmanager
def _instead(env: Any, name: str, function: Callable[..., Any]) -> Any:
    setattr(env, name, function)
    try:
        yield
    finally:
        with contextlib.suppress(AttributeError):
            delattr(env, name)


def copies(subject: Subject) -> None:
    """A copy made in mid-episode and its original go on identically."""
    _copied(subject, "GEM503", "pickled", lambda env: pickle.loads(pickle.dumps(env)))
    _copied(subject, "GEM504", "deep-copied", copy.deepcopy)


def _copied(subject: Subject, code: str, verb: str, function: Callable[[Env], Env]) -> None:
    for turn in sorted({0, len(subject.script) // 2}):
        with subject.fresh() as env:
            subject.play(env, subject.best_seed, subject.script[:turn])
            try:
                with subject.limited(verb):
                    twin = function(env)
            except StateNotSupported:
                return
            except Stop:
                raise
            except Exception as error:
                subject.report(code, f"it cannot be {verb}: {describe(error)}")
                return
            try:
                if not _same_future(subject, code, f"in a {verb} copy", twin, turn):
                    return
                if not _same_future(subject, code, f"in the original after a {verb} copy was played", env, turn):
                    return
            finally:
                subject.close(twin)


def _same_future(subject: Subject, code: str, where: str, env: Env, turn: int) -> bool:
    rest = subject.go_on(env, subject.script[turn:])
    if not subject.reproducible:
        return True
    return subject.compare(code, rest, where, expected=subject.reference[turn + 1 :], first_turn=turn + 1)


def states(subject: Subject) -> None:
    """A state goes back to its moment, in the same instance and in a fresh one, more than once."""
    turn = len(subject.script) // 2
    with subject.fresh() as env:
        subject.play(env, subject.best_seed, subject.script[:turn])
        try:
            with subject.limited("get_state"):
                state = env.get_state()
        except StateNotSupported:
            return
        except Stop:
            raise
        except NotImplementedError as error:
            subject.report("GEM506", f"get_state raised {describe(error)}")
            return
        except Exception as error:
            subject.report("GEM505", f"get_state raised {describe(error)}")
            return
        if not _same_future(subject, "GEM505", "in the original after get_state", env, turn):
            return
        for _ in range(2):  # playing on must not have changed the state that was saved
            if not _restored(subject, "after set_state in the same instance", env, state, turn):
                return
    with subject.fresh() as env:
        _restored(subject, "after set_state in a fresh instance", env, state, turn)


def _restored(subject: Subject, where: str, env: Env, state: Any, turn: int) -> bool:
    try:
        with subject.limited("set_state"):
            env.set_state(state)
    except Stop:
        raise
    except Exception as error:
        subject.report("GEM505", f"{where}: {describe(error)}")
        return False
    return _same_future(subject, "GEM505", where, env, turn)


def spawning(subject: Subject) -> None:
    """A spawned sibling plays the same, from the start and from the same moment."""
    turn = len(subject.script) // 2
    with subject.fresh() as env:
        subject.play(env, subject.best_seed, subject.script[:turn])
        for same in (False, True):
            try:
                with subject.limited("spawn"):
                    sibling = env.spawn(same_state=same)
            except StateNotSupported:
                continue
            except Stop:
                raise
            except Exception as error:
                if same and not subject.clean("GEM504", "GEM505", "GEM506"):
                    continue  # the state cannot be had, which was reported
                subject.report("GEM507", f"spawn(same_state={same}) raised {describe(error)}")
                return
            try:
                if sibling is env or type(sibling) is not type(env):
                    subject.report("GEM507", f"spawn gave {'itself' if sibling is env else type(sibling).__name__}")
                    return
                if same and subject.clean("GEM505", "GEM506"):
                    _same_future(subject, "GEM507", "in a sibling spawned with same_state=True", sibling, turn)
                elif not same:
                    trace = subject.play(sibling, subject.best_seed, subject.script)
                    if subject.reproducible:
                        subject.compare("GEM507", trace, "in a spawned sibling")
            finally:
                subject.close(sibling)


def aliases(subject: Subject) -> None:
    """What was returned belongs to the caller."""
    with subject.fresh() as env:
        held: list[tuple[int, str, Any, str]] = []
        result: tuple[Any, ...] = subject.reset(env, seed=subject.best_seed)
        for turn, action in enumerate([None, *subject.script]):
            if turn:
                result = subject.step(env, action)
            held += [(turn, name, value, canonical(value)) for name, value in _handed_out(result)]
            if turn and is_over(result):
                break
        for turn, name, value, then in held:
            if canonical(value) != then:
                subject.report("GEM508", f"the {name} of {f'turn {turn}' if turn else 'the reset'} changed later")
                break
    if not subject.reproducible:
        return
    with subject.fresh() as env:
        trace: Trace = []
        result = subject.reset(env, seed=subject.best_seed)
        try:
            for turn, action in enumerate([None, *subject.script]):
                if turn:
                    with subject.limited("step"):
                        result = env.step(action)
                trace.append(event(result))
                for _, value in _handed_out(result):
                    _spoil(value)
                if turn and is_over(result):
                    break
        except Stop:
            raise
        except Exception as error:
            subject.report("GEM509", f"after the caller changed what was returned, step raised {describe(error)}")
            return
        subject.compare("GEM509", trace, "after the caller changed what was returned")
        again = subject.play(env, subject.best_seed, subject.script)  # an attribute may live across episodes
        if subject.clean("GEM404"):
            subject.compare("GEM509", again, "in the episode after the caller changed what was returned")


def _handed_out(result: tuple[Any, ...]) -> list[tuple[str, Any]]:
    return [("observation", result[0]), ("info", result[-1])]


def _spoil(value: Any) -> None:
    """Change everything that can be changed in a value, from the inside out."""
    if isinstance(value, dict):
        for item in value.values():
            _spoil(item)
        value.clear()
        value["spoilt"] = True
    elif isinstance(value, list):
        for item in value:
            _spoil(item)
        value[:] = ["spoilt"]
