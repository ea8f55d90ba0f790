"""Question answering for GEM: ``qa:*``, ``logic:*`` and the question-answering ``eval:*`` environments."""

__version__ = "0.1.0"
