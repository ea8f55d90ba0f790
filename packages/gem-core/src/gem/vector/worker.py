"""A worker process of the backend ``process``: an engine at one end of a pipe.

Frames from the vector: first the setup, then ``(method, requests)``. Frames to it: ``(indices, outcomes)``, the
outcomes pickled on their own, so that one the vector cannot read still says whose it was. Nothing here needs numpy.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from gem.vector.engine import Engine
from gem.vector.slot import EnvMaker, Outcome, Slot, VectorConfig, failure_outcome

#: True while a worker imports the script that started it: that script must not start workers again.
importing_main = False


@dataclass(slots=True)
class Setup:
    """What a worker is told first."""

    indices: Sequence[int]
    makers: Sequence[EnvMaker]
    config: VectorConfig
    #: Whether it takes the place of one that died; then episodes begin anew, from these seeds.
    replacement: bool = False
    seeds: dict[int, int] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)


def main(descriptor: int) -> None:
    """Entry of a spawned worker: the setup comes through the pipe."""
    connection: Connection[Any, Any] = Connection(descriptor)
    try:
        path, main_path, blob = pickle.loads(connection.recv_bytes())
        sys.path[:] = path
        if main_path is not None:
            _import_main(main_path)
        setup = pickle.loads(blob)
    except BaseException as error:
        _report(connection, error)
        return
    serve(connection, setup)


def serve(connection: Connection[Any, Any], setup: Setup) -> None:
    """Make the environments, then carry out what comes until told to close, or until the other end is gone."""
    # An interrupt from the keyboard is for the vector, which then closes its workers. A handler rather than SIG_IGN:
    # programs an environment starts must not inherit it.
    signal.signal(signal.SIGINT, lambda signum, frame: None)
    config = setup.config
    slots = {i: Slot(maker, i, config.autoreset) for i, maker in zip(setup.indices, setup.makers, strict=True)}
    if setup.replacement:
        for i, slot in slots.items():
            slot.seed, slot.failures = setup.seeds.get(i), setup.failures.get(i, 0)
            slots[i] = slot.abandon()
    engine = Engine(slots, config.step_timeout, config.reset_timeout)
    receiver = threading.Thread(target=_receive, args=(connection, engine), name="gem-receive", daemon=True)
    try:
        engine.prepare(lenient=setup.replacement)
    except BaseException as error:
        engine.close(1.0)
        _report(connection, error)
        return
    connection.send_bytes(pickle.dumps({i: slot.multi_agent for i, slot in engine.slots.items()}))
    receiver.start()
    # Silence longer than this means that nothing in this process can run.
    heartbeat = None if config.step_timeout is None else min(config.step_timeout / 4, 0.5)
    while True:
        outcomes = engine.poll(heartbeat)
        if outcomes or heartbeat is not None:
            _send(connection, outcomes, engine)
        while engine.mail:
            method, requests = engine.mail.popleft()
            if method == "close":
                engine.close(requests)
                return
            engine.submit(method, requests)


def _receive(connection: Connection[Any, Any], engine: Engine) -> None:
    """Take frames off the pipe whatever the environments do, so that the vector never waits to write."""
    try:
        while True:
            engine.mail.append(pickle.loads(connection.recv_bytes()))
            engine.ring()
    except (EOFError, OSError):
        # The vector's process is gone without a word, killed perhaps. Leave nothing behind.
        if not engine.closed:
            engine.close(1.0)
            end_group()


def end_group() -> None:
    """End this process and whatever its environments started in its group."""
    with contextlib.suppress(OSError):
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _send(connection: Connection[Any, Any], outcomes: list[tuple[int, Outcome]], engine: Engine) -> None:
    indices = [index for index, _ in outcomes]
    try:
        body = pickle.dumps([outcome for _, outcome in outcomes], pickle.HIGHEST_PROTOCOL)
    except Exception:
        body = pickle.dumps([_sendable(index, outcome, engine) for index, outcome in outcomes])
    # One that is closing no longer listens, and the receiver sees to the end.
    with contextlib.suppress(OSError):
        connection.send_bytes(pickle.dumps((indices, body), pickle.HIGHEST_PROTOCOL))


def _sendable(index: int, outcome: Outcome, engine: Engine) -> Outcome:
    """The outcome, or that of an environment that failed by returning what cannot be pickled."""
    try:
        pickle.dumps(outcome)
        return outcome
    except Exception as error:
        slot = engine.slots[index]
        failure = slot.fail("sending its outcome", error)
        try:
            pickle.dumps(failure)
            return failure
        except Exception:
            return failure_outcome(index, slot.maker.env_id, "sending its outcome", error)


def _report(connection: Connection[Any, Any], error: BaseException) -> None:
    """Tell the vector why there is no worker."""
    text = "".join(traceback.format_exception(error))
    try:
        frame = pickle.dumps((error, text))
        pickle.loads(frame)  # some exceptions pickle and do not come back
    except Exception:
        frame = pickle.dumps((None, text))
    with contextlib.suppress(OSError):
        connection.send_bytes(frame)


def _import_main(path: str) -> None:
    """Give this process the ``__main__`` of the script, for what was pickled by reference to it."""
    global importing_main
    import runpy
    import types

    importing_main = True
    try:
        module = types.ModuleType("__mp_main__")
        module.__dict__.update(runpy.run_path(path, run_name="__mp_main__"))
        sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    finally:
        importing_main = False
