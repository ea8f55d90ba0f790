from __future__ import annotations

import os

import pytest

from gem.errors import MissingDependency
from gem_tools.python import bubblewrap
from gem_tools.python.interpreter import Interpreter, describe

_FDS = {"control": 5, "info": 6, "source": 7, "passwd": 8}


def test_root_turns_into_nobody_inside(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(bubblewrap, "spare_uid", lambda number: 1234 + number)
    monkeypatch.setattr(bubblewrap, "capable", lambda capability: True)
    found = bubblewrap.enclose(describe(), (), _FDS, 1)
    assert found.inner_uid == 1235
    assert "CAP_SETUID" in found.command
    assert "--unshare-user" not in found.command
    assert found.popen == {}


def test_root_without_rights_turns_into_nobody_before(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(bubblewrap, "spare_uid", lambda number: 1234)
    monkeypatch.setattr(bubblewrap, "capable", lambda capability: False)
    found = bubblewrap.enclose(describe(), (), _FDS, 1)
    assert found.inner_uid is None
    assert found.popen == {"user": 1234, "group": 1234, "extra_groups": []}
    assert "--unshare-user" in found.command


def test_an_ordinary_user_makes_a_user_namespace(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = bubblewrap.enclose(describe(), (), _FDS, 1)
    assert (found.inner_uid, found.popen) == (None, {})
    assert "--unshare-user" in found.command
    for namespace in ("pid", "net", "ipc", "uts"):
        assert f"--unshare-{namespace}" in found.command


def test_spare_users_differ():
    uids = [bubblewrap.spare_uid(number) for number in range(200)]
    assert len(set(uids)) == 200
    assert min(uids) > 65534


@pytest.mark.parametrize(("mapping", "low", "high"), [("0 1000 1\n", None, None), ("0 100000 65536\n", 32768, 65536)])
def test_spare_users_where_few_exist(monkeypatch, tmp_path, mapping, low, high):
    import builtins
    import io

    monkeypatch.setattr(builtins, "open", lambda *args, **kwargs: io.StringIO(mapping))
    uid = bubblewrap.spare_uid(3)
    assert uid is None if low is None else low <= uid < high


def test_a_prefix_is_never_shown_as_a_whole(tmp_path):
    """An environment made inside a project shows its libraries, not the project."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "secret").write_text("x")
    python = Interpreter("/usr/bin/python3", (3, 11), (str(tmp_path),), None)
    arguments = bubblewrap.file_system(python, (), _FDS)
    assert f"{tmp_path}/lib" in arguments
    bound = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--ro-bind"]
    assert str(tmp_path) not in bound


def test_parents():
    assert bubblewrap.parents("/a/b/c") == ["/a", "/a/b"]
    assert bubblewrap.parents("/a") == []


@pytest.mark.parametrize(
    ("stderr", "says"),
    [
        ("bwrap: setting up uid map: Permission denied\n", "cannot isolate programs here .bwrap: setting up uid map"),
        ("x\nPermissionError: nope", "did not start .PermissionError: nope"),
        ("", "without a word"),
    ],
)
def test_failed_starts_are_explained_in_one_line(stderr, says):
    import re

    text = bubblewrap.explain(stderr)
    assert re.search(says, text)
    assert "\n" not in text


def test_missing(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(MissingDependency, match="apt-get install bubblewrap"):
        bubblewrap.enclose(describe(), (), _FDS, 0)
