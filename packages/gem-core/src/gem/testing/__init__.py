"""The conformance kit: does an environment keep every rule that trainers and evaluators rely on?

:func:`check_env` lists what it breaks, :func:`assert_conforms` raises, and :class:`EnvSuite` makes a test of every
rule for every id of a package.
"""

from __future__ import annotations

from gem.lazy import lazy_exports

_EXPORTS = {
    "check_env": "gem.testing.check",
    "assert_conforms": "gem.testing.check",
    "EnvSuite": "gem.testing.suite",
    "Rule": "gem.testing.violations",
    "RULES": "gem.testing.violations",
    "Violation": "gem.testing.violations",
}

__all__ = sorted(_EXPORTS)

# Type checkers read these. At run time names are imported on use: pytest imports this package in every run.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from gem.testing.check import assert_conforms as assert_conforms, check_env as check_env
    from gem.testing.suite import EnvSuite as EnvSuite
    from gem.testing.violations import RULES as RULES, Rule as Rule, Violation as Violation

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
