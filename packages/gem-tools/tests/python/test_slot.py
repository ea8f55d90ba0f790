"""What a slot does to the caller's machine."""

from __future__ import annotations

import os
import socket
import stat
import threading
from types import SimpleNamespace

import pytest

from gem_tools.python import Executor, zygote
from gem_tools.python.slot import Slot, SlotLost, remove_folder


@pytest.fixture
def wire():
    """A slot that only listens, and the other end of its wire."""
    ours, theirs = socket.socketpair()
    slot = Slot.__new__(Slot)
    slot.control, slot.config = ours, SimpleNamespace(output=1 << 20)
    with ours, theirs:
        yield slot, theirs


def reply(out=b"", value=b""):
    sizes = (len(out), len(out), 0, 0, 0, 0, len(value), 0)
    return zygote.REPLY.pack(zygote.EXITED, 0, 0.5, 0.25, 100, *sizes, True) + out + value


@pytest.mark.parametrize("step", [1, 50, zygote.REPLY.size, 1 << 20])
def test_a_reply_may_arrive_in_pieces(wire, step):
    slot, theirs = wire
    message = reply(b"shown" * 50_000 if step > 50 else b"shown", b"[1]")

    def send():
        for start in range(0, len(message), step):
            theirs.sendall(message[start : start + step])

    sender = threading.Thread(target=send)
    sender.start()
    received = slot._receive_reply()
    sender.join()
    assert received.stdout[0] == message[zygote.REPLY.size : -3]
    assert (received.value, received.code, received.alive) == (b"[1]", b"", True)


@pytest.mark.parametrize("message", [reply(b"shown") + b"more", reply(b"x" * (1 << 20) + b"x")])
def test_a_reply_that_makes_no_sense_loses_the_slot(wire, message):
    slot, theirs = wire
    sender = threading.Thread(target=theirs.sendall, args=(message[:9000],))
    sender.start()
    with pytest.raises(SlotLost, match="makes no sense"):
        slot._receive_reply()
    sender.join()


def test_a_wire_that_ends_in_the_middle_loses_the_slot(wire):
    slot, theirs = wire
    theirs.sendall(reply(b"shown")[:-2])
    theirs.close()
    with pytest.raises(SlotLost, match="ended"):
        slot._receive_reply()


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
