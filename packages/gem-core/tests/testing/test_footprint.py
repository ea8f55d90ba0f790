"""Seeing what is done to a process, and setting it back."""

from __future__ import annotations

import logging
import os
import random
import signal
import socket
import subprocess
import warnings

import numpy as np
import pytest

from gem.testing import check_env
from gem.testing.footprint import (
    Surroundings,
    child_processes,
    global_generators,
    left_behind,
    watching,
)


def test_every_change_is_seen_and_set_back(tmp_path):
    before = Surroundings.now()
    os.chdir(tmp_path)
    os.environ["GEM_TEST_ADDED"] = "1"
    path = os.environ.pop("PATH")
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    warnings.simplefilter("ignore", ResourceWarning)
    logging.getLogger().addHandler(logging.NullHandler())
    seen = dict(before.changes(Surroundings.now()))
    before.restore()
    assert set(seen) == {"GEM602", "GEM604", "GEM607", "GEM608", "GEM609"}
    assert list(before.changes(Surroundings.now())) == []
    assert os.environ["PATH"] == path
    assert "GEM_TEST_ADDED" not in os.environ


def test_values_of_environment_variables_are_not_told():
    before = Surroundings.now()
    os.environ["GEM_TEST_TOKEN"] = "hush"
    try:
        told = list(before.changes(Surroundings.now()))
    finally:
        before.restore()
    assert told == [("GEM604", "the environment variable GEM_TEST_TOKEN was added")]


def test_files_and_network_are_seen_while_watched_and_only_then(tmp_path):
    kept, gone = tmp_path / "kept", tmp_path / "gone"
    with watching() as deeds:
        kept.write_text("x")
        gone.write_text("x")
        gone.unlink()
        (tmp_path / "folder").mkdir()
        kept.read_text()
        with socket.socket() as client:
            client.settimeout(0.1)
            client.connect_ex(("127.0.0.1", 9))
    (tmp_path / "later").write_text("x")
    assert sorted(left_behind(deeds.files)) == [str(tmp_path / "folder"), str(kept)]
    assert deeds.network == ["a connection to 127.0.0.1:9"]


def test_files_in_the_cache_folder_are_not_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "data").write_text("x")
    assert left_behind({str(tmp_path / "data"): None}) == []


def test_child_processes_are_seen():
    before = child_processes()
    process = subprocess.Popen(["sleep", "30"])
    try:
        assert child_processes() - before == {process.pid}
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("name", "draw"), [("random", random.random), ("numpy.random", np.random.random)])
def test_global_generators_are_seen_and_set_back(name, draw):
    random.seed(5)
    np.random.seed(5)
    expected = (random.getstate(), np.random.get_state()[1].tolist())
    with global_generators(1) as states:
        draw()
    assert [n for n, state in states.items() if state.before != state.after] == [name]
    assert (random.getstate(), np.random.get_state()[1].tolist()) == expected


def test_an_examination_leaves_the_process_as_it_was():
    import defective

    before = Surroundings.now()
    for name in ("ChangesDirectory", "SetsVariables", "ConfiguresLogging"):
        assert check_env(getattr(defective, name), backends=())
    assert list(before.changes(Surroundings.now())) == []
