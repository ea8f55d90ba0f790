"""Mathematics for GEM: ``math:*`` and the mathematical ``eval:*`` environments, and the answer grader."""

__version__ = "0.1.0"
