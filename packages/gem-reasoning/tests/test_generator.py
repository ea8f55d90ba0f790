"""The generating process: the same items in every hash seed, death, forks, nothing left."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gem
from gem_reasoning import tasks
from gem_reasoning.env import OWN_PROCESS
from gem_reasoning.generator import Generator, GeneratorDied
from gem_reasoning.names import COMPOSITE, dataset_names

NAMES = [name for name in dataset_names() if name != COMPOSITE]

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


def digests() -> dict[str, str]:
    """Of an item of every data set, wherever it is made."""
    found = {}
    for name in NAMES:
        env = gem.make(f"rg:{name}")
        found[name] = hashlib.sha256(repr((env.reset(idx=2), env._entry)).encode()).hexdigest()
    return found


def test_items_do_not_depend_on_the_hash_seed_or_the_process() -> None:
    program = "import test_generator, json; print(json.dumps(test_generator.digests()))"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
        "PYTHONPATH": str(Path(__file__).parent),
    }
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    there, here = json.loads(done.stdout), digests()
    assert [name for name in NAMES if here[name] != there[name]] == []


@pytest.mark.parametrize("name", NAMES)
def test_generators_in_this_process_leave_it_alone(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Those that do not are to be listed in ``OWN_PROCESS``."""
    data = tasks.build(name, {}, 42, 500)
    before = random.getstate()
    items, touched = set(), False
    for own_seed in (1, 2):
        random.seed(own_seed)
        np.random.seed(own_seed)
        states = random.getstate(), np.random.get_state()[1].tolist()
        items.add(repr(data[2]))
        touched = touched or states != (random.getstate(), np.random.get_state()[1].tolist())
    random.setstate(before)
    alone = len(items) == 1 and not touched and capfd.readouterr() == ("", "")
    assert alone or name in OWN_PROCESS


def test_it_matters_not_what_was_made_before(generator: Generator) -> None:
    first = {idx: generator.item(key(idx, "codeio")) for idx in range(6)}  # some draw from numpy's generator
    assert {idx: generator.item(key(idx, "codeio")) for idx in reversed(range(6))} == first


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
