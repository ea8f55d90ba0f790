"""The backend ``process``: environments that compute, a slice of them in each worker process."""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from gem.errors import GemError
from gem.vector import worker as worker_module
from gem.vector.base import Request, VectorEnv
from gem.vector.slot import EnvMaker, Outcome, VectorConfig, failure_outcome
from gem.vector.worker import Setup

#: Seconds a worker may take to start, making its environments aside.
START_TIMEOUT = 120.0

#: Seconds between two looks whether workers live, and the silence granted to one beyond its step's time limit.
_LOOK = 0.25
_GRACE = 2.0

#: What a spawned worker runs: nothing of the script that made the vector.
_PROGRAM = "import sys; from gem.vector.worker import main; main(int(sys.argv[1]))"


class ProcessVectorEnv(VectorEnv):
    """Environments in worker processes: ``num_workers`` of them (as many as there are processors when ``None``).

    Each worker hosts a slice of neighbours, on the same engine as the backend ``thread``. One that dies is started
    again: the environments it hosted report it, each on its own index, and begin new episodes.

    ``start_method``: ``"spawn"`` starts a fresh interpreter that imports what the environments need and nothing else;
    environments travel by pickle (by cloudpickle where that is installed and needed). ``"fork"`` copies this process,
    so that anything works, closures too, but a library with threads of its own may not survive it. By default
    ``spawn`` is used, and ``fork`` where an environment cannot be pickled.

    Actions, observations and infos must pickle. Needs a POSIX system.
    """

    def __init__(self, makers: Sequence[EnvMaker], config: VectorConfig) -> None:
        super().__init__(makers, config)
        if worker_module.importing_main:
            raise GemError(
                "the script makes a process vector while a worker imports it: put that part of it under "
                "`if __name__ == '__main__':`"
            )
        if os.name != "posix":
            raise GemError("the backend 'process' needs a POSIX system: use 'thread'")
        self._makers = makers
        self._config = config
        self._method = _start_method(makers, config)
        self._seeds: dict[int, int] = {}
        self._failures: dict[int, int] = {}
        #: Environments whose worker died between two steps, and why: their next step reports it.
        self._lost: dict[int, str] = {}
        self._inbox: queue.SimpleQueue[tuple[_Worker, list[int], bytes | None]] = queue.SimpleQueue()
        self._done: list[tuple[int, Outcome]] = []
        count = min(self.num_envs, config.num_workers or os.cpu_count() or 1)
        bounds = [self.num_envs * k // count for k in range(count + 1)]
        self._workers: list[_Worker] = []
        self._finalizer = weakref.finalize(self, _close_workers, self._workers, 1.0, self._owner)
        try:
            for first, last in itertools.pairwise(bounds):
                self._workers.append(self._launch(range(first, last)))
            multi_agent: dict[int, bool] = {}
            for one in self._workers:
                multi_agent.update(one.wait_until_ready(config.reset_timeout, self._inbox))
            self.multi_agent = self._all_of_a_kind(multi_agent[index] for index in self._all)
        except BaseException:
            self.close()
            raise
        self._host = {index: k for k, one in enumerate(self._workers) for index in one.indices}

    def _launch(self, indices: Sequence[int], replacement: bool = False) -> _Worker:
        setup = Setup(
            indices,
            [self._makers[i] for i in indices],
            self._config,
            replacement,
            {i: self._seeds[i] for i in indices if i in self._seeds},
            {i: self._failures[i] for i in indices if i in self._failures},
        )
        return _Worker(setup, self._method)

    def _submit(self, method: str, requests: list[Request], patient: bool = False) -> dict[int, Outcome]:
        batches: dict[tuple[int, str], list[Request]] = {}
        for index, argument in requests:
            task = method
            if method == "reset":
                self._lost.pop(index, None)
                if argument[0] is not None:
                    self._seeds[index] = argument[0]
            elif index in self._lost:
                task, argument = "recover", self._lost.pop(index)
            batches.setdefault((self._host[index], task), []).append((index, argument))
        try:
            frames = {key: pickle.dumps((key[1], batch)) for key, batch in batches.items()}
        except Exception as error:
            raise TypeError(f"actions and options must pickle to reach a worker: {error}") from error
        for (k, task), batch in batches.items():
            worker = self._workers[k]
            if worker.dead:
                worker = self._restart(k)
            if worker.dead:
                why = f"its worker could not be started again: {worker.why}"
                self._done += [(i, failure_outcome(i, self.env_ids[i], task, why)) for i, _ in batch]
            else:
                worker.send(task, [i for i, _ in batch], frames[k, task])
        return {}

    def _poll(self, timeout: float | None) -> list[tuple[int, Outcome]]:
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._done:
            wait = _LOOK if deadline is None else min(_LOOK, deadline - time.monotonic())
            with contextlib.suppress(queue.Empty):
                self._take(*(self._inbox.get(timeout=wait) if wait > 0 else self._inbox.get_nowait()))
                while True:
                    self._take(*self._inbox.get_nowait())
            for k, worker in enumerate(self._workers):
                if worker.pending and not worker.responds(self._config.step_timeout):
                    self._replace(k)
            if deadline is not None and time.monotonic() >= deadline:
                break
        done, self._done = self._done, []
        return done

    def _take(self, worker: _Worker, indices: list[int], body: bytes | None) -> None:
        """Take in what a worker sent; ``None``: it is gone."""
        if worker not in self._workers:  # given up before
            return
        if body is None:
            self._replace(self._workers.index(worker), patience=0.5)  # the pipe closes a moment before the process ends
            return
        try:
            outcomes: list[Outcome] = pickle.loads(body)
        except Exception as error:
            outcomes = [failure_outcome(i, self.env_ids[i], "receiving its outcome", error) for i in indices]
        for index, outcome in zip(indices, outcomes, strict=True):
            if worker.pending.pop(index, None) is not None:
                self._done.append((index, outcome))

    def _replace(self, k: int, patience: float = 0.0) -> None:
        """Put a new worker in the place of one that died or is stuck; its environments report what happened."""
        old = self._workers[k]
        why = f"its worker process {old.end(patience)}; a new one took its place"
        for index in old.indices:
            self._failures[index] = self._failures.get(index, 0) + 1
        new = self._restart(k)
        recovering = []
        for index in old.indices:
            method = old.pending.get(index)
            if method is None:
                self._lost[index] = why
            elif method == "step" and not new.dead:
                recovering.append((index, why))
            else:
                self._done.append((index, failure_outcome(index, self.env_ids[index], method, why)))
        if recovering:
            new.send("recover", [index for index, _ in recovering], pickle.dumps(("recover", recovering)))

    def _restart(self, k: int) -> _Worker:
        new = self._workers[k] = self._launch(self._workers[k].indices, replacement=True)
        try:
            new.wait_until_ready(self._config.reset_timeout, self._inbox)
        except Exception as error:
            new.end(0.0)
            new.dead, new.why = True, str(error)
        return new

    def _close(self, timeout: float) -> None:
        _close_workers(self._workers, timeout, self._owner)
        self._finalizer.detach()


class _Worker:
    """The vector's end of one worker process."""

    def __init__(self, setup: Setup, method: tuple[str, Any, str | None]) -> None:
        self.indices = setup.indices
        #: What the worker is at: index -> method.
        self.pending: dict[int, str] = {}
        #: Whether it could not be started again, and why.
        self.dead = False
        self.why = ""
        self._heard = time.monotonic()
        self._exit_seen: float | None = None
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._popen: subprocess.Popen[bytes] | None = None
        self._status: int | None = None
        self._connection: Connection[Any, Any]
        self._connection, far_end = Pipe()
        start, pickler, main_path = method
        try:
            if start == "fork":
                self.pid = self._fork(far_end, setup)
            else:
                self._popen = subprocess.Popen(
                    [sys.executable, "-c", _PROGRAM, str(far_end.fileno())],
                    pass_fds=[far_end.fileno()],
                    start_new_session=True,
                )
                self.pid = self._popen.pid
        finally:
            far_end.close()
        if start == "spawn":
            frame = pickle.dumps((sys.path, main_path, pickler.dumps(setup)))
            # In a thread, as a worker that dies while starting may leave the pipe full.
            self._threads.append(threading.Thread(target=self._write, name="gem-write", daemon=True))
            self._outbox.put(frame)
            self._threads[0].start()

    def _fork(self, far_end: Connection[Any, Any], setup: Setup) -> int:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            os.setsid()
            self._connection.close()
            worker_module.serve(far_end, setup)
            code = 0
        finally:
            os._exit(code)

    def wait_until_ready(self, timeout: float | None, inbox: queue.SimpleQueue[Any]) -> dict[int, bool]:
        """Which of its environments are multi-agent, once they are made. Raises what making them raised."""
        limit = START_TIMEOUT if timeout is None else timeout + START_TIMEOUT
        try:
            if not self._connection.poll(limit):
                raise GemError(f"a worker process did not start within {limit:g} s")
            ready = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise GemError(
                f"a worker process {self.end(1.0)} while starting; its own message stands above on standard error"
            ) from None
        if not isinstance(ready, dict):
            error, text = ready
            if error is None:
                raise GemError(f"a worker process could not make its environments: {text.strip().splitlines()[-1]}")
            error.add_note(f"In a worker process:\n{text}")
            raise error
        if not self._threads:
            self._threads.append(threading.Thread(target=self._write, name="gem-write", daemon=True))
            self._threads[0].start()
        self._threads.append(threading.Thread(target=self._read, args=(inbox,), name="gem-read", daemon=True))
        self._threads[1].start()
        return ready

    def send(self, method: str, indices: list[int], frame: bytes) -> None:
        if not self.pending:
            self._heard = time.monotonic()
        self.pending.update(dict.fromkeys(indices, method))
        self._outbox.put(frame)

    def _write(self) -> None:
        # A thread of its own, so that the vector waits for no worker that does not read.
        with contextlib.suppress(OSError):
            while (frame := self._outbox.get()) is not None:
                self._connection.send_bytes(frame)

    def _read(self, inbox: queue.SimpleQueue[Any]) -> None:
        try:
            while True:
                indices, body = pickle.loads(self._connection.recv_bytes())
                self._heard = time.monotonic()
                if indices:
                    inbox.put((self, indices, body))
        except (EOFError, OSError):
            inbox.put((self, [], None))

    def responds(self, step_timeout: float | None) -> bool:
        """Whether the process lives and, where steps have a time limit, gives signs of life."""
        now = time.monotonic()
        if self._exited():
            # The reader tells, unless a process that the worker left behind holds the pipe open.
            self._exit_seen = self._exit_seen or now
            return now - self._exit_seen < 1.0
        return step_timeout is None or now - self._heard < step_timeout + _GRACE

    def _exited(self) -> bool:
        if self._status is None:
            if self._popen is not None:
                self._status = self._popen.poll()
            else:
                with contextlib.suppress(ChildProcessError):
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                    self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status is not None

    def ask_to_close(self, timeout: float) -> None:
        self._outbox.put(pickle.dumps(("close", timeout)))

    def wait(self, deadline: float) -> None:
        while not self._exited() and time.monotonic() < deadline:
            time.sleep(0.005)

    def end(self, patience: float) -> str:
        """Make sure that the process and all that belongs to it is gone. Returns how it ended."""
        self.wait(time.monotonic() + patience)
        stuck = not self._exited()
        # What its environments started goes too; the group lives on under its number while any of them does.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        if stuck:  # one that was forked this moment may not lead its group yet
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self.wait(time.monotonic() + 1.0)
        self._outbox.put(None)
        for thread in self._threads:
            thread.join(0.5)
        self._connection.close()
        if stuck:
            return "did not respond and was killed"
        if self._status is not None and self._status < 0:
            return f"was killed by {signal.Signals(-self._status).name}"
        return f"ended with exit code {self._status}"


def _close_workers(workers: list[_Worker], timeout: float, owner: int) -> None:
    if os.getpid() != owner:  # a forked copy of the vector: the workers are not its own
        return
    deadline = time.monotonic() + timeout * 0.7
    for worker in workers:
        worker.ask_to_close(timeout * 0.5)
    for worker in workers:
        worker.wait(deadline)
    for worker in workers:
        worker.end(0.0)


def _start_method(makers: Sequence[EnvMaker], config: VectorConfig) -> tuple[str, Any, str | None]:
    """How to start workers: ``(start method, pickler, script to import)``, or an error while nothing has started."""
    wanted = config.start_method
    if wanted not in (None, "spawn", "fork"):
        raise ValueError(f"start_method must be 'spawn' or 'fork', got {wanted!r}")
    if wanted == "fork":
        return "fork", None, None
    cause: Exception
    try:
        blob = pickle.dumps(list(makers))
        if b"__main__" not in blob:
            return "spawn", pickle, None
        cause = GemError("it is defined in the script itself")
    except Exception as error:
        blob, cause = b"", error
    try:
        import cloudpickle  # type: ignore[import-untyped,import-not-found,unused-ignore]

        cloudpickle.dumps(list(makers))
        return "spawn", cloudpickle, None
    except Exception as error:
        if not isinstance(error, ImportError):
            cause = error
    main_path = getattr(sys.modules.get("__main__"), "__file__", None)
    if blob and main_path is not None and os.path.exists(main_path):
        return "spawn", pickle, main_path
    if wanted is None:
        return "fork", None, None
    raise GemError(
        f"an environment of this vector cannot be sent to a spawned process ({cause}): define it in a module, "
        "pip install cloudpickle, or use start_method='fork'"
    )
