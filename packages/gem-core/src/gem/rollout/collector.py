"""Many episodes at once, for policies that answer in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from gem.env import Env
from gem.rollout.episode import Episode
from gem.rollout.metrics import summarise
from gem.rollout.records import Response, TaskSpec

#: Observations in, as many responses out, in the same order.
BatchPolicy = Callable[..., Sequence[Response | str]]


@dataclass(slots=True)
class Rollouts:
    """What one :meth:`Collector.collect` brought back."""

    #: The episodes that were played to an end, in the order of the tasks; those of a group stand together.
    episodes: list[Episode] = field(default_factory=list)
    #: The episodes whose environment failed: counted, never scored.
    errors: list[Episode] = field(default_factory=list)
    #: See :func:`gem.rollout.metrics.summarise`.
    metrics: dict[str, float] = field(default_factory=dict)

    def groups(self) -> dict[str, list[Episode]]:
        """The episodes by ``group_id``, in the order of the tasks."""
        groups: dict[str, list[Episode]] = {}
        for episode in self.episodes:
            groups.setdefault(episode.group_id, []).append(episode)
        return groups


class Collector:
    """Plays episodes of one environment with a policy, many at once, and keeps its environments between calls.

    ::

        with Collector("game:GuessTheNumber-v0-easy", num_envs=64, group_size=8) as collector:
            rollouts = collector.collect(policy, seeds=range(32))  # 32 tasks, 256 episodes

    Args:
        env: an id, or a :class:`TaskSpec` whose id and options are used.
        num_envs: how many episodes are played at once.
        wrappers: as for :func:`gem.make`.
        group_size: how many episodes start from each task, all with one ``group_id``.
        max_turns, max_response_tokens, max_episode_tokens: limits of every episode, see :class:`Episode`.
        **kwargs: options of the environment.
    """

    def __init__(
        self,
        env: str | TaskSpec,
        *,
        num_envs: int = 64,
        backend: str = "sync",
        wrappers: Any = (),
        group_size: int = 1,
        max_turns: int | None = None,
        max_response_tokens: int | None = None,
        max_episode_tokens: int | None = None,
        **kwargs: Any,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        if group_size < 1:
            raise ValueError(f"group_size must be at least 1, got {group_size}")
        if isinstance(env, TaskSpec):
            kwargs = {**env.kwargs, **kwargs}
            env = env.env_id
        if wrappers:
            kwargs["wrappers"] = wrappers
        self.task = TaskSpec(env, kwargs)
        self.num_envs = num_envs
        self.group_size = group_size
        self._limits = {
            "max_turns": max_turns,
            "max_response_tokens": max_response_tokens,
            "max_episode_tokens": max_episode_tokens,
        }
        self._envs: list[Env] = []
        self._collected = 0

    def collect(self, policy: BatchPolicy, seeds: Iterable[int | TaskSpec]) -> Rollouts:
        """Play ``group_size`` episodes of every task.

        Args:
            policy: called with the list of observations of the episodes under way; returns as many responses.
                If it has a parameter ``max_tokens`` it is given the most tokens each response may have (``None``: no
                limit), and if it has a parameter ``episodes``, the :class:`Episode` of each observation.
            seeds: the tasks, as seeds or as :class:`TaskSpec` of this environment.

        Raises:
            TypeError: the policy returned something else than as many responses as it was given observations.
        """
        begun = time.perf_counter()
        episodes = self._episodes(seeds)
        wanted = _keywords(policy)
        waiting = iter(episodes)
        active: dict[int, Episode] = {}
        free = list(range(self.num_envs))
        while True:
            while free:
                episode = next(waiting, None)
                if episode is None:
                    break
                slot = free.pop()
                if self._reset(slot, episode):
                    active[slot] = episode
                else:
                    free.append(slot)
            if not active:
                break
            slots = list(active)
            batch = [active[slot] for slot in slots]
            for slot, episode, response in zip(slots, batch, _answers(policy, batch, wanted), strict=True):
                try:
                    action = episode.respond(response)
                except TypeError as error:
                    raise TypeError(f"policy {_name(policy)}: {error}") from None
                if action is not None:
                    self._step(slot, episode, action)
                if episode.done:
                    del active[slot]
                    free.append(slot)
        return Rollouts(
            [e for e in episodes if e.error is None],
            [e for e in episodes if e.error is not None],
            summarise(
                [e for e in episodes if e.error is None],
                [e for e in episodes if e.error is not None],
                time.perf_counter() - begun,
            ),
        )

    def _episodes(self, tasks: Iterable[int | TaskSpec]) -> list[Episode]:
        episodes = []
        collection = self._collected
        self._collected += 1
        for number, task in enumerate(tasks):
            if not isinstance(task, TaskSpec):
                task = TaskSpec(self.task.env_id, self.task.kwargs, int(task))
            group_id = f"{collection}-{number}"
            episodes += [
                Episode(task, episode_id=f"{group_id}-{member}", group_id=group_id, **self._limits)
                for member in range(self.group_size)
            ]
        return episodes

    def _reset(self, slot: int, episode: Episode) -> bool:
        assert episode.task is not None
        try:
            while len(self._envs) <= slot:
                self._envs.append(self.task.make())
            episode.begin(*episode.task.reset(self._envs[slot]))
        except Exception as error:
            episode.fail(repr(error))
        return episode.error is None

    def _step(self, slot: int, episode: Episode, action: str) -> None:
        try:
            result = self._envs[slot].step(action)
        except Exception as error:
            episode.fail(repr(error))
        else:
            episode.advance(*result)

    def close(self) -> None:
        for env in self._envs:
            env.close()
        self._envs.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _keywords(policy: BatchPolicy) -> frozenset[str]:
    """Which of ``max_tokens`` and ``episodes`` a policy takes."""
    import inspect

    try:
        parameters = inspect.signature(policy).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    offered = {"max_tokens", "episodes"}
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return frozenset(offered)
    return frozenset(offered & {p.name for p in parameters})


def _answers(policy: BatchPolicy, batch: list[Episode], wanted: frozenset[str]) -> Sequence[Response | str]:
    extra: dict[str, Any] = {}
    if "max_tokens" in wanted:
        extra["max_tokens"] = [episode.max_tokens for episode in batch]
    if "episodes" in wanted:
        extra["episodes"] = batch
    answers = policy([episode.observation for episode in batch], **extra)
    if isinstance(answers, (str, bytes)) or not isinstance(answers, Sequence):
        raise TypeError(
            f"policy {_name(policy)} must return a list of {len(batch)} str or gem.Response, "
            f"one for each observation; got {type(answers).__name__}"
        )
    if len(answers) != len(batch):
        raise TypeError(
            f"policy {_name(policy)} returned {len(answers)} responses to {len(batch)} observations; "
            "return one str or gem.Response for each, in order"
        )
    return answers


def _name(policy: object) -> str:
    return repr(getattr(policy, "__qualname__", type(policy).__name__))
