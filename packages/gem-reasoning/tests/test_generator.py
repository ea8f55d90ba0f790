"""The generating process: the same items in every hash seed, death, forks, nothing left."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gem_reasoning.env import OWN_PROCESS
from gem_reasoning.generator import Generator, GeneratorDied

OPTIONS = pickle.dumps({})


@pytest.fixture
def generator() -> Iterator[Generator]:
    generator = Generator()
    yield generator
    pid = generator.pid
    generator.close()
    assert pid is None or not Path(f"/proc/{pid}").exists()


def key(idx: int, name: str = "chain_sum") -> tuple[str, bytes, int, int, int]:
    return (name, OPTIONS, 1, 100, idx)


def test_items_in_any_order_once_asked_for(generator: Generator) -> None:
    for idx in range(5):
        generator.prefetch(key(idx))
    items = [generator.item(key(idx))["question"] for idx in (3, 0, 4, 1, 2)]
    assert len(set(items)) == 5
    assert generator.item(key(3))["question"] == items[0]  # asked for again, made again


def test_threads_that_wait_for_one_item_all_get_it(generator: Generator) -> None:
    generator.item(key(0))
    assert generator.pid is not None
    os.kill(generator.pid, signal.SIGSTOP)  # so that all of them wait before it is there
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(generator.item, key(1)) for _ in range(4)]
        time.sleep(0.2)
        os.kill(generator.pid, signal.SIGCONT)
        assert len({future.result(60)["question"] for future in found}) == 1


def test_a_failing_generator_is_an_error_and_not_the_end(generator: Generator) -> None:
    with pytest.raises(ValueError, match="generator of 'no_such' failed at item 0"):
        generator.item(key(0, "no_such"))
    assert generator.item(key(0))["question"]


def test_a_killed_process_is_replaced(generator: Generator) -> None:
    generator.item(key(0))
    first = generator.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)  # so that the next request is still pending when it dies
    generator.prefetch(key(1))
    os.kill(first, signal.SIGKILL)
    with pytest.raises(GeneratorDied):
        generator.item(key(1))
    assert generator.item(key(1))["question"]
    assert generator.pid != first


def _items(seed: str) -> str:
    program = (
        "import gem, json\n"
        f"names = {sorted(OWN_PROCESS)!r}\n"
        "print(json.dumps([[gem.make(f'rg:{n}').reset(idx=i)[0] for i in range(2)] for n in names]))"
    )
    env = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True).stdout


def test_items_do_not_depend_on_the_hash_seed() -> None:
    assert _items("1") == _items("2")


def test_nothing_is_left_when_the_trainer_is_killed() -> None:
    program = (
        "import time\nfrom gem_reasoning.generator import generator\n"
        f"generator.item({key(0)!r})\nprint(generator.pid, flush=True)\ntime.sleep(60)"
    )
    trainer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert trainer.stdout is not None
    pid = int(trainer.stdout.readline())
    trainer.kill()
    trainer.communicate()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)
