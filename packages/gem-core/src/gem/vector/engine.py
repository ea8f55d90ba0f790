"""Running slots on threads: the engine of the backend ``thread``, and of each worker of the backend ``process``.

Threads here are like processors to a scheduler, not one an environment:

- Steps that were quick last time (under a millisecond) form one job, which one thread works off: one hand-over for a
  whole batch. Where the caller is going to wait for all of them and no time limit is set, that thread is the caller's
  own: no hand-over at all.
- Steps that took long last time wait for something, so each gets a thread of its own, up to a limit; beyond it they
  queue.
- An estimate that turns out wrong costs two milliseconds: a job that makes no progress is shared with seven more
  threads, then 49, ...
- Environments with ``async def astep(action)`` need no thread: all of them run on one event loop.

``submit``, ``poll`` and ``close`` are called from one thread at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from gem.vector.slot import Abandoned, AutoresetMode, Outcome, Slot, close_quietly, failure_outcome

#: Threads at most: a parked one costs about 20 kB, and past a thousand the interpreter lock is the limit anyway.
MAX_THREADS = 1024
#: Seconds without progress after which a job is shared with more threads.
STALL = 0.002
#: Seconds of a step from which on it gets a thread of its own next time.
SLOW = 0.001

#: Seconds within which an event loop that is not blocked does something.
RESPONSE = 0.5

#: An environment's index and the argument for the method of its slot.
Item = tuple[int, Any]

METHODS = ("step", "reset", "prepare", "recover")


class _Job:
    """Calls of one slot method, worked off by one thread or several."""

    __slots__ = ("helpers", "items", "left", "method", "quick", "since")

    def __init__(self, method: str, items: deque[Item], quick: bool = False, now: float = 0.0) -> None:
        self.method = method
        self.items = items
        #: Whether its items are expected to take no time worth measuring.
        self.quick = quick
        #: For the watchman: how many items were left at the last look, when that was, and how many threads to add next.
        self.left = len(items)
        self.since = now
        self.helpers = 7


class _Worker:
    """A thread and what wakes it."""

    __slots__ = ("at", "busy", "job", "lock", "thread", "was_at")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.lock.acquire()
        self.job: _Job | None = None
        #: The item in hand, and the one at the watchman's last look.
        self.at: Item | None = None
        self.was_at: Item | None = None
        self.busy = True
        self.thread: threading.Thread

    def wake(self, job: _Job | None) -> None:
        self.job = job
        self.busy = True
        self.lock.release()


#: An item, the method, who is at it, and since when.
Running = tuple[Item, str, "_Worker | _Loop", float]


def interrupt(thread: threading.Thread) -> None:
    """Raise :class:`Abandoned` in a thread once it runs Python code; one blocked outside of Python stays there."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Abandoned))


class Engine:
    """Carries out slot methods off the caller's thread.

    Args:
        slots: environments by index; a hung one is replaced in place.
        step_timeout, reset_timeout: seconds; ``None``: no limit.
        max_threads: of the pool for steps that block.
    """

    def __init__(
        self,
        slots: dict[int, Slot],
        step_timeout: float | None = None,
        reset_timeout: float | None = None,
        max_threads: int | None = None,
    ) -> None:
        self.slots = slots
        self._limits = {
            "step": step_timeout,
            "reset": reset_timeout,
            "prepare": reset_timeout,
            "recover": reset_timeout if reset_timeout is not None else step_timeout,
        }
        limits = [limit for limit in self._limits.values() if limit is not None]
        #: Seconds between two looks for steps that hang; 0: never look.
        self._watch = min(max(min(limits) / 20, 0.005), 0.25) if limits else 0.0
        self._next_watch = 0.0
        self._max_threads = max_threads or MAX_THREADS
        self._workers: set[_Worker] = set()
        self._parked: deque[_Worker] = deque()
        #: What waits for a free thread.
        self._backlog = {method: _Job(method, deque()) for method in METHODS}
        self._jobs: list[_Job] = []
        #: By ``id(item)``: what is under way and has a time limit. Who pops it, worker or watchman, owns the outcome.
        self._running: dict[int, Running] = {}
        self._done: deque[tuple[int, Outcome]] = deque()
        self._bell = threading.Lock()
        self._bell.acquire()
        #: What other threads want the one that polls to see; they ring after they put something in.
        self.mail: deque[Any] = deque()
        #: By method: the environments that were slow at it last time.
        self._slow: dict[str, set[int]] = {method: set() for method in METHODS}
        #: By method: the environments that await; known once they are made.
        self._awaiting: dict[str, set[int]] = {method: set() for method in METHODS}
        self._loop: _Loop | None = None
        self._calls: dict[str, dict[int, Callable[..., Outcome]]] = {method: {} for method in METHODS}
        for slot in slots.values():
            self._install(slot)
        #: The caller's thread, when it works itself.
        self._caller = _Worker()
        self._overseer = _Overseer(self)
        self._sharing = threading.Lock()
        self.closed = False

    def _install(self, slot: Slot) -> None:
        self.slots[slot.index] = slot
        for method in METHODS:
            self._calls[method][slot.index] = getattr(slot, method)

    def prepare(self, lenient: bool = False) -> None:
        """Make all environments, many at a time. Raises what the first failure raised, unless ``lenient``."""
        self.submit("prepare", [(index, None) for index in self.slots])
        missing = len(self.slots)
        while missing:
            missing -= len(self.poll(None))
        for slot in self.slots.values():
            if slot.error is not None and not lenient:
                raise slot.error
            if slot.is_async:
                self._awaiting["step"].add(slot.index)
                if slot.has_async_reset:
                    self._awaiting["reset"].add(slot.index)

    # -- called by the vector -------------------------------------------------------------------------

    def submit(self, method: str, requests: list[Item], patient: bool = False) -> dict[int, Outcome]:
        """Start ``slot.<method>(argument)`` for each request; return the outcomes that are there at once.

        ``patient``: the caller will wait for all of them, so that its own thread may do what is quick.
        """
        slow = self._slow[method]
        awaits = self._awaiting[method]
        if awaits:
            awaiting = [request for request in requests if request[0] in awaits]
            if awaiting:
                if self._loop is None:
                    self._loop = _Loop(self)
                self._loop.launch("a" + method, awaiting)
                requests = [request for request in requests if request[0] not in awaits]
        if slow:
            waiting = _Job(method, deque())
            quick: list[Item] = []
            # Each is asked about once: threads take environments out of the set, and none may be stepped twice.
            for request in requests:
                (waiting.items if request[0] in slow else quick).append(request)
            for _ in range(len(waiting.items)):
                if not self._wake(waiting):
                    break
            requests = quick
        if requests:
            job = _Job(method, deque(requests), True, time.monotonic())
            # An event loop that runs in this thread would be in the way of environments that run their own.
            if patient and not self._watch and asyncio._get_running_loop() is None:
                return self._work_here(job)
            if self._wake(job):
                with self._sharing:
                    self._jobs.append(job)
        return {}

    def _work_here(self, job: _Job) -> dict[int, Outcome]:
        """Work a job off in the caller's thread, while the overseer looks whether it gets stuck."""
        caller = self._caller
        with self._sharing:
            self._jobs = [job]  # nothing else is under way
        caller.job = job
        self._overseer.watch()
        take, calls = job.items.popleft, self._calls[job.method]
        done: dict[int, Outcome] = {}
        try:
            while True:
                caller.at = item = take()
                index, argument = item
                done[index] = calls[index](argument)
        except IndexError:  # all taken, by this thread or by those that came to help
            if not job.items:
                return done
            raise
        except BaseException:  # an interrupt from the keyboard: what it hit has no outcome but this
            self._done.extend(done.items())
            if caller.at is not None and caller.at[0] not in done:
                index = caller.at[0]
                slot = self.slots[index]
                self._install(slot.abandon())
                why = "interrupted, the instance was replaced"
                self._done.append((index, failure_outcome(index, slot.maker.env_id, job.method, why)))
            # The rest is for the pool.
            self._wake(_Job(job.method, job.items))
            raise
        finally:
            caller.at = caller.job = None

    def poll(self, timeout: float | None) -> list[tuple[int, Outcome]]:
        """Outcomes that are ready; waits for the first one, or for :attr:`mail`, ``timeout`` seconds at most."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            now = time.monotonic()
            if self._jobs:
                self.share(now)
            if self._watch and now >= self._next_watch:
                self._next_watch = now + self._watch
                self._look_for_hung(now)
            if self._done or self.mail or (deadline is not None and now >= deadline):
                break
            wait = STALL if self._jobs else self._watch or 60.0
            if deadline is not None:
                wait = min(wait, deadline - now)
            self._bell.acquire(timeout=wait)
        done = []
        while self._done:
            done.append(self._done.popleft())
        return done

    def close(self, timeout: float) -> None:
        """Close every environment and end every thread, within ``timeout`` seconds.

        A thread blocked inside C code cannot be ended by anyone; it is left behind as a daemon.
        """
        if self.closed:
            return
        self.closed = True
        self._overseer.stop()
        deadline = time.monotonic() + timeout * 0.9
        for job in [*self._jobs, *self._backlog.values()]:
            job.items.clear()
        # Steps under way may finish in peace for a while; closing below is what unblocks most of those that do not.
        while time.monotonic() < deadline - timeout * 0.5 and any(worker.busy for worker in list(self._workers)):
            self._bell.acquire(timeout=0.01)
        if self._loop is not None:
            self._loop.stop(timeout * 0.2)
        envs = [slot.env for slot in self.slots.values() if slot.env is not None]
        close_all(envs, deadline - time.monotonic() - timeout * 0.1)
        for worker in list(self._workers):
            if worker.busy:
                interrupt(worker.thread)
        while self._parked:
            self._parked.pop().wake(None)
        # Threads that run Python code end at once; those that do not will not for any patience.
        deadline = min(deadline, time.monotonic() + timeout * 0.1)
        for worker in list(self._workers):
            worker.thread.join(max(0.0, deadline - time.monotonic()))

    # -- threads --------------------------------------------------------------------------------------

    def _wake(self, job: _Job) -> bool:
        """Give a job to a parked thread or to a new one. Where there is neither it queues, and the answer is False."""
        try:
            self._parked.pop().wake(job)
            return True
        except IndexError:
            pass
        if len(self._workers) < self._max_threads:
            worker = _Worker()
            worker.thread = threading.Thread(target=self._work, args=(worker,), name="gem-step", daemon=True)
            worker.job = job
            self._workers.add(worker)
            try:
                worker.thread.start()
                return True
            except RuntimeError:  # the system has no more threads to give: make do with those there are
                self._workers.discard(worker)
                if not self._workers:
                    raise
                self._max_threads = len(self._workers)
        backlog = self._backlog[job.method].items
        while job.items:
            with contextlib.suppress(IndexError):
                backlog.append(job.items.popleft())
        if self._parked and backlog:  # one parked meanwhile without having seen them
            return self._wake(self._backlog[job.method])
        return False

    def _work(self, worker: _Worker) -> None:
        """The life of a thread: its job, then what queues, then parked until woken."""
        try:
            while worker.job is not None:
                self._work_off(worker, worker.job)
                for job in self._backlog.values():
                    if job.items:
                        self._work_off(worker, job)
                worker.busy = False
                self._parked.append(worker)
                queued = next((job for job in self._backlog.values() if job.items), None)
                if queued is not None or self.closed:
                    # Something came in between the last look and parking: go on, unless somebody woke us already.
                    try:
                        self._parked.remove(worker)
                    except ValueError:
                        pass
                    else:
                        worker.busy, worker.job = queued is not None, queued
                        continue
                worker.lock.acquire()
        except Abandoned:
            pass
        finally:
            self._workers.discard(worker)

    def _work_off(self, worker: _Worker, job: _Job) -> None:
        method, items = job.method, job.items
        calls, slow, running = self._calls[method], self._slow[method], self._running
        take, add, clock = items.popleft, self._done.append, time.monotonic
        watched, quick = self._watch > 0, job.quick
        # What a step costs beyond the environment's own is this loop. Quick ones without a time limit need no clock:
        # the watchman sees from outside when a worker stays at one item.
        timed = watched or not quick
        started = clock()
        while True:
            try:
                worker.at = item = take()
            except IndexError:
                break
            index, argument = item
            if watched:
                running[id(item)] = item, method, worker, started
            outcome = calls[index](argument)
            if watched and running.pop(id(item), None) is None:  # taken for hung, and replaced
                raise Abandoned
            add((index, outcome))
            if timed:
                now = clock()
                if now - started > SLOW:
                    slow.add(index)
                    self.ring()
                elif not quick:
                    slow.discard(index)
                started = now
        worker.at = None
        self.ring()

    def ring(self) -> None:
        """Tell :meth:`poll` that something is ready."""
        if self._bell.locked():
            with contextlib.suppress(RuntimeError):  # another thread rang in between
                self._bell.release()

    # -- the watchman, who is whoever waits in poll ----------------------------------------------------

    def share(self, now: float) -> None:
        """Put more threads on jobs that stand still. Called by whoever polls, and by the overseer."""
        if not self._sharing.acquire(blocking=False):
            return
        try:
            if not self._jobs or now - self._jobs[0].since < STALL:
                return
            in_hand = set()
            for worker in [self._caller, *list(self._workers)]:
                at, job = worker.at, worker.job
                if at is not None and job is not None:
                    in_hand.add(job)
                    if at is worker.was_at:
                        self._slow[job.method].add(at[0])
                worker.was_at = at
            for job in self._jobs:
                left = len(job.items)
                if left and (job.left - left) * SLOW < now - job.since:
                    for _ in range(min(job.helpers, left)):
                        if not self._wake(job):
                            break
                    job.helpers *= 7
                job.left, job.since = left, now
            self._jobs = [job for job in self._jobs if job.items or job in in_hand]
        finally:
            self._sharing.release()

    def _look_for_hung(self, now: float) -> None:
        for key, under_way in list(self._running.items()):
            (index, _), method, performer, start = under_way
            method = method.removeprefix("a") if method in ("astep", "areset") else method
            limit = self._limits[method]
            if limit is not None and now - start > limit and self._running.pop(key, None) is not None:
                self._give_up(index, method, performer, limit)

    def _give_up(self, index: int, method: str, performer: _Worker | _Loop, limit: float) -> None:
        hung = self.slots[index]
        slot = hung.abandon()
        self._install(slot)
        if isinstance(performer, _Worker):
            # It no longer counts, so that the pool cannot run dry.
            self._workers.discard(performer)
            interrupt(performer.thread)
            for job in self._backlog.values():
                if job.items:
                    self._wake(job)
        elif performer is self._loop and not performer.cancel(index):
            # An environment blocks it. Those that share it run out of time too; the next steps get a loop of their own.
            self._loop = None
            performer.discard()
        if hung.env is not None:
            threading.Thread(target=close_quietly, args=(hung.env,), name="gem-close", daemon=True).start()
        why = f"no answer within {limit:g} s, the instance was replaced"
        if method == "prepare":
            slot.error = TimeoutError(f"making environment {index} ({slot.maker.env_id}): no answer within {limit:g} s")
        if method == "step" and slot.autoreset is AutoresetMode.SAME_STEP:
            self._wake(_Job("recover", deque([(index, why)])))
            return
        doing = "reset" if method in ("reset", "recover") else method
        self._done.append((index, failure_outcome(index, slot.maker.env_id, doing, why)))


class _Overseer:
    """A thread that looks every two milliseconds whether the caller, at work itself, is stuck; else it sleeps."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._awake = threading.Event()
        self._idle = 0
        self._thread: threading.Thread | None = None

    def watch(self) -> None:
        """Look for a while from now on."""
        self._idle = 0
        if not self._awake.is_set():
            self._awake.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="gem-overseer", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        engine = self._engine
        while not engine.closed:
            self._awake.wait()
            while self._idle < 20 and not engine.closed:
                self._idle += 1
                time.sleep(STALL)
                if engine._caller.job is not None:
                    self._idle = 0
                    engine.share(time.monotonic())
            self._awake.clear()
            if self._idle < 20:  # asked to watch in between, by one who saw it still awake
                self._awake.set()

    def stop(self) -> None:
        """End the thread; the engine is closed."""
        if self._thread is not None:
            self._awake.set()
            self._thread.join(1.0)


class _Loop:
    """The event loop of environments that await, on a thread of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loop = asyncio.new_event_loop()
        #: The last task of each environment, most of them done.
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._to_ring = False
        self._finished = False
        self.thread = threading.Thread(target=self._run, name="gem-loop", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            while (
                not self._finished
            ):  # an environment that stops the loop, or tries to end the process, stops nobody else
                with contextlib.suppress(SystemExit, KeyboardInterrupt):
                    self._loop.run_forever()
        except Abandoned:
            pass
        finally:
            self._loop.close()

    def launch(self, method: str, items: list[Item]) -> None:
        """Start awaiting slot methods."""
        if self._engine._watch:  # from here on, as a loop that is blocked does not even begin
            now = time.monotonic()
            for item in items:
                self._engine._running[id(item)] = item, method, self, now
        self._loop.call_soon_threadsafe(self._launch, method, items)

    def cancel(self, index: int) -> bool:
        """Cancel what an environment awaits. Returns whether the loop is alive enough to do so."""
        done = threading.Event()

        def cancel() -> None:
            if index in self._tasks:
                self._tasks[index].cancel()
            done.set()

        self._loop.call_soon_threadsafe(cancel)
        return done.wait(RESPONSE)

    def discard(self) -> None:
        """End the thread as soon as whatever blocks it lets go."""
        self._finished = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        interrupt(self.thread)

    def _launch(self, method: str, items: list[Item]) -> None:
        for item in items:
            self._tasks[item[0]] = self._loop.create_task(self._carry_out(item, method))

    async def _carry_out(self, item: Item, method: str) -> None:
        engine = self._engine
        index, argument = item
        if engine._watch and id(item) not in engine._running:  # taken for hung before it began
            return
        slot = engine.slots[index]
        try:
            outcome: Outcome = await getattr(slot, method)(argument)
        except Abandoned:
            return
        except Exception as error:
            outcome = failure_outcome(index, slot.maker.env_id, method[1:], error)
        if engine._watch and engine._running.pop(id(item), None) is None:  # taken for hung, and replaced
            return
        engine._done.append((index, outcome))
        if not self._to_ring:  # once for all that complete in this round of the loop
            self._to_ring = True
            self._loop.call_soon(self._ring)

    def _ring(self) -> None:
        self._to_ring = False
        self._engine.ring()

    def stop(self, timeout: float) -> None:
        """Cancel what still awaits, and end the loop and its thread."""

        async def finish() -> None:
            pending = {index: task for index, task in self._tasks.items() if not task.done()}
            for index, task in pending.items():
                self._engine.slots[index].abandoned = True  # cancelled, it has nothing to report
                task.cancel()
            tasks = pending.values()
            if tasks:
                await asyncio.wait(tasks, timeout=timeout / 2)
            await self._loop.shutdown_asyncgens()
            self._finished = True
            self._loop.stop()

        def start() -> None:
            self._finishing = self._loop.create_task(finish())

        self._loop.call_soon_threadsafe(start)
        self.thread.join(timeout)
        if self.thread.is_alive():  # an environment blocks the loop
            interrupt(self.thread)


def close_all(envs: list[Any], timeout: float) -> None:
    """Close environments of this process, all of them within ``timeout`` seconds.

    Only those that have something to release cost anything. A ``close`` that hangs is interrupted where it runs Python
    code; blocked outside of it, it keeps a daemon thread until the process ends.
    """
    from gem.env import Env

    todo = deque(env for env in envs if type(env).close is not Env.close)

    def work() -> None:
        with contextlib.suppress(Abandoned, IndexError):
            while todo:
                close_quietly(todo.popleft())

    threads: list[threading.Thread] = []
    deadline = time.monotonic() + timeout
    while todo and (time.monotonic() < deadline or not threads):
        # One thread serves environments that close at once; when it stands still, twice as many take over.
        for _ in range(max(1, len(threads))):
            threads.append(threading.Thread(target=work, daemon=True, name="gem-close"))
            threads[-1].start()
        threads[-1].join(0.02)
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            interrupt(thread)
