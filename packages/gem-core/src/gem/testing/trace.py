"""What an environment said in an episode, in a form that can be compared across threads and processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from gem.wording import one_line

#: One event of an episode: the action (``None`` for the reset), and each returned field as canonical text.
Event = dict[str, str]
Trace = list[Event]

#: How wrappers name what they report about the episode before.
_PREVIOUS = "prev_ep_"

_RESET = ("observation", "info")
_STEP = ("observation", "reward", "terminated", "truncated", "info")


def plain(value: Any) -> Any:
    """The JSON form of a value; what has none is shown by its type, so that no memory address gets in."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, dict):
        return {"dict": sorted(([plain(key), plain(item)] for key, item in value.items()), key=repr)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return [type(value).__name__, plain(value.tolist())]
    return f"<{type(value).__name__}>"


def canonical(value: Any) -> str:
    return json.dumps(plain(value))


def event(result: tuple[Any, ...]) -> Event:
    """The event of what ``reset`` (a pair) or ``step`` (a tuple of five) returned."""
    names = _RESET if len(result) == 2 else _STEP
    if len(result) == 5 and isinstance(result[1], int):  # vectors hand out floats
        result = (result[0], float(result[1]), *result[2:])
    elif len(result) == 5 and isinstance(result[1], dict):
        rewards = {agent: float(r) if isinstance(r, int) else r for agent, r in result[1].items()}
        result = (result[0], rewards, *result[2:])
    fields = dict(zip(names, result, strict=True))
    if isinstance(fields["info"], dict):  # counters of the episode before are no part of this one
        fields["info"] = {key: value for key, value in fields["info"].items() if not str(key).startswith(_PREVIOUS)}
    return {name: canonical(value) for name, value in fields.items()}


def raised(error: BaseException) -> Event:
    """The event of a call that raised."""
    return {"raised": one_line(error)}


def is_over(result: tuple[Any, ...]) -> bool:
    """Whether a step's result ended the episode, for one agent or for all of them."""
    terminated, truncated = result[2], result[3]
    if isinstance(terminated, dict) and isinstance(truncated, dict):
        return all(terminated[agent] or truncated.get(agent) for agent in terminated)
    return bool(terminated) or bool(truncated)


def play(env: Any, seed: int, actions: Iterable[Any], **reset: Any) -> Trace:
    """The trace of one episode: reset with the seed, then these actions until it ends."""
    return record(lambda: env.reset(seed=seed, **reset), env.step, actions)


def go_on(env: Any, actions: Iterable[Any]) -> Trace:
    """The trace of the rest of an episode under way."""
    return record(None, env.step, actions)


def record(
    reset: Callable[[], tuple[Any, ...]] | None, step: Callable[[Any], tuple[Any, ...]], actions: Iterable[Any]
) -> Trace:
    """The trace that ``reset`` and ``step`` give; an exception is its last event."""
    trace: Trace = []
    try:
        if reset is not None:
            trace.append(event(reset()))
        for action in actions:
            result = step(action)
            trace.append(event(result))
            if is_over(result):
                break
    except Exception as error:
        trace.append(raised(error))
    return trace


def difference(expected: Trace, found: Trace, first_turn: int = 0) -> str | None:
    """Where two traces part, in words; ``None`` when they do not.

    Args:
        first_turn: the turn of the first event; 0 is the reset.
    """
    for turn, (left, right) in enumerate(zip(expected, found, strict=False), start=first_turn):
        where = "the reset" if turn == 0 else f"turn {turn}"
        if "raised" in right and left != right:
            return f"{where} raised {shorten(right['raised'])}"
        for name, value in left.items():
            if right.get(name) != value:
                return f"{name} of {where} is {shorten(right.get(name, 'missing'))} instead of {shorten(value)}"
        if left != right:
            return f"{where} differs"
    if len(expected) != len(found):
        return f"it has {len(found)} events instead of {len(expected)}"
    return None


def shorten(text: str, width: int = 80) -> str:
    """One line of at most ``width`` characters."""
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 3]}..."
