"""What ``reset`` and ``step`` may return: observations, rewards, flags, info."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gem.testing.trace import shorten

if TYPE_CHECKING:
    from gem.testing.subject import Subject


def examine_reset(subject: Subject, result: tuple[Any, Any]) -> None:
    """What ``reset`` of one agent may return."""
    observation, info = result
    examine_observation(subject, observation, "reset")
    examine_info(subject, info, "reset", over=False)


def examine_step(subject: Subject, result: tuple[Any, ...]) -> None:
    """What ``step`` of one agent may return."""
    observation, reward, terminated, truncated, info = result
    examine_observation(subject, observation, "step")
    examine_reward(subject, reward, "step")
    examine_flags(subject, terminated, truncated, "step")
    examine_info(subject, info, "step", over=bool(terminated) or bool(truncated))


def examine_observation(subject: Subject, observation: Any, where: str) -> None:
    problem = observation_problem(observation)
    if problem is not None:
        subject.report("GEM204", f"the observation of {where} is {problem}")
        return
    spec = subject.spec
    if spec is not None and isinstance(observation, list):
        for kind in sorted({part["type"] for part in observation} - set(spec.modalities)):
            subject.report("GEM106", f"{where} returned an {kind} part but modalities are {list(spec.modalities)}")


def observation_problem(observation: Any) -> str | None:
    """What is wrong with an observation, or ``None``."""
    if isinstance(observation, str):
        return None
    if not isinstance(observation, list):
        return f"{shorten(repr(observation), 40)} ({type(observation).__name__})"
    for index, part in enumerate(observation):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in ("text", "image"):
            return f"a list whose part {index} is {shorten(repr(part), 40)}"
        if not isinstance(part.get(kind), str):
            return f"a list whose {kind} part {index} holds {shorten(repr(part.get(kind)), 40)}"
        if kind == "image" and not part["image"].startswith(("data:", "http://", "https://", "file:")):
            return f"a list whose image part {index} is no URI: {shorten(repr(part['image']), 40)}"
    return None


def examine_reward(subject: Subject, reward: Any, where: str) -> None:
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not math.isfinite(reward):
        subject.report("GEM205", f"the reward of {where} is {shorten(repr(reward), 40)} ({type(reward).__name__})")


def examine_flags(subject: Subject, terminated: Any, truncated: Any, where: str) -> None:
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(flag, bool):
            subject.report("GEM206", f"{name} of {where} is {shorten(repr(flag), 40)} ({type(flag).__name__})")
    if terminated is True and truncated is True:
        subject.report("GEM207", f"{where} returned terminated and truncated both true")


def examine_info(subject: Subject, info: Any, where: str, *, over: bool) -> None:
    if not isinstance(info, dict):
        subject.report("GEM208", f"the info of {where} is {shorten(repr(info), 40)} ({type(info).__name__})")
        return
    odd = [key for key in info if not isinstance(key, str)]
    if odd:
        subject.report("GEM208", f"the info of {where} has the key {odd[0]!r} ({type(odd[0]).__name__})")
        return
    # The keys with a meaning of their own are judged by their own rules, so that each defect is told once.
    for name in ("prefix", "suffix"):
        if name in info and not isinstance(info[name], str):
            subject.report("GEM210", f"info[{name!r}] of {where} is {shorten(repr(info[name]), 40)}")
    if "metrics" in info:
        problem = metrics_problem(info["metrics"])
        if problem is not None:
            subject.report("GEM211", f'info["metrics"] of {where} {problem}')
    if "success" in info and not isinstance(info["success"], bool):
        kind = type(info["success"]).__name__
        subject.report("GEM212", f'info["success"] of {where} is {shorten(repr(info["success"]), 40)} ({kind})')
    elif over and "success" not in info:
        subject.report("GEM212", f'{where} ended the episode without info["success"]')
    elif not over and "success" in info:
        subject.report("GEM212", f'{where} returned info["success"] while the episode goes on')
    if "invalid_action" in info and not (isinstance(info["invalid_action"], str) and info["invalid_action"].strip()):
        subject.report("GEM213", f'info["invalid_action"] of {where} is {shorten(repr(info["invalid_action"]), 40)}')
    rest = {key: value for key, value in info.items() if key not in _OWN_RULES}
    for path, problem in json_problems(rest):
        subject.report("GEM209", f"info{path} of {where} is {problem}")
        break


_OWN_RULES = frozenset({"prefix", "suffix", "metrics", "success", "invalid_action"})


def metrics_problem(metrics: Any) -> str | None:
    """What is wrong with the value of ``info["metrics"]``, or ``None``."""
    if not isinstance(metrics, dict):
        return f"is {shorten(repr(metrics), 40)} ({type(metrics).__name__})"
    for name, value in metrics.items():
        if not isinstance(name, str):
            return f"has the name {name!r} ({type(name).__name__})"
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return f"holds {shorten(repr(value), 40)} ({type(value).__name__}) as {name!r}"
        try:
            json.dumps(value)
        except TypeError:
            return f"holds {shorten(repr(value), 40)} ({type(value).__name__}) as {name!r}"
    return None


def json_problems(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every place in a value that JSON cannot hold: its path, and what is there."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                yield f"{path}[{key!r}]", f"under a key that is no str ({type(key).__name__})"
            yield from json_problems(item, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from json_problems(item, f"{path}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, f"{value!r}"
    elif not isinstance(value, str | int | float) and value is not None:
        yield path, f"{shorten(repr(value), 40)} ({type(value).__name__})"
