"""The face every backend shares: :class:`VectorEnv`."""

from __future__ import annotations

import itertools
import operator
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from gem.errors import GemError, ResetNeeded
from gem.vector.slot import AutoresetMode, EnvMaker, Outcome, VectorConfig
from gem.wording import short

#: One environment's share of a request: its index, and the action of ``Slot.step`` or the start of ``Slot.reset``.
Request = tuple[int, Any]


class Results(NamedTuple):
    """What :meth:`VectorEnv.recv` returns: ``K`` outcomes in the order they became ready."""

    #: Which environments these are, int64 ``[K]``.
    indices: npt.NDArray[np.int64]
    observations: list[Any]
    #: float64 ``[K]``; a list of dictionaries by agent where environments are multi-agent (the flags too).
    rewards: Any
    #: bool ``[K]``
    terminated: Any
    #: bool ``[K]``
    truncated: Any
    infos: list[dict[str, Any]]


class VectorEnv(ABC):
    """``num_envs`` environments stepped as one.

    Made by :func:`gem.make_vec`. Works as a context manager. Observations and infos are handed over as the
    environments made them, not copied.

    An environment that raises, hangs past ``step_timeout`` or loses its worker takes nothing else with it: the outcome
    of its own index is truncated with reward 0 and says why in ``info["error"]`` (one line) and ``info["traceback"]``,
    and a new instance takes its place. With autoreset in the same step the observation is the new instance's first and
    ``info["final_obs"]`` is empty; otherwise the observation is empty. Where environments are multi-agent, all this
    holds for each agent that was in the episode: ``{agent: True}`` for truncated, and so on.

    A backend is a subclass, or any callable of the same signature, ``backend(makers, config) -> VectorEnv``, that a
    plugin provides in the entry-point group ``gem.backends``. It implements :meth:`_submit`, :meth:`_poll`
    and :meth:`_close`.

    Args:
        makers: how to make each environment.
        config: autoreset, seeds and limits.
    """

    #: Whether rewards and flags are lists of dictionaries by agent instead of arrays.
    multi_agent: bool = False
    #: Whether a copy in a forked process works by itself; workers and threads stay with the process that made them.
    _survives_fork: bool = False
    #: Whether what was submitted goes on when the caller is interrupted while it waits.
    _goes_on: bool = True

    def __init__(self, makers: Sequence[EnvMaker], config: VectorConfig) -> None:
        self.env_ids = [maker.env_id for maker in makers]
        self.num_envs = len(makers)
        self.autoreset = config.autoreset
        self._all = range(self.num_envs)
        self._first_seeds = dict(enumerate(config.seeds))
        self._first_options = dict(config.options)
        #: Environments that cannot be stepped before a reset by the caller.
        self._idle = set(self._all)
        self._in_flight: set[int] = set()
        #: Outcomes that arrived and nobody asked for yet.
        self._ready: dict[int, Outcome] = {}
        #: Of multi-agent environments: the agents that are in each one's episode.
        self._agents: dict[int, list[str]] = {}
        self._owner = os.getpid()
        self._closed = False

    # -- what a backend implements --------------------------------------------------------------------

    @abstractmethod
    def _submit(self, method: str, requests: list[Request], patient: bool = False) -> dict[int, Outcome]:
        """Start ``Slot.<method>(argument)`` for each request; return outcomes that are there at once, if any, in order.

        Do not wait for environments, unless ``patient``: then the caller is going to wait for all of them anyway.
        """

    @abstractmethod
    def _poll(self, timeout: float | None) -> list[tuple[int, Outcome]]:
        """Outcomes that are ready; at least one, unless ``timeout`` seconds passed."""

    @abstractmethod
    def _close(self, timeout: float) -> None:
        """Close every environment and stop every worker, within ``timeout`` seconds whatever hangs."""

    # -- all at once ----------------------------------------------------------------------------------

    def reset(
        self,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
        indices: Sequence[int] | None = None,
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Begin an episode in every environment, or in some.

        Args:
            seed: an integer gives environment ``i`` ``seed + i``; a sequence gives one each; ``None`` goes on with
                each environment's generator.
            options: for all, or a sequence with one each.
            indices: which environments; all when ``None``.

        Returns:
            ``(observations, infos)``, lists in the order of ``indices``.

        Raises:
            TypeError, ValueError, IndexError: arguments that fit no environment.
        """
        requests = self._reset_requests(seed, options, indices)
        outcomes = self._run("reset", requests)
        if self.multi_agent:
            outcomes = self._by_agent(requests, outcomes)
        return [o[0] for o in outcomes], [o[4] for o in outcomes]

    def step(
        self, actions: Sequence[Any] | Mapping[int, Any]
    ) -> tuple[list[Any], npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Carry out one action in every environment, or in those of a dictionary ``{index: action}``.

        Returns:
            ``(observations, rewards, terminated, truncated, infos)`` in the order given: lists, and arrays ``[K]`` of
            float64, bool, bool (lists of dictionaries by agent for multi-agent environments).

        Raises:
            TypeError: not one action for each environment, or an action that is not a ``str``.
            IndexError: no such environment.
            gem.ResetNeeded: an environment was never reset, or ended while autoreset is disabled.
        """
        requests = self._step_requests(actions, None)
        return self._columns(requests, self._run("step", requests))

    # -- never waiting for the slowest ----------------------------------------------------------------

    def send(self, actions: Sequence[Any] | Mapping[int, Any], indices: Sequence[int] | None = None) -> None:
        """Start steps and return at once; :meth:`recv` hands out the outcomes.

        Args:
            actions: one for each of ``indices``, or a dictionary ``{index: action}``.
            indices: which environments; all when ``None``.

        Raises:
            As :meth:`step`, and ``GemError`` for an environment that is still stepping.
        """
        self._start("step", self._step_requests(actions, indices))

    def send_reset(
        self,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
        indices: Sequence[int] | None = None,
    ) -> None:
        """Start resets and return at once; :meth:`recv` hands out the outcomes, with reward 0 and both flags false."""
        self._start("reset", self._reset_requests(seed, options, indices))

    def recv(self, min_ready: int = 1, timeout: float | None = None) -> Results:
        """Outcomes of what was sent, as soon as ``min_ready`` of them are there.

        Args:
            min_ready: wait for this many (or for all, when fewer are on their way); more are returned when ready.
            timeout: seconds to wait at most; then fewer are returned, perhaps none.

        Raises:
            GemError: nothing was sent.
        """
        self._check_open()
        if not self._in_flight and not self._ready:
            raise GemError("nothing to receive: send actions first")
        wanted = min(max(min_ready, 0), len(self._in_flight) + len(self._ready))
        deadline = None if timeout is None else time.monotonic() + timeout
        self._gather(0.0)
        while len(self._ready) < wanted:
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0:
                break
            self._gather(remaining)
        ready, self._ready = self._ready, {}
        return Results(np.fromiter(ready, np.int64, len(ready)), *self._columns(ready.items(), list(ready.values())))

    # -- the end --------------------------------------------------------------------------------------

    def close(self, timeout: float = 5.0) -> None:
        """Close every environment and stop every worker within ``timeout`` seconds. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._in_flight.clear()
            self._ready.clear()
            self._close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def envs(self) -> list[Any]:
        """The environments, where they live in this process; one that broke and is not replaced yet is ``None``.

        Raises:
            GemError: they live elsewhere.
        """
        raise GemError(f"the environments of a {type(self).__name__} live in other processes")

    def __len__(self) -> int:
        return self.num_envs

    def __repr__(self) -> str:
        ids = sorted(set(self.env_ids))
        return f"<{type(self).__name__} {self.num_envs} x {', '.join(ids[:3])}{', ...' if len(ids) > 3 else ''}>"

    # -- shared by the methods above ------------------------------------------------------------------

    def _run(self, method: str, requests: list[Request]) -> list[Outcome]:
        """Outcomes of all requests, in their order."""
        if self._in_flight or self._ready:  # beside what was sent: only these are waited for
            self._start(method, requests)
            ready = self._ready
            while any(index not in ready for index, _ in requests):
                self._gather(None)
            return [ready.pop(index) for index, _ in requests]
        if method == "reset":
            self._idle.difference_update(index for index, _ in requests)
        arrived: dict[int, Outcome] = {}
        try:
            arrived = self._submit(method, requests, patient=True)
            in_order = len(arrived) == len(requests)
            while len(arrived) < len(requests):
                arrived.update(self._poll(None))
        except BaseException:
            if self._goes_on:  # interrupted: recv() still hands out what is under way
                self._ready = arrived
                self._in_flight = {index for index, _ in requests if index not in arrived}
            raise
        if self.autoreset is AutoresetMode.DISABLED:
            self._idle.update(index for index, _ in requests if self._is_over(arrived[index]))
        return list(arrived.values()) if in_order else [arrived[index] for index, _ in requests]

    def _start(self, method: str, requests: list[Request]) -> None:
        indices = [index for index, _ in requests]
        if not (self._in_flight.isdisjoint(indices) and self._ready.keys().isdisjoint(indices)):
            busy = next(i for i in indices if i in self._ready or i in self._in_flight)
            raise GemError(f"environment {busy} is still busy with what was sent before: recv() its outcome first")
        if method == "reset":
            self._idle.difference_update(indices)
        self._in_flight.update(indices)
        self._arrive(self._submit(method, requests))

    def _gather(self, timeout: float | None) -> None:
        if not self._in_flight:
            return
        self._arrive(dict(self._poll(timeout)))

    def _arrive(self, outcomes: dict[int, Outcome]) -> None:
        self._ready.update(outcomes)
        self._in_flight.difference_update(outcomes)
        if self.autoreset is AutoresetMode.DISABLED:
            self._idle.update(index for index, outcome in outcomes.items() if self._is_over(outcome))

    def _is_over(self, outcome: Outcome) -> bool:
        _, _, terminated, truncated, _ = outcome
        if isinstance(terminated, dict):
            return all(terminated.get(a) or truncated.get(a) for a in {**terminated, **truncated})
        return bool(terminated or truncated)

    def _by_agent(self, requests: Iterable[Request], outcomes: list[Outcome]) -> list[Outcome]:
        """Outcomes of multi-agent environments, with those of failures and resets keyed by agent too."""
        keyed = []
        for (index, _), outcome in zip(requests, outcomes, strict=True):
            observation, rewards, terminated, truncated, info = outcome
            begun = observation if isinstance(observation, dict) else {}
            if not isinstance(truncated, dict):
                agents = self._agents.get(index, []) if truncated else list(begun)
                rewards = dict.fromkeys(agents, rewards)
                terminated, truncated = dict.fromkeys(agents, terminated), dict.fromkeys(agents, truncated)
                if not isinstance(observation, dict):
                    observation = dict.fromkeys(agents, "")
                if isinstance(info.get("final_obs"), str):
                    info = {**info, "final_obs": dict.fromkeys(agents, "")}
            new = "final_obs" in info  # the observation is another episode's
            self._agents[index] = [a for a in begun if new or not (terminated.get(a) or truncated.get(a))]
            keyed.append((observation, rewards, terminated, truncated, info))
        return keyed

    def _columns(
        self, requests: Iterable[Request], outcomes: list[Outcome]
    ) -> tuple[list[Any], Any, Any, Any, list[dict[str, Any]]]:
        """Outcomes turned on their side: lists of observations and infos, arrays of the rest."""
        if not outcomes:
            none = np.zeros(0, np.bool_)
            return [], np.zeros(0), none, none, []
        if self.multi_agent:
            outcomes = self._by_agent(requests, outcomes)
        observations, rewards, terminated, truncated, infos = zip(*outcomes, strict=True)
        if self.multi_agent:
            return list(observations), list(rewards), list(terminated), list(truncated), list(infos)
        return (
            list(observations),
            _sparse(rewards, np.float64),
            _sparse(terminated, np.bool_),
            _sparse(truncated, np.bool_),
            list(infos),
        )

    def _all_of_a_kind(self, multi_agent: Iterable[bool]) -> bool:
        """Whether the environments are multi-agent; one vector holds one kind.

        Raises:
            ValueError: some are and some are not.
        """
        kinds = list(multi_agent)
        several = True in kinds
        if several and False in kinds:
            i, k = kinds.index(True), kinds.index(False)
            raise ValueError(
                f"environment {i} ({self.env_ids[i]}) has several agents and environment {k} ({self.env_ids[k]}) has "
                "one: make a vector of each kind"
            )
        return several

    # -- checking what the caller gave ----------------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed:
            raise GemError("this vector is closed: make a new one")
        if not self._survives_fork and self._owner != os.getpid():
            raise GemError("this vector belongs to the process it was made in: make a new one after a fork")

    def _step_requests(
        self, actions: Sequence[Any] | Mapping[int, Any], indices: Sequence[int] | None
    ) -> list[Request]:
        chosen, values = self._check_actions(actions, indices)
        return list(zip(chosen, values, strict=True))

    def _check_actions(
        self, actions: Sequence[Any] | Mapping[int, Any], indices: Sequence[int] | None
    ) -> tuple[Sequence[int], Sequence[Any]]:
        """Indices and actions, one each, or an error that is the caller's."""
        self._check_open()
        chosen: Sequence[int]
        values: Sequence[Any]
        if isinstance(actions, (list, tuple)):
            values = actions
        elif isinstance(actions, Mapping):
            if indices is not None:
                raise TypeError("give a dictionary {index: action}, or a sequence of actions with indices, not both")
            indices, values = list(actions), list(actions.values())
        elif isinstance(actions, (str, bytes)):
            raise TypeError(f"actions must be a sequence with one action for each environment, got {short(actions)}")
        else:
            values = list(actions)
        chosen = self._all if indices is None else self._check_indices(indices)
        if len(values) != len(chosen):
            raise TypeError(f"{len(values)} actions for {len(chosen)} environments: give one action for each")
        if operator.countOf(map(type, values), str) != len(values) and not self.multi_agent:
            for index, action in zip(chosen, values, strict=True):
                if not isinstance(action, str):
                    raise TypeError(f"the action for environment {index} must be a str, got {short(action)}")
        if self._idle and not self._idle.isdisjoint(chosen):
            waiting = sorted(self._idle.intersection(chosen))
            named = ", ".join(map(str, waiting[:5])) + (", ..." if len(waiting) > 5 else "")
            raise ResetNeeded(f"environment {named}: the episode has ended or not begun, call reset() before step()")
        return chosen, values

    def _check_indices(self, indices: Sequence[int]) -> list[int]:
        checked = []
        for index in indices:
            try:
                number = operator.index(index)
            except TypeError:
                raise TypeError(f"an environment's index is an integer, got {index!r}") from None
            if not 0 <= number < self.num_envs:
                raise IndexError(f"no environment {number}: there are {self.num_envs}, counted from 0")
            checked.append(number)
        if len(set(checked)) != len(checked):
            raise ValueError("an environment is named twice: give each index once")
        return checked

    def _reset_requests(
        self,
        seed: int | Sequence[int | None] | None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None,
        indices: Sequence[int] | None,
    ) -> list[Request]:
        self._check_open()
        chosen = list(self._all) if indices is None else self._check_indices(indices)
        seeds = self._check_seeds(seed, chosen)
        if options is None or isinstance(options, Mapping):
            each: Sequence[Any] = [options] * len(chosen)
        else:
            each = list(options)
            if len(each) != len(chosen):
                raise TypeError(
                    f"{len(each)} options for {len(chosen)} environments: give one for each, or one for all"
                )
        requests: list[Request] = []
        for index, one_seed, option in zip(chosen, seeds, each, strict=True):
            first_seed, first_option = self._first_seeds.pop(index, None), self._first_options.pop(index, None)
            start = first_seed if one_seed is None else one_seed, first_option if option is None else option
            requests.append((index, start))
        return requests

    def _check_seeds(self, seed: int | Sequence[int | None] | None, chosen: list[int]) -> list[int | None]:
        if seed is None:
            return [None] * len(chosen)
        try:
            number = operator.index(seed)  # type: ignore[arg-type]
        except TypeError:
            try:
                seeds = [None if s is None else operator.index(s) for s in seed]  # type: ignore[union-attr]
            except TypeError:
                raise TypeError(f"seed must be an integer, a sequence of integers or None, got {seed!r}") from None
            if len(seeds) != len(chosen):
                raise TypeError(f"{len(seeds)} seeds for {len(chosen)} environments: give one for each") from None
        else:
            seeds = [number + index for index in chosen]
        for one in seeds:
            if one is not None and one < 0:
                raise ValueError(f"seed must be non-negative, got {one}")
        return seeds


def _sparse(values: Sequence[Any], kind: type[np.generic]) -> npt.NDArray[Any]:
    """An array of values most of which are zero: quicker than to convert them all."""
    array = np.zeros(len(values), kind)
    for k in itertools.compress(range(len(values)), values):
        array[k] = values[k]
    return array
