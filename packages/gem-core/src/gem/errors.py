"""Every error GEM raises on purpose. Each message is one line that says what is wrong and what to do."""

from __future__ import annotations


class GemError(Exception):
    """Base class: catch this to catch everything GEM raises on purpose."""


class ResetNeeded(GemError, RuntimeError):
    """``step`` was called before the first ``reset``, or after the episode ended."""

    def __init__(self, message: str = "the episode has ended or not begun: call reset() before step()") -> None:
        super().__init__(message)


class UnknownEnv(GemError, ValueError):
    """No installed package registers this environment id."""


class PluginError(GemError, ImportError):
    """A plugin could not be loaded, or two plugins claim one id."""


class MissingDependency(GemError, ImportError):
    """An environment needs a package, program or service that is not there; the message says how to get it."""


class StateNotSupported(GemError, NotImplementedError):
    """This environment's state lives outside the process and cannot be saved or restored."""


class DataError(GemError, ValueError):
    """A data set, a row or a column is not what the environment needs; the message names it."""


class PluginWarning(UserWarning):
    """A plugin is broken, in whole or in part, and is left out; everything else works."""
