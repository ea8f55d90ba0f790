"""What pytest loads in every run where GEM is installed: it must import next to nothing.

It makes tests of the rules for each subclass of :class:`gem.testing.EnvSuite`, one for each rule and id, and checks
each id once a run, whatever the number of its tests.
"""

from __future__ import annotations

import sys

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    suite = sys.modules.get("gem.testing.suite")  # not imported: nobody in this run inherits from it
    if suite is not None and metafunc.cls is not None and issubclass(metafunc.cls, suite.EnvSuite):
        metafunc.cls.parametrize(metafunc)


@pytest.fixture(scope="session")
def gem_violations() -> Callable[..., Any]:
    """``gem_violations(key, check)``: what ``check()`` returned the first time it was asked for under ``key``."""
    found: dict[Any, Any] = {}

    def once(key: Any, check: Callable[[], Any]) -> Any:
        if key not in found:
            try:
                found[key] = check(), None
            except Exception as error:
                found[key] = None, error
        result, failure = found[key]
        if failure is not None:
            raise failure
        return result

    return once
