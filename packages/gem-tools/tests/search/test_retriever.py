"""Missing packages are named with the command that brings them; nothing heavy is imported early."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gem
from gem_tools.search.retriever import require


def test_require(monkeypatch):
    assert require("json") is __import__("json")
    with pytest.raises(gem.MissingDependency, match=r"needs nosuch\.part, .*: pip install 'gem-tools\[dense\]'"):
        require("nosuch.part", "dense")


def test_a_package_that_is_there_but_broken_says_so_itself(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import missing_below")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="missing_below") as caught:
        require("broken_package")
    assert not isinstance(caught.value, gem.MissingDependency)


HEAVY = ["numpy", "torch", "transformers", "tantivy", "httpx", "msgpack", "starlette", "uvicorn", "pyarrow", "asyncio"]


@pytest.mark.parametrize(
    ("program", "allowed"),
    [
        ("import gem_tools.search; from gem_tools.search import SearchTool, Retriever, shared_retriever", ()),
        ("import gem_tools.search.command", ()),
        ("from gem_tools.search import SearchTool; SearchTool({index!r})", ("tantivy",)),
    ],
)
def test_what_is_imported(index, program, allowed):
    program = program.format(index=str(index)) + f"; import sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(list(allowed))
