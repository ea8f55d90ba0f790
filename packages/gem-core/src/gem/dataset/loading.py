"""From a name to rows: hub ids, local folders, files and what is in memory already, each loaded once a process.

JSON Lines files are read with the standard library; everything else by the ``datasets`` library, which is
imported when it is needed and not before.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gem.errors import DataError, MissingDependency

#: File suffix -> the loader of the ``datasets`` library that reads it.
FORMATS = {".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".arrow": "arrow"}

#: Columns larger than this stay in Arrow and are converted row by row.
LARGEST_COLUMN_IN_MEMORY = 512 * 1024 * 1024

#: How long to wait for the hub before going on with what is in the local cache, in seconds.
HUB_PROBE_TIMEOUT = 2.0


class Table:
    """Rows by column. Columns are converted to Python once, however many environments read them."""

    def __init__(
        self, name: str, length: int, columns: Sequence[str], read: Callable[[str], Sequence[Any]], origin: Any = None
    ) -> None:
        self.name = name
        self.columns = tuple(columns)
        self._length = length
        self._read = read
        self._cache: dict[str, Sequence[Any]] = {}
        # What pickling sends: the arguments of load_table, so that workers load (or inherit) their own copy.
        self._origin = origin

    def __len__(self) -> int:
        return self._length

    def column(self, name: str) -> Sequence[Any]:
        """All values of a column.

        Raises:
            gem.DataError: there is no such column; the message lists those there are.
        """
        values = self._cache.get(name)
        if values is None:
            if name not in self.columns:
                raise DataError(f"{self.name} has no column {name!r}; its columns are {', '.join(self.columns)}")
            values = self._cache[name] = self._read(name)
        return values

    def __deepcopy__(self, memo: object) -> Table:
        return self  # read-only

    def __reduce__(self) -> tuple[Any, ...]:
        return load_table, self._origin

    def __repr__(self) -> str:
        return f"<Table {self.name}: {self._length} rows of {', '.join(self.columns)}>"


def load_table(dataset_name: str = "", split: str | None = None, dataset: Any = None) -> Table:
    """Rows by name, or of an object that holds them.

    Args:
        dataset_name: a hub id, a folder (of data files, or written by ``save_to_disk``), or a JSON Lines, JSON,
            CSV, Parquet or Arrow file.
        split: which split; may be left out where there is only one.
        dataset: rows in memory: ``datasets.Dataset`` or ``DatasetDict``, a list of dictionaries, or a dictionary
            of columns. Goes before ``dataset_name``.

    Raises:
        gem.DataError: no such data set, split or file, the hub is out of reach, or no rows. Names what there is.
        gem.MissingDependency: the format needs the ``datasets`` library.
    """
    if dataset is not None:
        return _table_in_memory(dataset_name, split, dataset)
    if not dataset_name:
        raise DataError("no data set: pass dataset_name='...' (hub id, folder or file) or dataset=... (rows in memory)")
    key = (dataset_name, split)
    with _lock:
        table = _loaded.get(key)
        if table is None:
            table = _loaded[key] = _load(dataset_name, split)
    return table


_loaded: dict[tuple[str, str | None], Table] = {}
_lock = threading.RLock()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_after_fork)

#: Tables of data sets in memory, by identity, for as long as an environment holds them (and they the data set).
_in_memory: weakref.WeakValueDictionary[tuple[int, str | None], Table] = weakref.WeakValueDictionary()


def _table_in_memory(name: str, split: str | None, dataset: Any) -> Table:
    key = (id(dataset), split)
    with _lock:
        table = _in_memory.get(key)
        if table is None:
            table = _table_of(name or "the data set in memory", dataset, split, (name, split, dataset))
            if hasattr(dataset, "column_names"):  # lists and dictionaries may change, and cost little to convert
                _in_memory[key] = table
    return table


def _load(name: str, split: str | None) -> Table:
    path = Path(name).expanduser()
    origin = (name, split)
    if path.suffix == ".jsonl" and path.is_file():
        return _table_of(name, _read_json_lines(path), split, origin)
    if path.is_file():
        loader = FORMATS.get(path.suffix)
        if loader is None:
            raise DataError(f"{name} is not a format GEM reads: .jsonl, {', '.join(FORMATS)}")
        options = {"sep": "\t"} if path.suffix == ".tsv" else {}
        loaded = _with_library(name, lambda d: d.load_dataset(loader, data_files=str(path), **options))
        return _table_of(name, loaded, split, origin)
    if path.is_dir():
        if (path / "dataset_dict.json").exists() or (path / "state.json").exists():
            return _table_of(name, _with_library(name, lambda d: d.load_from_disk(str(path))), split, origin)
        return _table_of(name, _with_library(name, lambda d: d.load_dataset(str(path))), split, origin)
    if path.suffix in {".jsonl", *FORMATS} or name.startswith((".", "/", "~")):
        raise DataError(f"there is no file or folder {name}")
    return _table_of(name, _from_hub(name), split, origin)


def _read_json_lines(path: Path) -> list[dict[str, Any]]:
    rows = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise DataError(f"{path}:{number} is not JSON: {error}") from None
                if not isinstance(row, dict):
                    raise DataError(f"{path}:{number} is not a JSON object")
                rows.append(row)
    return rows


def _with_library(name: str, load: Callable[[Any], Any]) -> Any:
    try:
        import datasets  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ModuleNotFoundError:
        raise MissingDependency(f"loading {name} needs the datasets library: pip install datasets") from None
    try:
        return load(datasets)
    except (DataError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise DataError(f"{name} cannot be loaded: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _from_hub(name: str) -> Any:
    if _hub_is_reachable():
        return _with_library(name, lambda d: d.load_dataset(name))
    try:
        with _offline():
            return _with_library(name, lambda d: d.load_dataset(name))
    except DataError as error:
        raise DataError(
            f"data set {name!r} is not in the local cache and the hub is out of reach: go online, or pass "
            f"dataset_name=<local folder, JSONL, CSV or Parquet file> or dataset=<rows in memory>"
        ) from error


def _hub_is_reachable() -> bool:
    """Ask once and briefly: the library's own retries take 23 s before they give up."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}:
        return False
    endpoint = os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy") or os.environ.get("HF_ENDPOINT")
    url = urlsplit(endpoint or "https://huggingface.co")
    reached: list[bool] = []

    def connect() -> None:
        try:
            with socket.create_connection(
                (url.hostname or "huggingface.co", url.port or (80 if url.scheme == "http" else 443)),
                timeout=HUB_PROBE_TIMEOUT,
            ):
                reached.append(True)
        except OSError:
            pass

    # In a thread because name resolution has no time limit of its own.
    probe = threading.Thread(target=connect, daemon=True)
    probe.start()
    probe.join(HUB_PROBE_TIMEOUT)
    return bool(reached)


@contextmanager
def _offline() -> Iterator[None]:
    """Have the libraries look into their cache only; the lock of load_table keeps other threads out."""
    import datasets
    import huggingface_hub.constants as hub  # type: ignore[import-not-found,import-untyped,unused-ignore]

    before = (hub.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE)
    hub.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        hub.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before


def _table_of(name: str, data: Any, split: str | None, origin: tuple[Any, ...]) -> Table:
    if (hasattr(data, "keys") and hasattr(data, "column_names")) or _is_split_mapping(data):
        data = _choose_split(name, data, split)
    if hasattr(data, "column_names") and hasattr(data, "features"):
        table = _table_of_library(name, data, origin)
    elif isinstance(data, Mapping):
        lengths = {len(column) for column in data.values()}
        if len(lengths) > 1:
            raise DataError(f"{name}: the columns have different lengths {sorted(lengths)}")
        table = Table(name, lengths.pop() if lengths else 0, list(data), lambda c: list(data[c]), origin)
    elif isinstance(data, Sequence) and not isinstance(data, str):
        rows = [row if isinstance(row, Mapping) else _not_a_row(name, row) for row in data]
        columns = list(dict.fromkeys(key for row in rows for key in row))
        table = Table(name, len(rows), columns, lambda c: [row.get(c) for row in rows], origin)
    else:
        raise DataError(
            f"{name}: expected a datasets.Dataset, a list of dictionaries or a dictionary of columns, "
            f"got {type(data).__name__}"
        )
    if len(table) == 0:
        raise DataError(f"{name} has no rows")
    return table


def _not_a_row(name: str, row: object) -> Mapping[str, Any]:
    raise DataError(f"{name}: every row must be a dictionary, got {type(row).__name__}")


def _is_split_mapping(data: Any) -> bool:
    return isinstance(data, Mapping) and bool(data) and all(hasattr(v, "column_names") for v in data.values())


def _choose_split(name: str, data: Mapping[str, Any], split: str | None) -> Any:
    names = list(data.keys())
    if split is not None:
        if split not in names:
            raise DataError(f"{name} has no split {split!r}; its splits are {', '.join(names)}")
        return data[split]
    if len(names) != 1:
        raise DataError(f"{name} has several splits, pass split=...: {', '.join(names)}")
    return data[names[0]]


def _table_of_library(name: str, dataset: Any, origin: tuple[Any, ...]) -> Table:
    def read(column: str) -> Sequence[Any]:
        feature = dataset.features[column]
        decoded = any(kind in repr(feature) for kind in ("Image(", "Audio(", "Video("))
        if decoded or dataset.data.column(column).nbytes > LARGEST_COLUMN_IN_MEMORY:
            return _LazyColumn(dataset, column)
        return list(dataset[column][:])  # sliced: converted in one go

    return Table(name, len(dataset), dataset.column_names, read, origin)


class _LazyColumn(Sequence[Any]):
    """A column that is converted (images: decoded) row by row, since all of it would not fit in memory."""

    def __init__(self, dataset: Any, column: str) -> None:
        self._dataset = dataset.select_columns([column])
        self._column = column

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: Any) -> Any:
        return self._dataset[index][self._column]
