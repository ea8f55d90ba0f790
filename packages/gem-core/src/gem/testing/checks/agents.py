"""What only environments of several agents have to keep."""

from __future__ import annotations

from gem.testing.subject import Subject


def agents(subject: Subject) -> None:
    pass
