"""What a plugin says about an environment without importing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

_INFINITY = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvSpec:
    """The entry of one environment id in the registry.

    ``entry_point`` is ``"package.module:Class"``, imported when the environment is first made (a callable
    is accepted from :func:`gem.register`). Everything but a callable survives a JSON round trip; a tuple inside
    ``kwargs`` comes back as the list that JSON has for it.

    Raises:
        ValueError: the id holds white space or lacks a part, or the entry point is not ``"module:name"``.
        TypeError: a field has the wrong type, or the entry point is a class without ``reset`` and ``step``.
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
    reward_range: tuple[float, float] = (-_INFINITY, _INFINITY)
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

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            raise TypeError(f"an environment id is a str, got {self.id!r}")
        namespace, colon, name = self.id.partition(":")
        if not namespace or (colon and not name) or len(self.id.split()) != 1 or self.id.strip() != self.id:
            raise ValueError(f"{self.id!r} is no environment id: write 'namespace:Name-v0', without white space")
        if isinstance(self.entry_point, str):
            module, colon, attribute = self.entry_point.partition(":")
            if not module or not attribute:
                raise ValueError(f"{self.id!r}: entry_point is 'module:Class', got {self.entry_point!r}")
        elif not callable(self.entry_point):
            raise TypeError(f"{self.id!r}: entry_point is 'module:Class' or a callable, got {self.entry_point!r}")
        elif isinstance(self.entry_point, type) and not hasattr(self.entry_point, "__getattr__"):  # as proxies have
            for method in ("reset", "step"):
                if not callable(getattr(self.entry_point, method, None)):
                    raise TypeError(f"{self.id!r}: {self.entry_point!r} is no environment: it has no {method} method")
        if not isinstance(self.kwargs, Mapping):
            raise TypeError(f"{self.id!r}: kwargs is a mapping, got {self.kwargs!r}")
        for name in ("modalities", "requires", "tags"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{self.id!r}: {name} is a tuple of str, got {getattr(self, name)!r}")

    def __hash__(self) -> int:
        return hash((self.id, self.provider))  # the kwargs of equal specifications may be unhashable

    @property
    def namespace(self) -> str:
        """The part of the id before the colon; empty for an id without one."""
        return self.id.partition(":")[0] if ":" in self.id else ""

    def replace(self, **changes: Any) -> EnvSpec:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON; an infinite reward bound is ``None`` there, as JSON has no infinity.

        Raises:
            TypeError: ``entry_point`` is a callable.
        """
        if not isinstance(self.entry_point, str):
            raise TypeError(f"{self.id} was registered with a callable, which has no JSON form; use 'module:Class'")
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        low, high = self.reward_range
        bounds = [None if low == -_INFINITY else low, None if high == _INFINITY else high]
        return {**values, "kwargs": dict(self.kwargs), "reward_range": bounds}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EnvSpec:
        """The inverse of :meth:`to_dict`; lists become tuples again. Unknown keys raise ``TypeError``."""
        names = {f.name for f in fields(cls)}
        unknown = sorted(set(data) - names)
        if unknown:
            raise TypeError(f"EnvSpec has no field {unknown[0]!r}; its fields are {', '.join(sorted(names))}")
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
        if "reward_range" in values:
            low, high = values["reward_range"]
            values["reward_range"] = (-_INFINITY if low is None else low, _INFINITY if high is None else high)
        return cls(**values)
