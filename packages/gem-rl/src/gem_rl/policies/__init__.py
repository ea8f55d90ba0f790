"""Policies that can be trained, behind one interface: :class:`gem_rl.policies.base.Policy`."""

from __future__ import annotations

from gem_rl.policies.base import Policy, Scores

__all__ = ["Policy", "Scores"]
