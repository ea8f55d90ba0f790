"""The slow judge: math-verify, in at most two processes that all threads of this process share.

A process is started when it is first needed, used for one request at a time, and killed and replaced when a request
outlasts its limit. The limit counts the processor time of that request: neither the wait for a free process nor
its start, nor what a busy machine takes away.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from typing import Any

#: Judging processes at the most.
MAX_PROCESSES = 2

#: How long a judging process may take to start, in seconds.
START_TIMEOUT = 120.0

#: A request that has not used its processor time after this many times its limit has hung.
PATIENCE = 20


class JudgeTimeout(Exception):
    """The request used up its time."""


class JudgeFailed(Exception):
    """The judge died of the request (out of memory), or the library raised."""


class _Process:
    """One judging process and the pipe to it."""

    def __init__(self) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-m", "gem_math.grading.judge_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._buffer = b""
        reply = self._read(time.monotonic() + START_TIMEOUT)
        if reply is None or not reply.get("ready"):
            self.kill()
            raise JudgeFailed("the judging process did not start: pip install 'math-verify[antlr4-13-2]'")

    def ask(self, answer: str, gold: str, limit: float) -> bool:
        message = json.dumps({"answer": answer, "gold": gold, "limit": limit}) + "\n"
        assert self.child.stdin is not None
        before = self.processor_seconds()
        begin = time.monotonic()
        try:
            self.child.stdin.write(message.encode())
            self.child.stdin.flush()
        except OSError as error:
            raise JudgeFailed("the judging process is gone") from error
        reply = None
        wait = limit
        while reply is None:
            reply = self._read(time.monotonic() + wait)
            if reply is None:
                if self.child.poll() is not None:
                    if self.child.returncode == -signal.SIGXCPU:  # the kernel's own limit came first
                        raise JudgeTimeout(f"no verdict within {limit} s")
                    raise JudgeFailed(f"the judging process died ({self.child.returncode})")
                used = self.processor_seconds() - before
                if used >= limit or time.monotonic() - begin > PATIENCE * limit:
                    raise JudgeTimeout(f"no verdict within {limit} s")
                wait = max(limit - used, 0.01)
        if "error" in reply:
            raise JudgeFailed(reply["error"])
        return bool(reply["equal"])

    def processor_seconds(self) -> float:
        """Processor time the process has used; elapsed time where the system does not tell."""
        try:
            with open(f"/proc/{self.child.pid}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return time.monotonic()

    def _read(self, deadline: float) -> dict[str, Any] | None:
        """One message, or ``None`` at the deadline or when the process is gone."""
        assert self.child.stdout is not None
        descriptor = self.child.stdout.fileno()
        while b"\n" not in self._buffer:
            poller = select.poll()  # not select(): a trainer may hold more than 1,024 files
            poller.register(descriptor, select.POLLIN)
            if not poller.poll(max(0, (deadline - time.monotonic()) * 1000)):
                return None
            chunk = os.read(descriptor, 65536)
            if not chunk:
                self.child.wait()
                return None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def kill(self) -> None:
        self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Judge:
    """The pool. One of them serves the process: :func:`consult`."""

    def __init__(self, processes: int = MAX_PROCESSES) -> None:
        self._limit = processes
        self._idle: list[_Process] = []
        self._started = 0
        self._changed = threading.Condition()
        self._all: set[_Process] = set()

    def equal(self, answer: str, gold: str, limit: float) -> bool:
        """Whether math-verify finds the two equal.

        Raises:
            JudgeTimeout: not within ``limit`` seconds of processor time.
            JudgeFailed: it raised or died.
        """
        process = self._take()
        try:
            verdict = process.ask(answer, gold, limit)
        except JudgeFailed:
            # An error of the library leaves the process in order; a death does not.
            self._give_back(process, alive=process.child.poll() is None)
            raise
        except BaseException:  # a time-out or Ctrl-C: the process is still at work
            self._give_back(process, alive=False)
            raise
        self._give_back(process, alive=True)
        return verdict

    def _take(self) -> _Process:
        with self._changed:
            while not self._idle and self._started >= self._limit:
                self._changed.wait()
            if self._idle:
                return self._idle.pop()
            self._started += 1
        try:
            process = _Process()
        except BaseException:
            with self._changed:
                self._started -= 1
                self._changed.notify()
            raise
        with self._changed:
            self._all.add(process)
        return process

    def _give_back(self, process: _Process, *, alive: bool) -> None:
        if not alive:
            process.kill()
        with self._changed:
            if alive:
                self._idle.append(process)
            else:
                self._started -= 1
                self._all.discard(process)
            self._changed.notify()

    def close(self) -> None:
        """End every process, also those at work."""
        with self._changed:
            processes, self._all, self._idle, self._started = self._all, set(), [], 0
        for process in processes:
            process.kill()

    def pids(self) -> list[int]:
        """Process ids of the judging processes there are."""
        with self._changed:
            return [process.child.pid for process in self._all]


_judge = Judge()


def consult(answer: str, gold: str, limit: float = 5.0) -> bool:
    """Ask the process's judge; see :meth:`Judge.equal`."""
    return _judge.equal(answer, gold, limit)


def _after_fork() -> None:
    global _judge
    _judge = Judge()  # the parent's processes stay the parent's


os.register_at_fork(after_in_child=_after_fork)
atexit.register(lambda: _judge.close())
