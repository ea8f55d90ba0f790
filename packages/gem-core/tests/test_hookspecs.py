"""Every hook has a docstring and a section of its own in docs/plugins.md."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from gem import hookspecs
from gem.plugins import GROUPS

HOOKS = {name: value for name, value in vars(hookspecs).items() if hasattr(value, "gem_spec")}
PAGE = Path(__file__).resolve().parents[3] / "docs" / "plugins.md"


def test_these_are_the_hooks() -> None:
    assert sorted(HOOKS) == ["gem_env_made", "gem_env_specs", "gem_episode_ended", "gem_find_env_spec"]
    assert sorted(n for n in vars(hookspecs) if n.startswith("gem_")) == sorted(HOOKS)  # none without its marker


@pytest.mark.parametrize("name", HOOKS)
def test_each_hook_is_documented(name: str) -> None:
    signature = ", ".join(inspect.signature(HOOKS[name]).parameters)
    assert len(inspect.getdoc(HOOKS[name]) or "") > 50
    section = re.search(rf"^### `{name}\({signature}\)`\n\n(.+?)(?=^#|\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert section, f"docs/plugins.md needs a section '### `{name}({signature})`'"
    assert len(section[1]) > 80


def test_each_group_and_variable_is_documented() -> None:
    text = PAGE.read_text()
    for group in GROUPS:
        assert f"| `{group}` |" in text
    for variable in ("GEM_PLUGINS", "GEM_DISABLE_PLUGINS", "GEM_TRACE_PLUGINS", "GEM_TRACEBACK"):
        assert f"| `{variable}` |" in text
