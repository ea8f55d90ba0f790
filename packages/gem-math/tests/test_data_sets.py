"""Where rows may come from when the ``datasets`` library is installed, and what is said when they do not come."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from datasets import Dataset, DatasetDict

import gem
from gem.dataset import loading

ROWS = [{"problem": f"{n}+1", "answer": str(n + 1)} for n in range(5)]


def saved(form: str, folder: Path) -> str:
    rows = Dataset.from_list(ROWS)
    if form == "save_to_disk":
        rows.save_to_disk(str(folder / "saved"))
        return str(folder / "saved")
    if form == "folder":
        (folder / "rows").mkdir()
        rows.to_parquet(folder / "rows" / "train.parquet")
        return str(folder / "rows")
    path = folder / f"rows.{form}"
    if form == "parquet":
        rows.to_parquet(path)
    elif form == "csv":
        rows.to_csv(path)
    elif form == "tsv":
        rows.to_csv(path, sep="\t")
    else:
        rows.to_json(path)
    return str(path)


@pytest.mark.parametrize("form", ["save_to_disk", "folder", "parquet", "csv", "tsv", "json", "jsonl"])
def test_local_forms_load(form: str, tmp_path: Path) -> None:
    env = gem.make("math:GSM8K", dataset_name=saved(form, tmp_path))
    for idx in range(5):
        observation, _ = env.reset(idx=idx)
        assert observation == f"{idx}+1"
        assert env.step(f"\\boxed{{{idx + 1}}}")[1] == 1.0


def test_rows_in_memory_as_the_library_holds_them() -> None:
    env = gem.make("math:GSM8K", dataset=Dataset.from_list(ROWS))
    assert env.reset(idx=3)[0] == "3+1"


def test_splits(tmp_path: Path) -> None:
    rows = Dataset.from_list(ROWS)
    DatasetDict({"train": rows, "test": rows.select([4])}).save_to_disk(str(tmp_path / "both"))
    name = str(tmp_path / "both")
    assert len(gem.make("math:GSM8K", dataset_name=name, split="test")) == 1
    with pytest.raises(gem.DataError, match=r"has no split 'dev'; its splits are train, test"):
        gem.make("math:GSM8K", dataset_name=name, split="dev")
    with pytest.raises(gem.DataError, match=r"has several splits, pass split=\.\.\.: train, test"):
        gem.make("math:GSM8K", dataset_name=name)
    with pytest.raises(gem.DataError, match=r"has no column 'question'; its columns are problem, answer"):
        gem.make("math:GSM8K", dataset_name=name, split="train", question_key="question")


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"not parquet")
    with pytest.raises(gem.DataError) as caught:
        gem.make("math:GSM8K", dataset_name=str(tmp_path / "rows.parquet"))
    assert "rows.parquet cannot be loaded" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("how", ["told", "refused", "silent"])
def test_out_of_reach_is_said_soon_with_id_data_set_and_remedy(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    if how == "told":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    elif how == "refused":
        monkeypatch.setenv("HF_ENDPOINT", "https://127.0.0.1:9")
    else:  # name resolution that hangs
        monkeypatch.setattr(loading.socket, "create_connection", lambda *_, **__: time.sleep(60))
    begin = time.monotonic()
    with pytest.raises(gem.DataError) as caught:
        gem.make("math:GSM8K", dataset_name="nobody/has-this-data-set")
    assert time.monotonic() - begin < 30  # the library's own retries end later
    message = str(caught.value)
    assert "math:GSM8K" in message
    assert "nobody/has-this-data-set" in message
    assert "go online, or pass dataset_name=" in message
