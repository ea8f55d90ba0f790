"""Tables by the ``datasets`` library: every local form, splits, images, and a hub that is out of reach."""

from __future__ import annotations

import gc
import time
import weakref
from pathlib import Path

import datasets
import PIL.Image
import pytest

import gem
from gem.dataset import load_table

ROWS = [{"problem": f"{i}+1", "answer": str(i + 1)} for i in range(5)]


@pytest.fixture
def dataset() -> object:
    return datasets.Dataset.from_list(ROWS)


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet", "save_to_disk", "folder"])
def test_local_forms_load(form: str, dataset, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / f"rows.{form}"
    if form in ("csv", "tsv"):
        dataset.to_csv(path, sep="\t" if form == "tsv" else ",")
    elif form in ("json", "jsonl"):
        dataset.to_json(path, lines=form == "jsonl")
    elif form == "parquet":
        dataset.to_parquet(path)
    elif form == "save_to_disk":
        dataset.save_to_disk(path)
    else:
        path.mkdir()
        dataset.to_parquet(path / "train.parquet")
    table = load_table(str(path))
    assert [str(a) for a in table.column("answer")] == [row["answer"] for row in ROWS]
    assert list(table.column("problem")) == [row["problem"] for row in ROWS]


def test_splits_are_chosen_or_listed(dataset, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    both = datasets.DatasetDict({"train": dataset, "test": dataset.select([0])})
    both.save_to_disk(tmp_path / "both")
    for arguments in ({"dataset": both}, {"dataset_name": str(tmp_path / "both")}):
        assert len(load_table(split="test", **arguments)) == 1
        with pytest.raises(gem.DataError, match=r"has several splits, pass split=\.\.\.: train, test"):
            load_table(**arguments)
        with pytest.raises(gem.DataError, match="has no split 'dev'; its splits are train, test"):
            load_table(split="dev", **arguments)


def out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTPS_PROXY", "https_proxy", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "https://127.0.0.1:9")


def test_a_hub_out_of_reach_is_said_within_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    out_of_reach(monkeypatch)
    begin = time.monotonic()
    what = "'nobody/nothing' is not in the local cache and the hub is out of reach: go online, or pass dataset_name="
    with pytest.raises(gem.DataError, match=what):
        load_table("nobody/nothing")
    assert time.monotonic() - begin < 5 + 5  # the promise, and slack for a busy machine importing the library


def test_images_are_decoded_row_by_row(tmp_path: Path) -> None:
    image = PIL.Image.new("RGB", (4, 4), "red")
    features = datasets.Features({"image": datasets.Image(), "answer": datasets.Value("string")})
    table = load_table(dataset=datasets.Dataset.from_dict({"image": [image], "answer": ["red"]}, features=features))
    assert table.column("image")[0].size == (4, 4)


def test_the_error_names_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    out_of_reach(monkeypatch)
    gem.register("offline:Task", "gem.dataset:DatasetEnv", dataset_name="nobody/nothing")
    with pytest.raises(gem.DataError, match="'offline:Task': data set 'nobody/nothing' is not in the local cache"):
        gem.make("offline:Task")


def test_a_data_set_in_memory_is_converted_once_and_let_go_of(dataset) -> None:  # type: ignore[no-untyped-def]
    table = load_table(dataset=dataset)
    assert load_table(dataset=dataset) is table
    assert load_table(dataset=dataset.select([0])) is not table
    assert list(load_table(dataset=dataset.select([3, 1])).column("answer")) == ["4", "2"]
    kept = weakref.ref(table)
    del table
    gc.collect()
    assert kept() is None
