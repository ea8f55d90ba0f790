"""What gem-reasoning registers: ``rg:<name>`` for every data set, and ``rg:<name>+<name>`` for mixtures."""

from __future__ import annotations

from collections.abc import Iterator

from gem import EnvSpec, hookimpl
from gem_reasoning.names import COMPOSITE, dataset_names


def _spec(env_id: str, kwargs: dict[str, object], description: str) -> EnvSpec:
    return EnvSpec(
        id=env_id,
        entry_point="gem_reasoning.env:ReasoningGymEnv",
        kwargs=kwargs,
        description=description,
        max_turns=1,
        reward_range=(0.0, 1.0),
    )


@hookimpl
def gem_env_specs() -> Iterator[EnvSpec]:
    for name in dataset_names():
        if name == COMPOSITE:
            continue  # it needs its parts named: rg:a+b, or rg:composite with datasets=[...]
        yield _spec(f"rg:{name}", {"name": name}, f"reasoning-gym: {name.replace('_', ' ')}")


@hookimpl
def gem_find_env_spec(env_id: str) -> EnvSpec | None:
    parts = env_id.removeprefix("rg:").split("+")
    known = dataset_names()
    if parts == [COMPOSITE]:
        return _spec(env_id, {"name": COMPOSITE}, "reasoning-gym: a mixture, pass datasets=[...]")
    if len(parts) < 2 or len(set(parts)) < len(parts) or any(p not in known or p == COMPOSITE for p in parts):
        return None
    datasets = [{"name": name, "weight": 1.0, "config": {}} for name in parts]
    return _spec(env_id, {"name": COMPOSITE, "datasets": datasets}, f"reasoning-gym: {', '.join(parts)}")
