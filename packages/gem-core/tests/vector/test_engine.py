from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from vector_toys import Awaiting, Counter, HungClose, released

import gem
from gem.vector import engine as engine_module
from gem.vector.engine import Engine, _Overseer, close_all, interrupt
from gem.vector.slot import AutoresetMode, EnvMaker, Slot


def engine(source: Any = Counter, n: int = 4, **options: Any) -> Engine:
    slots = {i: Slot(EnvMaker("toy", source), i, AutoresetMode.SAME_STEP) for i in range(n)}
    made = Engine(slots, **options)
    made.prepare()
    return made


def collect(made: Engine, count: int) -> dict[int, Any]:
    got: dict[int, Any] = {}
    deadline = time.monotonic() + 30.0
    while len(got) < count and time.monotonic() < deadline:
        for index, outcome in made.poll(1.0):
            assert index not in got
            got[index] = outcome
    return got


@settings(max_examples=20, deadline=None)
@given(
    batches=st.lists(
        st.lists(st.sampled_from(["go", "sleep", "raise", "truncate"]), min_size=6, max_size=6), max_size=4
    ),
    threads=st.integers(1, 4),
    limit=st.sampled_from([None, 20.0]),
    patient=st.booleans(),
)
def test_every_request_has_one_outcome(
    batches: list[list[str]], threads: int, limit: float | None, patient: bool
) -> None:
    made = engine(n=6, step_timeout=limit, max_threads=threads)
    try:
        made.submit("reset", [(i, (0, None)) for i in range(6)])
        assert len(collect(made, 6)) == 6
        for batch in batches:
            got = made.submit("step", list(enumerate(batch)), patient)
            got |= collect(made, 6 - len(got))
            assert sorted(got) == list(range(6))
            assert ["error" in got[i][4] for i in range(6)] == [action == "raise" for action in batch]
        assert len(made._workers) <= threads
    finally:
        made.close(2.0)


def test_poll_gives_up_after_its_timeout_and_wakes_for_mail() -> None:
    made = engine()
    try:
        assert made.poll(0.01) == []
        threading.Timer(0.05, lambda: (made.mail.append("letter"), made.ring())).start()
        assert made.poll(20.0) == []
        assert made.mail.popleft() == "letter"
    finally:
        made.close(1.0)


@pytest.mark.parametrize("limit", [None, 20.0])
def test_one_that_was_slow_and_is_done_at_once_is_not_stepped_again(
    limit: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine(n=2, step_timeout=limit)
    try:
        made.submit("reset", [(0, (0, None)), (1, (0, None))])
        collect(made, 2)
        made._slow["step"].add(1)
        wake = made._wake

        def wake_and_wait(job: Any) -> bool:
            woken = wake(job)
            deadline = time.monotonic() + 20.0
            while 1 in made._slow["step"] and time.monotonic() < deadline:
                time.sleep(0.001)
            return woken

        monkeypatch.setattr(made, "_wake", wake_and_wait)
        stepped: list[int] = []
        for index, slot in made.slots.items():
            step = made._calls["step"][index]
            monkeypatch.setitem(
                made._calls["step"], index, lambda action, index=index, step=step: stepped.append(index) or step(action)
            )
            assert slot.env is not None
        made.submit("step", [(0, "go"), (1, "go")])
        collect(made, 2)
        assert sorted(stepped) == [0, 1]
    finally:
        made.close(2.0)


def test_slow_steps_are_remembered_and_forgotten() -> None:
    made = engine(n=2)
    try:
        made.submit("reset", [(0, (0, None)), (1, (0, None))])
        collect(made, 2)
        for _ in range(3):
            made.submit("step", [(0, "sleep"), (1, "go")])
            collect(made, 2)
        assert 0 in made._slow["step"]
        for _ in range(20):
            made.submit("step", [(0, "go"), (1, "go")])
            collect(made, 2)
        assert 0 not in made._slow["step"]
    finally:
        made.close(2.0)


def test_a_system_without_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    made = engine(n=8)
    made.submit("reset", [(i, (0, None)) for i in range(8)])
    collect(made, 8)
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "gem-step" and len(made._workers) > 2:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    try:
        made.submit("step", [(i, "sleep") for i in range(8)])
        assert len(collect(made, 8)) == 8
    finally:
        made.close(2.0)


def test_an_environment_that_blocks_the_event_loop_does_not_block_close() -> None:
    class Blocks(Awaiting):
        async def astep(self, action: str) -> Any:
            released.wait(3600)

    made = engine(Blocks, n=2)
    made.submit("reset", [(i, (0, None)) for i in range(2)])
    collect(made, 2)
    made.submit("step", [(0, "go"), (1, "go")])
    time.sleep(0.05)
    start = time.monotonic()
    made.close(2.0)
    assert time.monotonic() - start < 5.0


def test_interrupt_ends_a_thread_that_runs_python() -> None:
    spinning = threading.Event()

    def spin() -> None:
        try:
            spinning.set()
            while True:
                time.sleep(0.0001)
        except engine_module.Abandoned:
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    assert spinning.wait(10.0)
    interrupt(thread)
    thread.join(10.0)
    assert not thread.is_alive()


def test_close_all_closes_the_others_when_one_hangs() -> None:
    closed: list[int] = []

    class Closes(gem.Env):
        def __init__(self, number: int) -> None:
            self.number = number

        def close(self) -> None:
            closed.append(self.number)
            if self.number % 2:
                raise OSError("already gone")

    start = time.monotonic()
    close_all([Closes(0), HungClose(), Closes(1), HungClose(), Closes(2)], 1.0)
    assert time.monotonic() - start < 5.0
    assert sorted(closed) == [0, 1, 2]


def test_closing_what_holds_nothing_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", lambda thread: pytest.fail("a thread was started"))
    close_all([Counter() for _ in range(100)], 1.0)


def test_an_overseer_that_is_stopped_while_it_goes_to_sleep_ends() -> None:
    overseer: _Overseer
    stopping = threading.Event()

    class Stopped:
        """An engine that is closed just after the overseer's last look."""

        closed = False

        @property
        def _caller(self) -> Any:
            if overseer._idle == 20:
                self.closed = True
                closer.start()
                assert stopping.wait(10.0)
            return SimpleNamespace(job=None)

    def stop() -> None:
        thread = overseer._thread
        assert thread is not None
        join = thread.join
        thread.join = lambda timeout: (stopping.set(), join(timeout))[1]  # type: ignore[assignment, func-returns-value]
        overseer.stop()

    closer = threading.Thread(target=stop)
    overseer = _Overseer(Stopped())  # type: ignore[arg-type]
    overseer.watch()
    assert stopping.wait(10.0)
    closer.join(10.0)
    assert overseer._thread is not None
    overseer._thread.join(10.0)
    assert not overseer._thread.is_alive()
