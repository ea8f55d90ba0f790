"""What goes wrong in a training run on purpose, each in one line that says what to do."""

from __future__ import annotations

from gem.errors import GemError


class ConfigError(GemError, ValueError):
    """A setting is unknown, of the wrong kind, or at odds with another one."""


class RunFolderError(GemError, OSError):
    """The run folder is taken, or is not one that can be resumed."""


class EmptyBatch(GemError, RuntimeError):
    """A rollout brought back no episode to learn from."""


class Interrupted(GemError):
    """Training was stopped by Ctrl-C after its checkpoint was written."""
