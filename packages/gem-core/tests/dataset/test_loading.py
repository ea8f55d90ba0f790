"""Tables from what needs no library: JSON Lines files and rows in memory."""

from __future__ import annotations

import contextlib
import copy
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.dataset import Table, load_table, loading

ROWS = [{"q": "one", "a": 1}, {"q": "two", "a": 2}]


def test_rows_in_memory_by_row_and_by_column() -> None:
    for data in (ROWS, {"q": ["one", "two"], "a": [1, 2]}):
        table = load_table(dataset=data)
        assert len(table) == 2
        assert table.columns == ("q", "a")
        assert list(table.column("a")) == [1, 2]


def test_a_json_lines_file_is_read_once_a_process(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"q": "one", "a": 1}\n\n{"q": "zwei ü", "b": 2}\n', encoding="utf-8")
    table = load_table(str(path))
    assert table.columns == ("q", "a", "b")
    assert table.column("q") == ["one", "zwei ü"]
    assert table.column("a") == [1, None]
    assert load_table(str(path)) is table


def test_a_table_is_pickled_by_name_and_never_copied(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"q": "' + "x" * 100_000 + '"}\n')
    table = load_table(str(path))
    assert copy.deepcopy(table) is table
    sent = pickle.dumps(table)
    assert len(sent) < 1000
    assert pickle.loads(sent) is table
    assert list(pickle.loads(pickle.dumps(load_table(dataset=ROWS))).column("a")) == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no data set: pass dataset_name"),
        ({"dataset": []}, "has no rows"),
        ({"dataset": ["text"]}, "every row must be a dictionary, got str"),
        ({"dataset": 3}, "expected a datasets.Dataset, a list of dictionaries or a dictionary of columns, got int"),
        ({"dataset": {"a": [1], "b": []}}, "different lengths"),
        ({"dataset_name": "/nowhere/rows.jsonl"}, "there is no file or folder /nowhere/rows.jsonl"),
        ({"dataset_name": "rows.csv"}, "there is no file or folder rows.csv"),
    ],
)
def test_errors_say_what_is_wrong(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(gem.DataError, match=message):
        load_table(**arguments)


def test_broken_files_name_the_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"q": 1}\n{"q": \n')
    with pytest.raises(gem.DataError, match=r"broken.jsonl:2 is not JSON"):
        load_table(str(broken))
    broken.write_text("[1]\n")
    with pytest.raises(gem.DataError, match=r"broken.jsonl:1 is not a JSON object"):
        load_table(str(broken))
    other = tmp_path / "rows.xls"
    other.write_text("")
    with pytest.raises(gem.DataError, match="is not a format GEM reads"):
        load_table(str(other))


def test_an_unknown_column_lists_those_there_are() -> None:
    with pytest.raises(gem.DataError, match="has no column 'x'; its columns are q, a"):
        load_table(dataset=ROWS).column("x")


def test_without_the_library_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    path = tmp_path / "rows.csv"
    path.write_text("q,a\none,1\n")
    with pytest.raises(gem.MissingDependency, match="pip install datasets"):
        load_table(str(path))


def test_columns_are_converted_once() -> None:
    reads = []
    table = Table("t", 1, ["a"], lambda name: reads.append(name) or [1])  # type: ignore[func-returns-value]
    table.column("a")
    table.column("a")
    assert reads == ["a"]


def test_a_hub_that_never_answers_counts_as_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up = threading.Event()
    answers: list[bool] = []

    def hang(*_: Any, **__: Any) -> Any:
        given_up.wait()
        raise OSError

    monkeypatch.setattr(loading, "HUB_PROBE_TIMEOUT", 0.05)
    monkeypatch.setattr(loading.socket, "create_connection", hang)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    asking = threading.Thread(target=lambda: answers.append(loading._hub_is_reachable()))
    asking.start()
    asking.join(20.0)
    try:
        assert answers == [False]
    finally:
        given_up.set()
    monkeypatch.setattr(loading, "HUB_PROBE_TIMEOUT", 60.0)
    monkeypatch.setattr(loading.socket, "create_connection", lambda *_, **__: contextlib.nullcontext())
    assert loading._hub_is_reachable()


def test_a_fork_while_another_thread_loads_does_not_hang_the_child() -> None:
    program = """if True:
        import os, signal, threading
        from gem.dataset import load_table, loading
        held, release = threading.Event(), threading.Event()

        def hold():
            with loading._lock:
                held.set()
                release.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if len(load_table(dataset=[{"a": 1}])) == 1 else 1)
        status = os.waitpid(child, 0)[1]
        release.set()
        thread.join()
        assert status == 0, status
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
