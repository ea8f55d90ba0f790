import importlib
import re
from pathlib import Path

import pytest

from gem.testing import assert_conforms

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_the_readme_runs(code):
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


def test_the_game_of_the_readme_conforms(tmp_path, monkeypatch):
    (tmp_path / "coin_toss.py").write_text(BLOCKS[-1])
    monkeypatch.syspath_prepend(tmp_path)
    assert_conforms(importlib.import_module("coin_toss").CoinToss, backends=["sync"])
