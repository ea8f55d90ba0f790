"""Whether an environment can run here at all."""

from __future__ import annotations

from typing import Any


def unmet_requirement(env: Any) -> str | None:
    """What is missing here for an id or a specification to run, in one line."""
    from gem.env_spec import EnvSpec
    from gem.requirements import unmet

    if isinstance(env, str):
        from gem.registry import spec

        env = spec(env)
    if not isinstance(env, EnvSpec):
        return None
    return "; ".join(f"needs {name}: {what}" for name, what in unmet(env.requires).items()) or None
