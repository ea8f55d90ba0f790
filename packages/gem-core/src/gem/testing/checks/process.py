"""The process around an environment is left as it was."""

from __future__ import annotations

import contextlib
import io

from gem.testing.footprint import (
    Surroundings,
    child_processes,
    left_behind,
    running_threads,
    wait_until_gone,
    watching,
)
from gem.testing.subject import Stop, Subject
from gem.testing.trace import is_over, shorten

#: Needs that bring a network connection with them.
_NETWORKED = frozenset({"network", "docker", "postgres"})


def surroundings(subject: Subject) -> None:
    """One life from construction to close changes nothing and leaves nothing.

    A first life goes unjudged: what importing libraries does to a process is not the environment's doing. Its
    changes are set back, so that whatever the environment does itself shows the second time.
    """
    before = Surroundings.now()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        _live(subject)
    before.restore()
    threads, processes = running_threads(), child_processes()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), watching() as deeds:
        _live(subject)
    after = Surroundings.now()
    before.restore()
    for code, message in before.changes(after):
        subject.report(code, message)
    if deeds.network and not (subject.spec is not None and _NETWORKED & set(subject.spec.requires)):
        subject.report("GEM601", f"it asked for {deeds.network[0]}")
    left = left_behind(deeds.files)
    if left:
        subject.report("GEM603", f"{left[0]} was left behind")
    for thread in wait_until_gone(threads, running_threads):
        subject.report("GEM605", f"the thread {thread.name!r} still runs after close")
    for process in wait_until_gone(processes, child_processes):
        subject.report("GEM606", f"the process {process} still runs after close")
    if printed.getvalue().strip():
        subject.report("GEM610", f"it printed {shorten(printed.getvalue(), 60)!r}")
    if not subject.clean("GEM605", "GEM606"):
        raise Stop  # every further instance would leave another one


def _live(subject: Subject) -> None:
    with subject.fresh() as env:
        subject.reset(env, seed=subject.seed)
        for turn in range(3):
            try:
                with subject.limited("step"):
                    over = is_over(env.step(subject.sample(env, subject.seed, turn)))
            except Stop:
                raise
            except Exception:  # what step raises is reported when episodes are played
                return
            if over:
                return
