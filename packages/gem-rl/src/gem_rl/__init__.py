"""Reinforcement learning for GEM: algorithms over turns, policies, a trainer and ``gem train``.

``advantages`` and ``losses`` know no environment; ``policies`` know no algorithm; ``trainer`` joins them.
"""

from __future__ import annotations

__version__ = "0.1.0"
