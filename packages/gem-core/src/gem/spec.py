"""What a plugin says about an environment without importing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvSpec:
    """The entry of one environment id in the registry.

    ``entry_point`` is ``"package.module:Class"``, imported when the environment is first made (a callable
    is accepted from :func:`gem.register`). Everything but a callable survives a JSON round trip.
    """

    #: ``namespace:Name-v0-level``
    id: str
    entry_point: str | Callable[..., Any]
    #: Constructor arguments of this id; ``gem.make(id, **kwargs)`` overrides them one by one.
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    #: Turns after which an episode is truncated; ``None``: no limit known.
    max_turns: int | None = None
    #: Bounds of one episode's summed reward.
    reward_range: tuple[float, float] = (float("-inf"), float("inf"))
    #: Same seed and actions, same episode.
    deterministic: bool = True
    multi_agent: bool = False
    #: What observations hold: ``text``, ``image``.
    modalities: tuple[str, ...] = ("text",)
    #: What must be there at run time: ``docker``, ``network``, ``gpu``, ``postgres``.
    requires: tuple[str, ...] = ()
    #: The extra of the providing distribution that brings optional dependencies.
    extra: str | None = None
    tags: tuple[str, ...] = ()
    #: The id to use instead, when this one is deprecated.
    deprecated_for: str | None = None
    #: The distribution that provides it, and its version; set by the registry.
    provider: str | None = None
    provider_version: str | None = None

    @property
    def namespace(self) -> str:
        """The part of the id before the colon; empty for an id without one."""
        return self.id.partition(":")[0] if ":" in self.id else ""

    def replace(self, **changes: Any) -> EnvSpec:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able dictionary. Raises ``TypeError`` when ``entry_point`` is a callable."""
        if not isinstance(self.entry_point, str):
            raise TypeError(f"{self.id} was registered with a callable, which has no JSON form; use 'module:Class'")
        return {**asdict(self), "kwargs": dict(self.kwargs)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EnvSpec:
        """The inverse of :meth:`to_dict`; lists become tuples again. Unknown keys raise ``TypeError``."""
        names = {f.name for f in fields(cls)}
        unknown = sorted(set(data) - names)
        if unknown:
            raise TypeError(f"EnvSpec has no field {unknown[0]!r}; its fields are {', '.join(sorted(names))}")
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in data.items()})
