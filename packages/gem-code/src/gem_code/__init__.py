"""Programming tasks for GEM: ``code:*`` and ``eval:CodeContest``."""

__version__ = "0.1.0"
