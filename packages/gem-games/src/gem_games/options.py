"""Checking constructor options, and completing those set to ``None``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """``value`` as an ``int`` within ``low..high`` (a bound of ``None`` is open).

    Raises:
        ValueError: it is not a whole number, or outside; the message names the option and the range.
    """
    if low is not None and high is not None:
        allowed = f"from {low} to {high}"
    elif low is not None:
        allowed = f"of at least {low}"
    else:
        allowed = f"of at most {high}" if high is not None else "of any size"
    try:
        number: int = value.__index__()
    except (AttributeError, TypeError):
        raise ValueError(f"{name} must be a whole number {allowed}, got {value!r}") from None
    if isinstance(value, bool) or (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{name} must be a whole number {allowed}, got {value!r}")
    return number


def one_of(name: str, value: Any, choices: Iterable[Any]) -> Any:
    """``value`` when it equals (in type too) one of ``choices``; ``ValueError`` that lists them otherwise."""
    choices = tuple(choices)
    for choice in choices:
        if type(value) is type(choice) and value == choice:
            return choice
    raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def flag(name: str, value: Any) -> bool:
    """``value`` when it is ``True`` or ``False``; ``ValueError`` otherwise."""
    return bool(one_of(name, value, (True, False)))


def complete(
    given: Mapping[str, Any],
    levels: Iterable[Mapping[str, Any]],
    check: Callable[..., Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Every valid setting that has the given options, those that are ``None`` taken from ``levels``.

    Args:
        given: option -> value, or ``None`` for "drawn at each reset".
        levels: complete settings to draw from.
        check: called with a complete setting's options as keywords; returns them cleaned, or raises ``ValueError``.

    Raises:
        ValueError: no completion is valid; the message is ``check``'s for the last one tried.
    """
    fixed = {name: value for name, value in given.items() if value is not None}
    if len(fixed) == len(given):
        return [dict(check(**fixed))]
    settings: dict[tuple[Any, ...], dict[str, Any]] = {}
    error: ValueError | None = None
    for level in levels:
        try:
            setting = dict(check(**{**level, **fixed}))
        except ValueError as problem:
            error = problem
            continue
        settings[tuple(setting.values())] = setting
    if not settings:
        assert error is not None
        raise error
    return list(settings.values())
