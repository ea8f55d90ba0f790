"""What a slot does to the caller's machine."""

from __future__ import annotations

import os
import stat

from gem_tools.python import Executor
from gem_tools.python.slot import remove_folder


def test_removal_touches_nothing_outside(tmp_path):
    """A folder that is gone already, or cannot be read: what lies around it keeps its mode."""
    tmp_path.chmod(0o751)
    remove_folder(str(tmp_path / "gone"))
    locked = tmp_path / "folder" / "a" / "b"
    locked.mkdir(parents=True)
    (locked / "file").write_text("x")
    locked.chmod(0)
    locked.parent.chmod(0)
    locked.parent.parent.chmod(0)
    remove_folder(str(tmp_path / "folder"))
    assert list(tmp_path.iterdir()) == []
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o751


def test_modes_of_the_folder_for_temporary_files_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tmp_path.chmod(0o751)
    with Executor("subprocess", slots=1) as pool:
        pool.run("import os; os.chmod('.', 0)")
    with Executor("subprocess", slots=1) as pool, pool.session() as session:
        session.run("import os; os.mkdir('x'); os.chmod('x', 0)")
    assert os.listdir(tmp_path) == []
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o751
