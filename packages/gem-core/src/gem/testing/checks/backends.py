"""Vector execution gives the same episodes as stepping by hand."""

from __future__ import annotations

import pickle
from typing import Any

from gem.env import Env
from gem.env_spec import EnvSpec
from gem.testing.replay import importable
from gem.testing.subject import Stop, Subject, describe
from gem.testing.trace import Trace, event, is_over

_CODES = {"sync": "GEM421", "thread": "GEM422", "process": "GEM423"}


def backends(subject: Subject) -> None:
    """Two environments in each backend, in step."""
    if not subject.reproducible or not subject.clean("GEM205", "GEM206", "GEM404", "GEM406", "GEM408"):
        return
    source: Any = subject.target
    if isinstance(source, Env):
        source = source.spawn
    seeds = list(subject.seeds)[:2]
    for backend in subject.backends:
        if backend == "process" and not _travels(subject):
            continue
        code = _CODES[backend]
        with subject.limited(f"two episodes in the {backend} backend"):
            try:
                traces = _play(source, subject, backend, seeds)
            except Stop:
                raise
            except Exception as error:
                subject.report(code, f"in the {backend} backend it raised {describe(error)}")
                continue
        for seed, trace in traces.items():
            expected = subject.references[seed][: len(trace)]
            subject.compare(code, trace, f"in the {backend} backend", expected=expected)


def _travels(subject: Subject) -> bool:
    """Whether another process can be told what to make."""
    target = subject.target
    try:
        pickle.dumps(subject.kwargs)
        if isinstance(target, str | EnvSpec):
            entry_point = subject.spec.entry_point if subject.spec is not None else None
            if not isinstance(entry_point, str):
                importable(entry_point)
        elif isinstance(target, Env):
            importable(type(target.unwrapped))
            pickle.dumps(target)
        else:
            importable(target)
    except Exception:
        return False
    return True


def _play(source: Any, subject: Subject, backend: str, seeds: list[int]) -> dict[int, Trace]:
    from gem.vector import make_vec

    with make_vec(
        [source] * len(seeds),
        backend=backend,
        autoreset="disabled",
        num_workers=1 if backend == "process" else None,
        # In line nothing but the limit around all of this can interrupt a call.
        step_timeout=None if backend == "sync" else subject.timeout,
        reset_timeout=None if backend == "sync" else subject.timeout,
        **subject.kwargs,
    ) as vector:
        observations, infos = vector.reset(seed=seeds)
        traces = {
            seed: [event((observation, info))]
            for seed, observation, info in zip(seeds, observations, infos, strict=True)
        }
        over: set[int] = set()
        for turn in range(20):
            actions = {
                index: subject.scripts[seed][turn]
                for index, seed in enumerate(seeds)
                if index not in over and turn < len(subject.scripts[seed])
            }
            if not actions:
                break
            results = vector.step(actions)
            for index, *result in zip(actions, *results, strict=True):
                trace = traces[seeds[index]]
                if "error" in result[4]:
                    trace.append({"raised": str(result[4]["error"])})
                    over.add(index)
                    continue
                if not isinstance(result[1], dict):
                    result[1], result[2], result[3] = float(result[1]), bool(result[2]), bool(result[3])
                if is_over(tuple(result)):
                    over.add(index)
                trace.append(event(tuple(result)))
    return traces
