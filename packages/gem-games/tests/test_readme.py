import re
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_the_readme_runs(code):
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


def test_the_game_of_the_readme_conforms():
    from gem.testing import assert_conforms

    names = {"__name__": "readme"}
    exec(compile(BLOCKS[-1], "README.md", "exec"), names)
    assert_conforms(names["CoinToss"], backends=["sync"])
