from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest
from vector_toys import Counter, Unmakeable

from gem.vector import worker
from gem.vector.slot import EnvMaker, VectorConfig
from gem.vector.worker import Setup


def served(monkeypatch: pytest.MonkeyPatch, setup: Setup) -> tuple[Any, threading.Thread]:
    """A worker that runs on a thread here, and this end of its pipe."""
    monkeypatch.setattr(worker.signal, "signal", lambda *arguments: None)
    near, far = Pipe()
    thread = threading.Thread(target=worker.serve, args=(far, setup))
    thread.start()
    return near, thread


def setup(n: int = 2, source: Any = Counter, **options: Any) -> Setup:
    return Setup(range(n), [EnvMaker("toy", source)] * n, VectorConfig(), **options)


def test_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    near, thread = served(monkeypatch, setup())
    assert pickle.loads(near.recv_bytes()) == {0: False, 1: False}
    near.send_bytes(pickle.dumps(("reset", [(0, (3, None)), (1, (4, None))])))
    got: dict[int, Any] = {}
    while len(got) < 2:
        indices, body = pickle.loads(near.recv_bytes())
        got.update(zip(indices, pickle.loads(body), strict=True))
    assert got[1][0].startswith("start")
    near.send_bytes(pickle.dumps(("close", 1.0)))
    thread.join(10.0)
    assert not thread.is_alive()


def test_what_making_raises_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    near, thread = served(monkeypatch, setup(source=Unmakeable))
    error, text = pickle.loads(near.recv_bytes())
    assert isinstance(error, LookupError)
    assert "Traceback" in text
    thread.join(10.0)


def test_an_error_that_cannot_travel_is_reported_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn(Exception):
        def __init__(self, one: int, two: int) -> None:
            super().__init__("stubborn")

    def source() -> Any:
        raise Stubborn(1, 2)

    near, thread = served(monkeypatch, setup(source=source))
    error, text = pickle.loads(near.recv_bytes())
    assert error is None
    assert "stubborn" in text
    thread.join(10.0)


def test_a_replacement_begins_new_episodes_from_seeds_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for failures in (1, 1, 2):
        near, thread = served(monkeypatch, setup(1, replacement=True, seeds={0: 5}, failures={0: failures}))
        near.recv_bytes()
        near.send_bytes(pickle.dumps(("step", [(0, "go")])))
        _, body = pickle.loads(near.recv_bytes())
        seen.append(pickle.loads(body)[0][0])
        near.send_bytes(pickle.dumps(("close", 1.0)))
        thread.join(10.0)
    assert seen[0].startswith("start")
    assert seen[0] == seen[1] != seen[2]


def test_a_worker_needs_no_numpy() -> None:
    program = "import sys, gem.vector.worker; print('numpy' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "False\n"


def test_importing_the_script_marks_that_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setitem(sys.modules, "__mp_main__", sys.modules["__main__"])
    path = tmp_path / "main.py"
    path.write_text("from gem.vector import worker\nseen = worker.importing_main, __name__\n")
    worker._import_main(str(path))
    assert sys.modules["__main__"].seen == (True, "__mp_main__")  # type: ignore[attr-defined]
    assert not worker.importing_main
