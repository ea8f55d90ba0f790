from __future__ import annotations

from gem_tools.python import shared_executor


def test_same_settings_same_executor():
    one = shared_executor(timeout=3.0, readable=("/usr",))
    assert shared_executor(readable=["/usr"], timeout=3.0) is one
    assert shared_executor(timeout=4.0) is not one
    assert one.timeout == 3.0
