"""Many episodes at once, for policies that answer in batches and for those that answer when they can."""

from __future__ import annotations

import asyncio
import inspect
import operator
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from gem.env import Env
from gem.env_spec import EnvSpec
from gem.rollout.episode import Episode
from gem.rollout.metrics import summarise
from gem.rollout.pump import Pump
from gem.rollout.records import Response, TaskSpec
from gem.vector import VectorEnv, make_vec

#: Observations in, as many responses out, in the same order.
BatchPolicy = Callable[..., Sequence[Response | str]]
#: One observation in, one response out, in its own time.
AsyncPolicy = Callable[..., Awaitable[Response | str]]


@dataclass(slots=True)
class Rollouts:
    """What one collection brought back."""

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
        env: an id, an :class:`EnvSpec`, a :class:`TaskSpec` whose id and options are used, or a function that returns
            an environment (the tasks in the records cannot be rebuilt elsewhere then).
        num_envs: how many episodes are played at once.
        backend: where environments run, as for :func:`gem.make_vec`.
        wrappers: as for :func:`gem.make`; left out, the policy sees the latest observation with its prefix and suffix.
        group_size: how many episodes start from each task, all with one ``group_id``.
        max_turns, max_response_tokens, max_episode_tokens: limits of every episode, see :class:`Episode`.
        vector: further arguments of :func:`gem.make_vec`, such as ``{"step_timeout": 60}``.
        **kwargs: options of the environment.
    """

    def __init__(
        self,
        env: str | EnvSpec | TaskSpec | Callable[..., Env],
        *,
        num_envs: int = 64,
        backend: str = "sync",
        wrappers: Any = None,
        group_size: int = 1,
        max_turns: int | None = None,
        max_response_tokens: int | None = None,
        max_episode_tokens: int | None = None,
        vector: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        limits = {
            "max_turns": max_turns,
            "max_response_tokens": max_response_tokens,
            "max_episode_tokens": max_episode_tokens,
        }
        for name, value in {"num_envs": num_envs, "group_size": group_size, **limits}.items():
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if isinstance(env, TaskSpec):
            kwargs = {**env.kwargs, **kwargs}
            env = env.env_id
        given = kwargs.pop("wrappers", None)  # a task brings them among its options
        if wrappers is None:
            wrappers = "latest" if given is None else given
        name = env if isinstance(env, str) else env.id if isinstance(env, EnvSpec) else _name(env)
        #: What every episode plays, but for the seed.
        self.task = TaskSpec(name, {**kwargs, "wrappers": wrappers} if wrappers else kwargs)
        self.num_envs = num_envs
        self.group_size = group_size
        self._limits = limits
        self._make: Callable[[], VectorEnv] = partial(
            make_vec,
            env,
            num_envs,
            wrappers=wrappers or None,
            backend=backend,
            autoreset="disabled",
            **(vector or {}),
            **kwargs,
        )
        self._vec: VectorEnv | None = self._make()  # at once, so that what is wrong with the arguments is said here
        if self._vec.multi_agent:
            self.close()
            raise TypeError(f"{name!r} has several agents: wrap it so that one agent's view is a plain environment")
        self._collections = 0
        self._busy = False

    # -- batches --------------------------------------------------------------------------------------

    def collect(self, policy: BatchPolicy, seeds: Iterable[int | TaskSpec]) -> Rollouts:
        """Play ``group_size`` episodes of every task, all environments in step.

        Args:
            policy: called with the list of observations of the episodes under way; returns as many responses. If it
                has a parameter ``max_tokens`` it is given the most tokens each response may have (``None``: no limit),
                and if it has a parameter ``episodes``, the :class:`Episode` of each observation.
            seeds: the tasks, as seeds or as :class:`TaskSpec` of this environment.

        Raises:
            TypeError: the policy returned something else than as many responses as it was given observations.
        """
        begun = time.perf_counter()
        episodes = self._episodes(seeds)
        wanted = _wanted(policy, ("max_tokens", "episodes"))
        with self._vector() as vec:
            waiting = iter(episodes)
            active: dict[int, Episode] = {}
            free = list(range(self.num_envs - 1, -1, -1))
            while True:
                self._refill(vec, waiting, active, free)
                if not active:
                    break
                slots = list(active)
                batch = [active[slot] for slot in slots]
                actions: dict[int, str] = {}
                for slot, response in zip(slots, _answers(policy, batch, wanted), strict=True):
                    action = _respond(policy, active[slot], response)
                    if action is not None:
                        actions[slot] = action
                outcomes = zip(*vec.step(actions), strict=True) if actions else ()
                for slot, outcome in zip(actions, outcomes, strict=True):
                    active[slot].advance(*outcome)
                for slot in slots:
                    if active[slot].done:
                        self._ended(active.pop(slot))
                        free.append(slot)
        return self._rollouts(episodes, begun)

    def _refill(self, vec: VectorEnv, waiting: Iterator[Episode], active: dict[int, Episode], free: list[int]) -> None:
        """Begin the next episodes in the free slots, until all are taken or nothing waits."""
        while free:
            begin: dict[int, Episode] = {}
            for episode in waiting:
                begin[free.pop()] = episode
                if not free:
                    break
            if not begin:
                return
            tasks = [_task(episode) for episode in begin.values()]
            observations, infos = vec.reset(
                seed=[task.seed for task in tasks], options=[task.options for task in tasks], indices=list(begin)
            )
            for (slot, episode), observation, info in zip(begin.items(), observations, infos, strict=True):
                episode.begin(observation, info)
                if episode.done:
                    self._ended(episode)
                    free.append(slot)
                else:
                    active[slot] = episode

    # -- one at a time --------------------------------------------------------------------------------

    async def collect_async(
        self, policy: AsyncPolicy, seeds: Iterable[int | TaskSpec], *, max_concurrency: int | None = None
    ) -> Rollouts:
        """Play ``group_size`` episodes of every task, each at its own pace: none waits for the slowest.

        Environments are stepped off the event loop, in the backend's way.

        Args:
            policy: ``async def policy(observation) -> Response | str``. If it has a parameter ``max_tokens`` it is
                given the most tokens the response may have, and if it has a parameter ``episode``, the episode.
            seeds: the tasks, as seeds or as :class:`TaskSpec` of this environment.
            max_concurrency: how many calls of the policy run at once at most; ``None``: ``num_envs``.

        Raises:
            TypeError: the policy returned no response.
        """
        if max_concurrency is not None and max_concurrency < 1:
            raise ValueError(f"max_concurrency must be at least 1, got {max_concurrency}")
        begun = time.perf_counter()
        episodes = self._episodes(seeds)
        wanted = _wanted(policy, ("max_tokens", "episode"))
        limit = asyncio.Semaphore(max_concurrency or self.num_envs)
        waiting = iter(episodes)

        async def play(slot: int, pump: Pump) -> None:
            for episode in waiting:
                task = _task(episode)
                observation, _, _, _, info = await pump.reset(slot, task.seed, task.options)
                episode.begin(observation, info)
                while not episode.done:
                    extra: dict[str, Any] = {}
                    if "max_tokens" in wanted:
                        extra["max_tokens"] = episode.max_tokens
                    if "episode" in wanted:
                        extra["episode"] = episode
                    async with limit:
                        answer = policy(episode.observation, **extra)
                        if not inspect.isawaitable(answer):
                            raise TypeError(
                                f"policy {_name(policy)!r} must be asynchronous (async def policy(observation)); "
                                "collector.collect(policy, seeds) takes plain functions of a batch"
                            )
                        response = await answer
                    action = _respond(policy, episode, response)
                    if action is not None:
                        episode.advance(*await pump.step(slot, action))
                self._ended(episode)

        async with self._vector() as vec, Pump(vec) as pump:
            players = [asyncio.create_task(play(slot, pump)) for slot in range(min(self.num_envs, len(episodes)))]
            try:
                await asyncio.gather(*players)
            finally:
                for player in players:
                    player.cancel()
                await asyncio.gather(*players, return_exceptions=True)
        return self._rollouts(episodes, begun)

    # -- shared ---------------------------------------------------------------------------------------

    def _vector(self) -> _Use:
        return _Use(self)

    def _episodes(self, tasks: Iterable[int | TaskSpec]) -> list[Episode]:
        if not isinstance(tasks, Iterable):
            raise TypeError(f"seeds are a sequence of seeds or tasks, such as range(8), got {tasks!r}")
        collection, self._collections = self._collections, self._collections + 1
        episodes = []
        for number, task in enumerate(tasks):
            group_id = f"{collection}-{number}"
            own = self._own(task)
            episodes += [
                Episode(own, episode_id=f"{group_id}-{member}", group_id=group_id, **self._limits)
                for member in range(self.group_size)
            ]
        return episodes

    def _own(self, task: int | TaskSpec) -> TaskSpec:
        """A task with this collector's environment."""
        if not isinstance(task, TaskSpec):
            try:
                return TaskSpec(self.task.env_id, self.task.kwargs, operator.index(task))
            except TypeError:
                raise TypeError(f"a task is a seed or a gem.TaskSpec, got {task!r}") from None
        if task.env_id != self.task.env_id or (task.kwargs and task.kwargs != self.task.kwargs):
            raise ValueError(
                f"this collector plays {self.task.env_id!r} with options {self.task.kwargs}, not {task.env_id!r} with "
                f"{task.kwargs}: use a collector for each environment"
            )
        if self.group_size > 1 and task.seed is None and task.options is None:
            raise ValueError("a group starts from one task: give the TaskSpec a seed, or options that fix the start")
        return TaskSpec(task.env_id, self.task.kwargs, task.seed, task.options)

    def _ended(self, episode: Episode) -> None:
        from gem.plugins import manager

        manager().notify("gem_episode_ended", record=episode)  # an observer that fails ends no collection

    def _rollouts(self, episodes: list[Episode], begun: float) -> Rollouts:
        seconds = time.perf_counter() - begun
        played = [episode for episode in episodes if episode.error is None]
        errors = [episode for episode in episodes if episode.error is not None]
        return Rollouts(played, errors, summarise(played, errors, seconds))

    def close(self) -> None:
        """Close the environments. Safe to call twice; the next collection would make new ones."""
        vec, self._vec = self._vec, None
        if vec is not None:
            vec.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Use:
    """The collector's vector for one collection.

    After an exception the vector may still be at work on steps nobody waits for, so the next collection gets another.
    """

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def __enter__(self) -> VectorEnv:
        collector = self._collector
        if collector._busy:
            raise RuntimeError("this collector is collecting already: use another Collector for what runs beside it")
        if collector._vec is None:
            collector._vec = collector._make()
        collector._busy = True
        return collector._vec

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self._collector.close()
        self._collector._busy = False

    async def __aenter__(self) -> VectorEnv:
        return self.__enter__()

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:  # a step that hangs is given seconds to end, and the event loop has other work
            await asyncio.to_thread(self._collector.close)
        self._collector._busy = False


def _task(episode: Episode) -> TaskSpec:
    assert episode.task is not None
    return episode.task


def _wanted(policy: Callable[..., Any], offered: tuple[str, ...]) -> frozenset[str]:
    """Which of the keywords on offer a policy takes; ``TypeError`` where it is no function."""
    if not callable(policy):
        raise TypeError(f"a policy is a function from observations to responses, got {policy!r}")
    try:
        parameters = inspect.signature(policy).parameters.values()
    except (TypeError, ValueError):  # some built-in callables do not tell
        return frozenset()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return frozenset(offered)
    return frozenset(offered) & {p.name for p in parameters}


def _answers(policy: BatchPolicy, batch: list[Episode], wanted: frozenset[str]) -> Sequence[Response | str]:
    extra: dict[str, Any] = {}
    if "max_tokens" in wanted:
        extra["max_tokens"] = [episode.max_tokens for episode in batch]
    if "episodes" in wanted:
        extra["episodes"] = batch
    answers = policy([episode.observation for episode in batch], **extra)
    if inspect.iscoroutine(answers):
        answers.close()
        raise TypeError(f"policy {_name(policy)!r} is asynchronous: await collector.collect_async(policy, seeds)")
    if isinstance(answers, (str, bytes)) or not isinstance(answers, Sequence):
        raise TypeError(
            f"policy {_name(policy)!r} must return a list of {len(batch)} str or gem.Response, "
            f"one for each observation; got {type(answers).__name__}"
        )
    if len(answers) != len(batch):
        raise TypeError(
            f"policy {_name(policy)!r} returned {len(answers)} responses to {len(batch)} observations: "
            "return one str or gem.Response for each, in order"
        )
    return answers


def _respond(policy: object, episode: Episode, response: Any) -> str | None:
    try:
        return episode.respond(response)
    except (TypeError, ValueError) as error:
        raise type(error)(f"policy {_name(policy)!r}: {error}") from None


def _name(function: object) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))
