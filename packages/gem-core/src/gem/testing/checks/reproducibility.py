"""The same seed and actions give the same episode, wherever it is played."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

from gem.testing import footprint
from gem.testing.agents import is_multi_agent
from gem.testing.guard import Hang, time_limit
from gem.testing.replay import replay_elsewhere
from gem.testing.subject import Stop, Subject, describe
from gem.testing.trace import Trace, event, is_over, play, raised


def global_generators(subject: Subject) -> None:
    """The global generators have no influence, and feel none."""
    runs = []
    for seed in (1, 2):
        with footprint.global_generators(seed) as states, subject.fresh() as env:
            subject.play(env, subject.best_seed, subject.script)
        runs.append(states)
    for name in footprint.GENERATORS:
        one, other = (states[name] for states in runs)
        if one.before == one.after and other.before == other.after:
            continue
        # Who draws leaves a state that depends on the one it found; who seeds leaves the same one each time.
        if one.after != other.after:
            subject.report("GEM401", f"an episode draws from the global generator of {name}")
        else:
            subject.report("GEM402", f"an episode seeds the global generator of {name}")
        subject.reproducible = False


def same_seed(subject: Subject) -> None:
    """Two fresh instances, the same seed and actions, one episode."""
    if not subject.reproducible:
        return
    for seed in subject.seeds:
        with subject.fresh() as env:
            trace = subject.play(env, seed, subject.scripts[seed])
        if not subject.compare(
            "GEM403", trace, "in a second instance with the same seed", expected=subject.references[seed]
        ):
            subject.reproducible = False
            return


def random_actions(subject: Subject) -> None:
    """Random actions are the same after the same seed, whatever the global generators do."""
    if not subject.reproducible or not subject.clean("GEM306"):
        return
    drawn = []
    touched: set[str] = set()
    for seed in (1, 2):
        with footprint.global_generators(seed) as states, subject.fresh() as env:
            drawn.append(_draw(subject, env))
        touched.update(name for name, state in states.items() if state.before != state.after)
    if touched:
        subject.report("GEM307", f"sample_random_action drew from the global {' and '.join(sorted(touched))}")
    elif drawn[0] != drawn[1]:
        subject.report("GEM307", "after the same seed sample_random_action returns other actions")


def _draw(subject: Subject, env: Any) -> list[Any]:
    actions: list[Any] = []
    if is_multi_agent(env):
        return actions
    subject.reset(env, seed=subject.best_seed)
    with contextlib.suppress(Exception):
        for _ in range(10):
            actions.append(env.sample_random_action())
            if is_over(subject.step(env, actions[-1])):
                break
    return actions


def interleaved(subject: Subject) -> None:
    """Two instances stepped in turn, with different seeds, each as if alone."""
    if not subject.reproducible or len(subject.scripts) < 2:
        return
    first, second = list(subject.seeds)[:2]
    with subject.fresh() as one, subject.fresh() as other, subject.limited("two episodes in turn"):
        envs = {first: one, second: other}
        traces: dict[int, Trace] = {}
        try:
            for seed, env in envs.items():
                traces[seed] = [event(env.reset(seed=seed))]
            for turn in range(40):
                for seed, env in envs.items():
                    if turn < len(subject.scripts[seed]):
                        traces[seed].append(event(env.step(subject.scripts[seed][turn])))
        except Exception as error:
            subject.report("GEM405", f"stepped in turn with another instance it raised {describe(error)}")
            subject.reproducible = False
            return
    for seed, trace in traces.items():
        expected = subject.references[seed][: len(trace)]
        if not subject.compare("GEM405", trace, "stepped in turn with another instance", expected=expected):
            subject.reproducible = False
            return


def earlier_episodes(subject: Subject) -> None:
    """An episode after others, and after half a one, is the same as the first."""
    if not subject.reproducible:
        return
    with subject.fresh() as env:
        for seed in subject.seeds:
            subject.play(env, seed, subject.scripts[seed])
        trace = subject.play(env, subject.best_seed, subject.script)
        if not subject.compare("GEM404", trace, "after other episodes of the same instance"):
            return
    if len(subject.script) < 2:
        return
    with subject.fresh() as env:
        subject.play(env, subject.best_seed, subject.script[: len(subject.script) // 2])
        trace = subject.play(env, subject.best_seed, subject.script)
        subject.compare("GEM308", trace, "after a reset in the middle of an episode")


def unseeded_resets(subject: Subject) -> None:
    """What follows a seeded episode without a seed is settled by that seed."""
    if not subject.reproducible or not subject.clean("GEM404", "GEM308"):
        return
    traces = []
    for _ in range(2):
        with subject.fresh() as env:
            trace = subject.play(env, subject.seed, [])
            for _ in range(3):
                with subject.limited("reset"):
                    try:
                        trace.append(event(env.reset()))
                    except Exception as error:
                        subject.report("GEM412", f"reset() after reset(seed={subject.seed}) raised {describe(error)}")
                        return
                trace.extend(subject.go_on(env, subject.script[:2]))
        traces.append(trace)
    subject.compare("GEM412", traces[1], "in the episodes after a seeded one", expected=traces[0])


def seeds(subject: Subject) -> None:
    """Which integers are seeds."""
    import numpy as np

    accepted: tuple[Any, ...] = (0, 2**31, 2**32, 2**40, 2**70, np.int64(3), np.uint32(3), np.uint64(2**63 + 1))
    three: Any = np.int64(3)
    with subject.fresh() as env:
        for seed in accepted:
            trace = subject.play(env, seed, [])
            if "raised" in trace[0]:
                subject.report("GEM409", f"reset(seed={seed!r}) raised {trace[0]['raised']}")
                break
        else:
            if subject.reproducible and subject.clean("GEM404", "GEM308"):
                expected = subject.play(env, 3, subject.script[:5])
                trace = subject.play(env, three, subject.script[:5])
                subject.compare("GEM409", trace, "with seed numpy.int64(3) instead of 3", expected=expected)
        _refused(subject, env, "GEM410", -1, ValueError)
        for wrong in ("7", 1.5):
            _refused(subject, env, "GEM411", wrong, TypeError)


def _refused(subject: Subject, env: Any, code: str, seed: Any, kind: type[Exception]) -> None:
    try:
        with subject.limited("reset"):
            env.reset(seed=seed)
    except kind:
        return
    except Stop:
        raise
    except Exception as error:
        subject.report(code, f"reset(seed={seed!r}) raised {describe(error)} instead of {kind.__name__}")
    else:
        subject.report(code, f"reset(seed={seed!r}) is accepted")


def elsewhere(subject: Subject) -> None:
    """In a thread, inside an asyncio loop, in another process with another hash seed."""
    if "raised" in subject.reference[-1] or not subject.reproducible:
        return
    _in_thread(subject)
    _in_loop(subject)
    trace = replay_elsewhere(subject)
    if trace is not None:
        subject.compare("GEM408", trace, "in another process with another hash seed")


def _in_thread(subject: Subject) -> None:
    traces: list[Trace] = []

    def run() -> None:
        with contextlib.suppress(Hang), time_limit(subject.timeout):
            traces.append(_whole(subject))

    thread = threading.Thread(target=run, name="gem.testing", daemon=True)
    thread.start()
    thread.join(subject.timeout + 5)
    if not traces:
        subject.report("GEM103", f"an episode in a thread took longer than {subject.timeout:g} s")
    subject.compare("GEM406", traces[0], "in a thread")


def _in_loop(subject: Subject) -> None:
    async def run() -> Trace:
        return _whole(subject)

    with subject.limited("an episode inside an asyncio loop"):
        trace = asyncio.run(run())
    subject.compare("GEM407", trace, "inside a running asyncio loop")


def _whole(subject: Subject) -> Trace:
    """A whole life: made, played and closed right here."""
    try:
        env = subject.construct()
    except Exception as error:
        return [raised(error)]
    try:
        return play(env, subject.best_seed, subject.script)
    finally:
        with contextlib.suppress(Exception):
            env.close()
