"""One pool of each kind for the whole run: starting interpreters is the slow part."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gem_tools.python import Executor


@pytest.fixture(scope="session")
def executor() -> Iterator[Executor]:
    with Executor(slots=2, timeout=20.0) as pool:
        yield pool


@pytest.fixture(scope="session", params=["isolated", "subprocess"])
def either(request: pytest.FixtureRequest, executor: Executor) -> Iterator[Executor]:
    """Both backends, for what they have in common."""
    if request.param == "isolated":
        yield executor
        return
    with Executor("subprocess", slots=2, timeout=20.0) as pool:
        yield pool
