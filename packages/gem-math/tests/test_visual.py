"""Problems with pictures."""

from __future__ import annotations

import base64
import io
import pickle
from pathlib import Path
from typing import Any

import datasets
import pytest
from PIL import Image

import gem
from gem.testing import EnvSuite
from gem_math.visual import MathVisualEnv


def picture() -> Image.Image:
    return Image.new("RGB", (3, 2), "red")


def png() -> bytes:
    buffer = io.BytesIO()
    picture().save(buffer, "PNG")
    return buffer.getvalue()


def decoded(part: dict[str, str]) -> Image.Image:
    assert part["type"] == "image"
    head, _, data = part["image"].partition(",")
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


@pytest.mark.parametrize("form", ["picture", "bytes", "dict", "path", "data uri", "list"])
def test_pictures_of_every_form_become_data_uris(form: str, tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(png())
    value: Any = {
        "picture": picture(),
        "bytes": png(),
        "dict": {"bytes": png(), "path": None},
        "path": str(path),
        "data uri": "data:image/png;base64," + base64.b64encode(png()).decode(),
        "list": [picture(), png()],
    }[form]
    env = MathVisualEnv(dataset=[{"problem": "<image> What colour?", "answer": "1", "images": value}])
    observation, _ = env.reset()
    assert observation[-1] == {"type": "text", "text": "What colour?"}
    assert [decoded(part).size for part in observation[:-1]] == [(3, 2)] * (2 if form == "list" else 1)


def test_pictures_decoded_by_the_library() -> None:
    features = datasets.Features(
        {"images": [datasets.Image()], "problem": datasets.Value("string"), "answer": datasets.Value("string")}
    )
    rows = datasets.Dataset.from_dict({"images": [[picture()]], "problem": ["?"], "answer": ["5"]}, features=features)
    env = MathVisualEnv(dataset=rows)
    observation, _ = env.reset()
    assert decoded(observation[0]).getpixel((0, 0)) == (255, 0, 0)
    assert env.step(r"\boxed{5}")[1] == 1.0
    assert pickle.loads(pickle.dumps(env)).reset()[0] == observation


@pytest.mark.parametrize("value", [None, b"no picture", "/nowhere.png", {"bytes": None, "path": None}])
def test_what_is_no_picture_names_row_and_column(value: object) -> None:
    env = MathVisualEnv(dataset=[{"problem": "?", "answer": "1", "images": value}])
    with pytest.raises(gem.DataError, match="row 0 of the data set in memory: 'images' is"):
        env.reset()


class TestConforms(EnvSuite):
    env_ids = ["math:sample-images"]
