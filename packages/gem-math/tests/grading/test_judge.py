"""The slow judge: shared processes, limits, deaths."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gem_math.grading import judge as judge_module
from gem_math.grading.judge import Judge, JudgeFailed, JudgeTimeout, consult

INTEGRAL, HALF = r"\int_0^1 x dx", r"\frac{1}{2}"
SLOW = r"\sum_{n=1}^{10000000} \frac{1}{n^3+1}"
ENDLESS = r"9^{9^{9^{9}}}"


@pytest.fixture
def judge() -> Iterator[Judge]:
    judge = Judge()
    yield judge
    pids = judge.pids()
    judge.close()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_verdicts(judge: Judge) -> None:
    assert judge.equal(INTEGRAL, HALF, 5)
    assert not judge.equal(INTEGRAL, "3", 5)
    assert len(judge.pids()) == 1  # a second one is started when the first is busy


def test_an_endless_request_is_ended_and_the_next_one_served(judge: Judge) -> None:
    judge.equal(INTEGRAL, HALF, 5)
    before = judge.pids()
    with pytest.raises((JudgeTimeout, JudgeFailed)):  # out of time, or out of memory first
        judge.equal(ENDLESS, "7", 0.5)
    assert judge.equal(INTEGRAL, HALF, 5)
    assert judge.pids() != before


def test_waiting_and_starting_do_not_count(judge: Judge) -> None:
    # 24 at once on two processes, each limited to less than all of them take: none may be lost, the first least of all
    with ThreadPoolExecutor(24) as pool:
        verdicts = list(pool.map(lambda _: judge.equal(INTEGRAL, HALF, 1.0), range(24)))
    assert verdicts == [True] * 24
    assert len(judge.pids()) <= 2


def test_a_process_that_is_killed_is_replaced(judge: Judge) -> None:
    judge.equal(INTEGRAL, HALF, 5)
    os.kill(judge.pids()[0], signal.SIGKILL)
    with pytest.raises(JudgeFailed):
        judge.equal(INTEGRAL, HALF, 5)
    assert judge.equal(INTEGRAL, HALF, 5)


def test_killed_in_the_middle_of_a_request(judge: Judge) -> None:
    judge.equal(INTEGRAL, HALF, 5)
    killer = threading.Timer(0.3, os.kill, (judge.pids()[0], signal.SIGKILL))
    killer.start()
    with pytest.raises((JudgeFailed, JudgeTimeout)):
        judge.equal(ENDLESS, "7", 30)
    killer.join()
    assert judge.equal(INTEGRAL, HALF, 5)


def test_nothing_is_left_when_the_trainer_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "trainer.py"
    program.write_text(
        textwrap.dedent(
            """
            import sys, time
            from gem_math.grading import judge
            from gem_math.grading.judge import consult, _judge
            consult(r"\\\\int_0^1 x dx", "1/2")
            print(*_judge.pids(), flush=True)
            time.sleep(60)
            """
        )
    )
    trainer = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True)
    assert trainer.stdout is not None
    pid = int(trainer.stdout.readline())
    trainer.kill()
    trainer.communicate()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline, "the judging process outlived the trainer"
        time.sleep(0.05)


def test_a_forked_child_starts_its_own(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import os
        from gem_math.grading.judge import consult
        import gem_math.grading.judge as module
        consult(r"\\int_0^1 x dx", "1/2")
        parents = module._judge.pids()
        child = os.fork()
        if child == 0:
            fine = consult(r"\\int_0^1 x dx", "1/2") and module._judge.pids() != parents
            module._judge.close()
            os._exit(0 if fine else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert consult(r"\\int_0^1 x dx", "1/2") and module._judge.pids() == parents
        """
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def _consult(_: int) -> bool:
    fine = consult(INTEGRAL, HALF)
    judge_module._judge.close()  # a pool ends its workers without their exit handlers
    return fine


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_in_the_workers_of_a_process_pool(method: str) -> None:
    # they are daemons, which may not have children of multiprocessing's own kind
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(_consult, range(2)) == [True, True]


def test_inside_a_running_event_loop() -> None:
    # as in a notebook's cell
    async def cell() -> list[bool]:
        here = _consult(0)
        there = await asyncio.gather(*(asyncio.to_thread(consult, INTEGRAL, HALF) for _ in range(3)))
        return [here, *there]

    assert asyncio.run(cell()) == [True] * 4
    judge_module._judge.close()


def test_interrupting_a_request_leaves_nothing_behind(judge: Judge) -> None:
    judge.equal(INTEGRAL, HALF, 5)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    pids = judge.pids()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            judge.equal(SLOW, "7", 60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not Path(f"/proc/{pids[0]}").exists()
    assert judge.equal(INTEGRAL, HALF, 5)
