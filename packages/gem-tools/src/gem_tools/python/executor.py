"""Running programs: a pool of warm interpreters, each in an isolation of its own."""

from __future__ import annotations

import json
import marshal
import os
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from gem.errors import MissingDependency
from gem_tools.python import zygote
from gem_tools.python.interpreter import describe
from gem_tools.python.names import HEAVY_PACKAGES, USUAL_NAMES
from gem_tools.python.result import ExecutionResult, Reason, decode
from gem_tools.python.slot import LARGEST_VALUE, Reply, Slot, SlotConfig, SlotLost

Backend = Literal["isolated", "subprocess"]
Text = str | bytes

_REASONS: dict[bytes, Reason] = {
    zygote.EXITED: "exit",
    zygote.SIGNALLED: "signal",
    zygote.TIMEOUT: "timeout",
    zygote.MEMORY: "memory",
    zygote.CPU: "cpu",
}
_HEAVY = re.compile(rf"^[ \t]*(?:import|from)[ \t]+({'|'.join(HEAVY_PACKAGES)})\b", re.MULTILINE)
_HEAVY_ALIAS = re.compile(r"\b(np|pd)\.")
_ALIASES = {"np": "numpy", "pd": "pandas"}
#: A package is loaded into the warm interpreters when this many programs have imported it.
_OFTEN = 2
_DEFAULT: Any = object()

_executors: weakref.WeakSet[Executor] = weakref.WeakSet()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run of a program that is run many times.

    With ``function`` the program is loaded first (its output is captured as always), then that function, or that
    method of its class ``Solution``, is called with ``args``, which JSON can write.
    """

    stdin: Text = ""
    argv: Sequence[str] = ()
    function: str | None = None
    args: Sequence[Any] = ()
    files: Mapping[str, Text] = field(default_factory=dict)


class Executor:
    """Runs Python programs that nobody has read.

    Each run is a fresh process in a fresh folder; whatever it started is dead, and whatever it wrote is gone, when
    :meth:`run` returns. Any number of threads may call; ``slots`` programs run at once, the others wait. What the
    isolation promises is written in ``docs/isolation.md``.

    Args:
        backend: ``"isolated"`` (bubblewrap: no network, own file system and processes), or ``"subprocess"``:
            limits only, for programs you trust.
        timeout: wall seconds a program may take; ``None``: no limit. Waiting for a slot does not count.
        cpu_s: CPU seconds one process may take; by default only ``timeout`` counts.
        memory_mb: memory of all processes of one run together.
        disk_mb: what a run may write to its folder (and at most this again to shared memory), isolated only.
        file_mb: size of one file; ``disk_mb`` by default.
        processes: processes and threads of one run, isolated only.
        output_kb: what is kept of each output stream, half from its beginning and half from its end.
        slots: programs that run at once; the number of cores by default.
        preload: packages imported once for all programs. ``None``: numpy and the like, once two programs have
            imported them.
        python: interpreter to use; the running one by default.
        readable: further files and folders that isolated programs may read.
        environment: variables programs see; nothing of the caller's environment reaches them otherwise.
        supply_imports: bind the usual names (``math``, ``np``, ``deque``) that a program uses and forgot to import.
        show_last: print the value of a program's last expression, as a notebook does.

    Raises:
        gem.MissingDependency: on first use, where bubblewrap is missing or cannot work; the message says what to do.
    """

    def __init__(
        self,
        backend: Backend = "isolated",
        *,
        timeout: float | None = 5.0,
        cpu_s: int | None = None,
        memory_mb: int = 1024,
        disk_mb: int = 256,
        file_mb: int | None = None,
        processes: int = 64,
        open_files: int = 256,
        output_kb: int = 16,
        slots: int | None = None,
        preload: Sequence[str] | None = None,
        python: str | None = None,
        readable: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        supply_imports: bool = True,
        show_last: bool = False,
    ) -> None:
        if backend not in ("isolated", "subprocess"):
            raise ValueError(f"backend must be 'isolated' or 'subprocess', got {backend!r}")
        _check_timeout(timeout)
        slots = len(os.sched_getaffinity(0)) if slots is None else slots
        amounts = {
            "memory_mb": memory_mb, "disk_mb": disk_mb, "processes": processes, "open_files": open_files,
            "output_kb": output_kb, "slots": slots,
        }  # fmt: skip
        for name, amount in amounts.items():
            if amount < 1:
                raise ValueError(f"{name} must be at least 1, got {amount}")
        self._settings = {
            "backend": backend, "timeout": timeout, "cpu_s": cpu_s, "file_mb": file_mb, **amounts,
            "preload": preload, "python": python, "readable": tuple(readable), "environment": environment,
            "supply_imports": supply_imports, "show_last": show_last,
        }  # fmt: skip
        self.backend = backend
        self.timeout = timeout
        self.cpu_s = cpu_s
        self.slots = slots
        self.supply_imports = supply_imports
        self.show_last = show_last
        self._python = python
        self._limits: dict[str, Any] = {
            "isolated": backend == "isolated",
            "memory": memory_mb << 20,
            "disk": disk_mb << 20,
            "file_size": (file_mb or disk_mb) << 20,
            "processes": processes,
            "open_files": open_files,
            "output": output_kb << 10,
            "readable": tuple(map(str, readable)),
            "environment": tuple((environment or {}).items()),
        }
        self._fixed_preload = None if preload is None else list(preload)
        self._asked: Counter[str] = Counter()
        self._unfit: set[str] = set()
        self._closed = False
        self._reset()
        _executors.add(self)

    def _reset(self) -> None:
        """No slot yet; also after a fork, where the parent's are not ours."""
        self._lock = threading.Lock()
        self._preparing = threading.Lock()
        self._free = threading.BoundedSemaphore(self.slots)
        self._idle: list[Slot] = []
        self._busy: set[Slot] = set()

    # -- running --------------------------------------------------------------------------------------

    def run(
        self,
        code: Text,
        stdin: Text = "",
        *,
        argv: Sequence[str] = (),
        files: Mapping[str, Text] | None = None,
        timeout: float | None = _DEFAULT,
    ) -> ExecutionResult:
        """Run one program.

        Args:
            code: its source; anything at all, a program that cannot be compiled ends with its ``SyntaxError``.
            stdin: what it reads.
            argv: arguments after its name.
            files: relative path -> content, laid into its folder, where they can be imported too.
            timeout: instead of the executor's.

        Returns:
            Its outcome. What a program does never raises here.

        Raises:
            gem.MissingDependency: there is no interpreter to be had; the message says what to do.
            ValueError: the executor is closed, a path leaves the folder, or the timeout is not positive.
        """
        return self._run_once(code, Case(stdin=stdin, argv=argv, files=files or {}), timeout)

    def call(
        self, code: Text, function: str, args: Sequence[Any] = (), *, timeout: float | None = _DEFAULT
    ) -> ExecutionResult:
        """Load a program, call a function of it, and return its value in :attr:`ExecutionResult.value`."""
        return self._run_once(code, Case(function=function, args=args), timeout)

    def _run_once(self, code: Text, case: Case, timeout: float | None) -> ExecutionResult:
        limit = self.timeout if timeout is _DEFAULT else timeout
        _check_timeout(limit)
        program = _Program(self, code, limit, keep_code=False)
        program.check(case)
        with self._lease(program.packages) as lease:
            return program.run(lease, case)

    def run_many(
        self,
        code: Text,
        cases: Iterable[Case | Text],
        *,
        timeout: float | None = _DEFAULT,
        until: Callable[[int, ExecutionResult], bool] | None = None,
        workers: int = 1,
    ) -> list[ExecutionResult]:
        """Run one program on many inputs, compiled once, each time in a fresh process and folder.

        Args:
            cases: inputs; a plain string is standard input.
            timeout: of each run.
            until: called with the index and the outcome of each run; true: the runs after it are left out.
            workers: runs at once; each takes a slot.

        Returns:
            Outcomes in the order of the cases, as far as ``until`` let them come.
        """
        limit = self.timeout if timeout is _DEFAULT else timeout
        _check_timeout(limit)
        every = [case if isinstance(case, Case) else Case(stdin=case) for case in cases]
        program = _Program(self, code, limit, keep_code=len(every) > 1)
        for case in every:
            program.check(case)
        results: dict[int, ExecutionResult] = {}
        lock, todo, stop = threading.Lock(), iter(range(len(every))), threading.Event()

        def work() -> None:
            with self._lease(program.packages) as lease:
                while not stop.is_set():
                    with lock:
                        index = next(todo, None)
                    if index is None:
                        return
                    result = program.run(lease, every[index])
                    results[index] = result
                    if until is not None and until(index, result):
                        stop.set()

        _in_threads(work, min(workers, self.slots, len(every)))
        ordered = []
        for index in range(len(every)):
            if index not in results:
                break
            ordered.append(results[index])
            if until is not None and until(index, results[index]):
                break
        return ordered

    def session(self, *, timeout: float | None = _DEFAULT) -> Session:
        """A program that goes on: its variables stay from one :meth:`Session.run` to the next.

        It has an interpreter of its own, beyond ``slots``; close it.
        """
        limit = self.timeout if timeout is _DEFAULT else timeout
        _check_timeout(limit)
        return Session(self, limit)

    def prepare(self) -> None:
        """Have a warm interpreter ready before there is a program for it.

        Raises:
            gem.MissingDependency: there is none to be had; the message says what to do.
        """
        with self._preparing:
            if not self._idle and not self._busy:
                self._put_back(self._take())

    def close(self) -> None:
        """End all interpreters, also those at work (their callers get a result that says so). Safe to call twice."""
        with self._lock:
            self._closed = True
            slots = [*self._idle, *self._busy]
            self._idle.clear()
        for slot in slots:
            slot.close()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        from gem_tools.python.shared import restore_executor

        return restore_executor, (self._settings,)  # interpreters do not travel; their settings do

    def __repr__(self) -> str:
        return f"<Executor {self.backend} slots={self.slots} timeout={self.timeout}>"

    # -- slots ----------------------------------------------------------------------------------------

    def _start_slot(self) -> Slot:
        """A warm interpreter that the caller closes."""
        if self._closed:
            raise ValueError("the executor is closed; make a new one")
        slot = Slot(SlotConfig(interpreter=describe(self._python), **self._limits))
        with self._lock:
            closed = self._closed
            self._busy.add(slot)
        if closed:
            slot.close()
            raise ValueError("the executor is closed; make a new one")
        if self._fixed_preload:
            try:
                slot.preload(self._fixed_preload)
            except SlotLost:
                self._let_go(slot)
                names = ", ".join(self._fixed_preload)
                raise MissingDependency(f"the interpreter ended while it imported {names}; shorten preload") from None
        return slot

    def _let_go(self, slot: Slot) -> None:
        """Close a slot that :meth:`_start_slot` returned."""
        slot.close()
        with self._lock:
            self._busy.discard(slot)

    @contextmanager
    def _lease(self, packages: Sequence[str] = ()) -> Iterator[_Lease]:
        with self._free:
            lease = _Lease(self, self._often(packages))
            try:
                yield lease
            finally:
                lease.give_back()

    def _often(self, packages: Sequence[str]) -> list[str]:
        """Which of the packages that a program imports are worth loading for the next ones too."""
        if self._fixed_preload is not None:
            return []
        with self._lock:
            packages = [package for package in packages if package not in self._unfit]
            self._asked.update(packages)
            return [package for package in packages if self._asked[package] >= _OFTEN]

    def _give_up(self, packages: Sequence[str]) -> None:
        """Never load these packages into a warm interpreter again."""
        with self._lock:
            self._unfit.update(packages)

    def _take(self) -> Slot:
        """An idle interpreter, or a new one."""
        while True:
            with self._lock:
                if self._closed or not self._idle:
                    break
                slot = self._idle.pop()
                self._busy.add(slot)
            if slot.connected():
                return slot
            self._let_go(slot)
        return self._start_slot()

    def _put_back(self, slot: Slot) -> None:
        with self._lock:
            self._busy.discard(slot)
            if slot.usable and not self._closed:
                self._idle.append(slot)
                return
        slot.close()


class _Lease:
    """The right to run one program at a time; replaces interpreters that are lost."""

    def __init__(self, executor: Executor, preload: list[str]) -> None:
        self._executor = executor
        self._preload = preload
        self._slot: Slot | None = None

    def ask(self, what: bytes, body: bytes, timeout: float | None) -> Reply:
        slot = self._slot
        if slot is not None and not slot.connected():
            self.give_back()
            slot = None
        if slot is None:
            slot = self._slot = self._executor._take()
            missing = [package for package in self._preload if package not in slot.preloaded]
            if missing:
                try:
                    slot.preload(missing)
                except SlotLost:  # an import that kills its interpreter is the program's own affair
                    self._preload = []
                    self._executor._give_up(missing)
                    self.give_back()
                    slot = self._slot = self._executor._take()
        return slot.ask(what, body, timeout)

    def give_back(self) -> None:
        if self._slot is not None:
            slot, self._slot = self._slot, None
            self._executor._put_back(slot)


class _Program:
    """A program on its way to the interpreters."""

    def __init__(self, executor: Executor, code: Text, timeout: float | None, keep_code: bool) -> None:
        self._source = _bytes(code)
        self._timeout = timeout
        self._keep_code = keep_code and not executor.show_last
        self._compiled = b""
        self._fixed = told(self._source, executor)
        self.packages = heavy_packages(self._source, executor.supply_imports)

    def check(self, case: Case) -> None:
        """Raise for what a caller got wrong, before anything runs."""
        for name in case.files:
            _inside(name)
        if case.function is not None:
            json.dumps(list(case.args))

    def body(self, case: Case) -> dict[str, Any]:
        """What a zygote's fork is told."""
        body = dict(self._fixed)
        if case.stdin:
            body["stdin"] = _bytes(case.stdin)
        if case.argv:
            body["argv"] = [str(argument) for argument in case.argv]
        if case.files:
            body["files"] = {_inside(name): _bytes(content) for name, content in case.files.items()}
        if case.function is not None:
            body["function"] = case.function
            body["arguments"] = json.dumps(list(case.args)).encode()
        return body

    def run(self, lease: _Lease, case: Case) -> ExecutionResult:
        body = self.body(case)
        what = zygote.RUN
        if case.function is not None:
            what = zygote.CALL
        if self._compiled:
            body["compiled"] = self._compiled
        elif self._keep_code:
            body["keep_code"] = True
            what = zygote.CALL
        if len(body) == 1:
            what, message = zygote.PLAIN, self._source
        else:
            message = marshal.dumps(body, 2)
        try:
            reply = lease.ask(what, message, self._timeout)
        except SlotLost:
            return ExecutionResult(reason="lost", timeout=self._timeout)
        if reply.code and len(reply.code) < LARGEST_VALUE:
            self._compiled = reply.code
        return result_of(reply, self._timeout)


class Session:
    """A program that goes on between calls, as a notebook does. One caller at a time.

    Between two calls it stands still, whatever it started included: threads and children go on with the next call.
    A call past its time is interrupted (``KeyboardInterrupt``), which keeps the variables; a program that does not
    let itself be interrupted, or that dies, loses them: its result says :attr:`ExecutionResult.state_lost`, and the
    next call begins afresh.
    """

    def __init__(self, executor: Executor, timeout: float | None) -> None:
        self._executor = executor
        self._timeout = timeout
        self._slot: Slot | None = None
        self._lock = threading.Lock()

    def run(self, code: Text, *, timeout: float | None = _DEFAULT) -> ExecutionResult:
        """Run a piece of program in the session's namespace. See :meth:`Executor.run`."""
        limit = self._timeout if timeout is _DEFAULT else timeout
        _check_timeout(limit)
        source = _bytes(code)
        executor = self._executor
        with self._lock:
            if self._slot is None:
                self._slot = executor._start_slot()
                self._slot.ask(zygote.OPEN, b"", zygote.GRACE)
            body = told(source, executor)
            try:
                reply = self._slot.ask(zygote.CELL, marshal.dumps(body, 2), limit)
            except SlotLost:
                self._drop()
                return ExecutionResult(reason="lost", timeout=limit, state_lost=True)
            except BaseException:
                self._drop()
                raise
            if not reply.alive:
                self._drop()
            return result_of(reply, limit, state_lost=not reply.alive)

    def _drop(self) -> None:
        if self._slot is not None:
            self._executor._let_go(self._slot)
            self._slot = None

    def close(self) -> None:
        """End the program and everything it started. Safe to call twice; a later run begins afresh."""
        with self._lock:
            self._drop()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_slot", None) is not None:
            self._drop()


def result_of(reply: Reply, timeout: float | None, state_lost: bool = False) -> ExecutionResult:
    """A reply as callers see it."""
    reason = _REASONS.get(reply.why, "lost")
    stdout, cut_out = decode(*reply.stdout)
    stderr, cut_err = decode(*reply.stderr)
    value, has_value = None, False
    if reply.value and len(reply.value) < LARGEST_VALUE:
        with suppress(ValueError, RecursionError):  # the program wrote there itself: it has returned nothing
            value, has_value = json.loads(reply.value, parse_int=big_int), True
    return ExecutionResult(
        stdout=stdout,
        stderr=stderr,
        exit_code=reply.status if reason == "exit" else None,
        signal=reply.status if reason == "signal" else None,
        reason=reason,
        timeout=timeout,
        wall_s=reply.wall,
        cpu_s=reply.cpu,
        peak_mb=reply.peak / 1024,
        stdout_bytes=reply.stdout[2],
        stderr_bytes=reply.stderr[2],
        truncated=cut_out or cut_err,
        value=value,
        has_value=has_value,
        state_lost=state_lost,
    )


def big_int(digits: str) -> int:
    """An integer of any length, whatever limit the caller's interpreter has on reading them."""
    if len(digits) < 4000:
        return int(digits)
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    value = 0
    for start in range(0, len(digits), 4000):
        chunk = digits[start : start + 4000]
        value = value * 10 ** len(chunk) + int(chunk)
    return sign * value


#: What makes a program want to find itself as a file.
_WANTS_FILE = re.compile(rb"__file__|inspect|multiprocessing|concurrent|runpy")
#: What makes random numbers differ from run to run where a program asks for any.
_WANTS_RANDOM = re.compile(rb"rand|shuffle|choice|sample|secrets|layout")
#: What a program may have left unflushed or unfinished, so that it must be let go of thoroughly.
_WANTS_CARE = re.compile(rb"open|__del__|finalize|TextIOWrapper|FileIO")
#: What a program that can look at its process, or start others, has to say: the rest cannot tell how theirs is set up.
_WANTS_SYSTEM = re.compile(rb"import|open|exec|eval|compile|getattr|breakpoint|help|__")
_WANTS = {"file": _WANTS_FILE, "random": _WANTS_RANDOM, "thorough": _WANTS_CARE, "system": _WANTS_SYSTEM}.items()
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # no attributes
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?[ \t]*(?:#.*|;.*)?$", re.MULTILINE)


def told(source: bytes, executor: Executor) -> dict[str, Any]:
    """What a zygote's fork is told about a program, read from its text here, where that costs least."""
    body: dict[str, Any] = {"source": source}
    if executor.show_last:
        body["show_last"] = True
    if executor.cpu_s is not None:
        body["cpu"] = executor.cpu_s
    for key, wants in _WANTS:
        if wants.search(source):
            body[key] = True
    if executor.supply_imports:
        text = source.decode("utf-8", "replace")
        names = USUAL_NAMES.keys() & set(_WORD.findall(text))
        if names:
            names = names.difference(*_IMPORT.findall(text))  # these are not forgotten
        if names:
            body["imports"] = {name: USUAL_NAMES[name] for name in names}
            body["system"] = True
    return body


def heavy_packages(source: bytes, supply_imports: bool) -> list[str]:
    """The packages a program imports that are worth importing once for all."""
    text = source.decode("utf-8", "replace")
    found = set(_HEAVY.findall(text))
    if supply_imports:
        found.update(_ALIASES[alias] for alias in _HEAVY_ALIAS.findall(text))
    return sorted(found)


def _bytes(text: Text) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _inside(name: str) -> str:
    """A relative path that stays in the folder."""
    clean = os.path.normpath(name)
    if os.path.isabs(clean) or clean.split("/")[0] == ".." or clean == "." or "\0" in name:
        raise ValueError(f"files: {name!r} is not a path inside the program's folder")
    return clean


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be positive or None, got {timeout}")


def _in_threads(work: Callable[[], None], workers: int) -> None:
    """Run ``work`` in this many threads, this one included; the first error of any is raised."""
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, daemon=True) for _ in range(workers - 1)]
    for thread in threads:
        thread.start()
    if workers > 0:
        guarded()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _reset_in_child() -> None:
    for executor in list(_executors):
        executor._reset()


os.register_at_fork(after_in_child=_reset_in_child)
