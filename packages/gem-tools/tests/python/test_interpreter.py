from __future__ import annotations

import sys

import pytest

from gem.errors import MissingDependency
from gem_tools.python.interpreter import Interpreter, describe


def test_the_running_interpreter():
    found = describe()
    assert found.executable == sys.executable
    assert found.version == sys.version_info[:2]
    assert {sys.prefix, sys.base_prefix} <= set(found.prefixes)
    assert f"{sys.prefix}/lib" in found.paths()


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho hello\n", "#!/bin/sh\n"])
def test_what_is_no_python(tmp_path, text):
    fake = tmp_path / "python"
    fake.write_text(text)
    fake.chmod(0o755)
    with pytest.raises(MissingDependency, match="is not a Python that runs"):
        describe(str(fake))


def test_old_python(tmp_path):
    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\necho \'{"executable": "x", "version": [3, 9], "prefixes": [], "user_base": null}\'\n')
    fake.chmod(0o755)
    with pytest.raises(MissingDependency, match=r"Python 3\.9"):
        describe(str(fake))


def test_user_site_is_part_of_it(tmp_path):
    (tmp_path / "lib").mkdir()
    assert Interpreter("x", (3, 11), (), str(tmp_path)).paths() == [f"{tmp_path}/lib"]
