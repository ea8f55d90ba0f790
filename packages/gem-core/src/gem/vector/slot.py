"""One place of a vector and the environment in it. Every backend steps environments through this code."""

from __future__ import annotations

import contextlib
import os
import random
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from gem.awaiting import awaits
from gem.env import Env
from gem.env_spec import EnvSpec
from gem.wording import clip, one_line, short

#: ``(observation, reward, terminated, truncated, info)``; of a reset too, with reward 0 and both flags false.
Outcome = tuple[Any, Any, Any, Any, dict[str, Any]]

#: Seed and options of a reset.
Start = tuple[int | None, dict[str, Any] | None]


_HERE = os.path.dirname(__file__)


class AutoresetMode(Enum):
    """What a vector does with an environment whose episode ended."""

    #: Begin the next episode in the same step: its first observation and info are returned, the last ones of
    #: the ended episode stand in ``info["final_obs"]`` and ``info["final_info"]``.
    SAME_STEP = "SameStep"
    #: Return the last observation; the next step ignores its action and returns the new episode's first.
    NEXT_STEP = "NextStep"
    #: Leave it to the caller: ``reset(indices=[...])``.
    DISABLED = "Disabled"

    @classmethod
    def parse(cls, value: str | AutoresetMode) -> AutoresetMode:
        """The mode named ``same_step``, ``SameStep`` or so. Raises ``ValueError`` for anything else."""
        name = str(value.value if isinstance(value, Enum) else value)
        for mode in cls:
            if name.replace("_", "").replace("-", "").lower() == mode.value.lower():
                return mode
        raise ValueError(f"autoreset must be 'same_step', 'next_step' or 'disabled', got {value!r}")


@dataclass(frozen=True, slots=True)
class EnvMaker:
    """How to make one environment of a vector, again if need be, in whichever process it runs."""

    #: What error messages and ``env_ids`` call it.
    env_id: str
    #: A specification, or a callable that returns an environment.
    source: EnvSpec | Callable[..., Env]
    kwargs: dict[str, Any] = field(default_factory=dict)
    wrappers: tuple[Any, ...] = ()

    def make(self) -> Env:
        """A new environment, not yet reset."""
        if isinstance(self.source, EnvSpec):
            from gem.registry import make

            return make(self.source, wrappers=self.wrappers, **self.kwargs)
        env = self.source(**self.kwargs)
        if self.wrappers:
            from gem.wrappers import apply_wrappers

            env = apply_wrappers(env, self.wrappers)
        return env


@dataclass(frozen=True, slots=True)
class VectorConfig:
    """What a backend is told besides the environments."""

    autoreset: AutoresetMode = AutoresetMode.SAME_STEP
    #: Seed of the first reset of each environment, used when that reset is given none.
    seeds: tuple[int | None, ...] = ()
    #: Options of the first reset of those environments that have some, by index.
    options: dict[int, dict[str, Any]] = field(default_factory=dict)
    #: Seconds after which a step counts as hung; ``None``: never.
    step_timeout: float | None = None
    #: The same for a reset, and for making an environment.
    reset_timeout: float | None = None
    #: Threads or processes at most; ``None``: the backend decides.
    num_workers: int | None = None
    #: How processes start: ``spawn`` or ``fork``; ``None``: the backend decides.
    start_method: str | None = None


class Abandoned(BaseException):
    """Thrown into a thread whose environment hung: nobody waits for it any more."""


class Slot:
    """Place ``index`` of a vector: makes its environment, steps it, resets it when it ended, replaces it when it broke.

    Nothing an environment raises comes out: a failure is an :data:`Outcome` with ``truncated`` and
    ``info["error"]``. Only ``KeyboardInterrupt`` passes.
    """

    __slots__ = (
        "abandoned",
        "autoreset",
        "env",
        "error",
        "failures",
        "fresh",
        "index",
        "maker",
        "multi_agent",
        "pending",
        "seed",
    )

    def __init__(self, maker: EnvMaker, index: int, autoreset: AutoresetMode) -> None:
        self.maker = maker
        self.index = index
        self.autoreset = autoreset
        self.seed: int | None = None
        self.failures = 0
        #: Whether the instance replaces one that failed and was not reset yet.
        self.fresh = False
        #: Whether the next step begins an episode instead of carrying out its action.
        self.pending = False
        self.multi_agent = False
        #: Whether the vector gave up waiting and put another slot in this one's place.
        self.abandoned = False
        #: What the first attempt to make the environment raised.
        self.error: BaseException | None = None
        self.env: Env | None = None

    def build(self) -> None:
        """Make the environment; raises what making it raises."""
        self.env = self.maker.make()
        self.multi_agent = is_multi_agent(self.env)

    def prepare(self, _: None = None) -> Outcome:
        """Make the environment before anything else; what that raises is kept in :attr:`error`."""
        try:
            self.build()
        except BaseException as error:
            self.error = error
        return "", 0.0, False, False, {}

    def abandon(self) -> Slot:
        """Give up waiting for this slot. Returns the one for its place, which makes its environment when asked."""
        self.abandoned = True
        successor = Slot(self.maker, self.index, self.autoreset)
        successor.seed = self.seed
        successor.failures = self.failures + 1
        successor.fresh = True
        successor.pending = self.autoreset is not AutoresetMode.DISABLED
        successor.multi_agent = self.multi_agent
        return successor

    @property
    def is_async(self) -> bool:
        """Whether the environment offers ``async def astep(action)``, alone or inside wrappers that only observe."""
        return self.env is not None and awaits(self.env)

    @property
    def has_async_reset(self) -> bool:
        """Whether it offers ``async def areset(seed, options)`` too."""
        return self.is_async and awaits(self.env, "reset")

    # -- stepping -------------------------------------------------------------------------------------

    def step(self, action: Any) -> Outcome:
        """Carry out one action, or begin the episode that is due."""
        if self.pending or self.env is None:
            return self.begin()
        try:
            outcome = self.env.step(action)
            if self.multi_agent:
                if not self.ended(check_agents(outcome)):
                    return outcome
            else:
                _, reward, terminated, truncated, info = outcome
                if type(reward) is not float or type(info) is not dict:
                    check_outcome(outcome)
                if not (terminated or truncated):
                    return outcome
        except BaseException as error:
            return self.fail("step", error)
        return self.end(outcome)

    def begin(self) -> Outcome:
        """Begin an episode, as a step of its own."""
        return self.reset((self._replacement_seed(), None))

    def reset(self, start: Start = (None, None)) -> Outcome:
        """Begin an episode. A failure leaves a new instance, and the next step tries again."""
        seed, options = start
        if seed is not None:
            self.seed = seed
        try:
            if self.env is None:
                self.build()
            assert self.env is not None
            observation, info = check_reset(self.env.reset(**reset_arguments(seed, options)))
        except BaseException as error:
            return self._lose("reset", error)
        self.pending = self.fresh = False
        return observation, 0.0, False, False, info

    def end(self, outcome: Outcome) -> Outcome:
        """What to return for a step that ended the episode."""
        if self.abandoned or self.env is None:
            return outcome
        if self.autoreset is not AutoresetMode.SAME_STEP:
            self.pending = self.autoreset is AutoresetMode.NEXT_STEP
            return outcome
        try:
            first, info = self.env.reset()
            if type(info) is not dict:
                check_reset((first, info))
        except BaseException as error:
            return self.fail_reset(outcome, error)
        last, reward, terminated, truncated, last_info = outcome
        return first, reward, terminated, truncated, begun(info, last, last_info)

    def ended(self, outcome: Outcome) -> bool:
        """Whether the episode is over: for several agents, when it is over for each."""
        _, _, terminated, truncated, _ = outcome
        if not self.multi_agent:
            return bool(terminated or truncated)
        return all(terminated.get(a) or truncated.get(a) for a in {**terminated, **truncated})

    # -- the same for environments that await ----------------------------------------------------------

    async def astep(self, action: Any) -> Outcome:
        """:meth:`step` through the environment's ``astep`` (and ``areset``, where it has one)."""
        if self.pending or self.env is None:
            return await self.abegin()
        try:
            env: Any = self.env
            outcome: Outcome = await env.astep(action)
            check = check_agents if self.multi_agent else check_outcome
            over = self.ended(check(outcome))
        except BaseException as error:
            return await self.afail("step", error)
        return await self.aend(outcome) if over else outcome

    async def abegin(self) -> Outcome:
        return await self.areset((self._replacement_seed(), None))

    async def areset(self, start: Start = (None, None)) -> Outcome:
        """:meth:`reset` through the environment's ``areset``, where it has one."""
        if self.env is None or not awaits(self.env, "reset"):
            return self.reset(start)
        seed, options = start
        if seed is not None:
            self.seed = seed
        try:
            env: Any = self.env
            observation, info = check_reset(await env.areset(**reset_arguments(seed, options)))
        except BaseException as error:
            return self._lose("reset", error)
        self.pending = self.fresh = False
        return observation, 0.0, False, False, info

    async def aend(self, outcome: Outcome) -> Outcome:
        if self.autoreset is AutoresetMode.SAME_STEP and not self.abandoned:
            return merge(outcome, await self.areset())
        return self.end(outcome)

    async def afail(self, doing: str, error: BaseException | str) -> Outcome:
        failure = self._lose(doing, error)
        if self.autoreset is AutoresetMode.SAME_STEP:
            return merge(failure, await self.abegin())
        return failure

    # -- failures -------------------------------------------------------------------------------------

    def fail(self, doing: str, error: BaseException | str) -> Outcome:
        """Replace the environment, which failed at ``doing``, and say so in its outcome."""
        failure = self._lose(doing, error)
        if self.autoreset is AutoresetMode.SAME_STEP:
            return merge(failure, self.begin())
        return failure

    def fail_reset(self, last: Outcome, error: BaseException) -> Outcome:
        """The outcome of a step that ended an episode and after which the reset failed."""
        return merge(last, self._lose("reset", error))

    def recover(self, why: str) -> Outcome:
        """Report an episode that was lost with its thread or process; with autoreset in the same step begin another."""
        failure = failure_outcome(self.index, self.maker.env_id, "step", why)
        return merge(failure, self.begin()) if self.autoreset is AutoresetMode.SAME_STEP else failure

    def _lose(self, doing: str, error: BaseException | str) -> Outcome:
        if self.abandoned or isinstance(error, Abandoned):
            raise Abandoned
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise error
        self.failures += 1
        self.fresh = True
        broken, self.env = self.env, None
        self.pending = self.autoreset is not AutoresetMode.DISABLED
        if broken is not None:
            close_quietly(broken)
        return failure_outcome(self.index, self.maker.env_id, doing, error)

    def _replacement_seed(self) -> int | None:
        """The seed of an instance after a failure, so that a seeded vector stays reproducible."""
        if not self.fresh or self.seed is None:
            return None
        return random.Random(f"{self.seed}:{self.failures}").getrandbits(32)


def reset_arguments(seed: int | None, options: dict[str, Any] | None) -> dict[str, Any]:
    """Keyword arguments of ``reset``: only those given, for environments whose ``reset`` takes no options."""
    arguments: dict[str, Any] = {}
    if seed is not None:
        arguments["seed"] = seed
    if options is not None:
        arguments["options"] = options
    return arguments


def check_reset(answer: Any) -> tuple[Any, dict[str, Any]]:
    """What a reset returned, if it is an observation and a dictionary; else ``TypeError``."""
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], dict):
        raise TypeError(f"reset must return (observation, info), got {short(answer)}")
    return answer


def check_outcome(outcome: Any) -> Outcome:
    """What a step returned, if it is five values with a number for a reward; else ``TypeError``."""
    try:
        _, reward, _, _, info = outcome
    except (TypeError, ValueError):
        raise TypeError(
            f"step must return (observation, reward, terminated, truncated, info), got {short(outcome)}"
        ) from None
    check_reward(reward)
    check_info(info)
    return outcome  # type: ignore[no-any-return]


def check_reward(reward: Any) -> float:
    """A reward as a number; else ``TypeError``."""
    try:
        return float(reward)
    except (TypeError, ValueError):
        raise TypeError(f"reward must be a number, got {short(reward)}") from None


def check_info(info: Any) -> None:
    """``TypeError`` unless it is a dictionary."""
    if not isinstance(info, dict):
        raise TypeError(f"info must be a dict, got {short(info)}")


def check_agents(outcome: Any) -> Outcome:
    """What a step of several agents returned, if it is five dictionaries; else ``TypeError``."""
    if not (isinstance(outcome, tuple) and len(outcome) == 5 and all(isinstance(part, dict) for part in outcome)):
        raise TypeError(f"step must return five dictionaries keyed by agent, got {short(outcome)}")
    return outcome


def begun(info: dict[str, Any], last_observation: Any, last_info: dict[str, Any]) -> dict[str, Any]:
    """The info of a new episode, with what the last one ended with beside it."""
    info = info.copy()
    info["final_obs"], info["final_info"] = last_observation, last_info
    return info


def merge(last: Outcome, first: Outcome) -> Outcome:
    """The outcome of a step that ended one episode and began the next."""
    last_observation, reward, terminated, truncated, last_info = last
    observation, _, _, _, info = first
    merged = begun(info, last_observation, last_info)
    if "error" in last_info:
        merged["error"] = last_info["error"]
    return observation, reward, terminated, truncated, merged


def failure_outcome(index: int, env_id: str, doing: str, error: BaseException | str) -> Outcome:
    """The outcome of an environment that failed: no observation, no reward, truncated, and why."""
    if isinstance(error, str):
        cause, trace = clip(error), ""
    else:
        cause = one_line(error)
        frames = traceback.extract_tb(error.__traceback__)
        if frames and not frames[-1].filename.startswith(_HERE):  # what vectors say of a malformed result tells itself
            cause += f" ({frames[-1].filename}:{frames[-1].lineno})"
        try:
            trace = "".join(traceback.format_exception(error))
        except Exception:  # an exception that makes trouble even when looked at
            trace = ""
    info: dict[str, Any] = {"error": f"environment {index} ({env_id}) failed in {doing}: {cause}"}
    if trace:
        info["traceback"] = trace
    return "", 0.0, False, True, info


def is_multi_agent(env: Any) -> bool:
    """Whether actions, rewards and flags are dictionaries keyed by agent."""
    said = getattr(env, "multi_agent", None)
    if said is None:
        spec = getattr(env, "spec", None)
        said = spec is not None and spec.multi_agent
    return bool(said)


def close_quietly(env: Any) -> None:
    """Close an environment that is given up; there is nobody left to tell about an error."""
    with contextlib.suppress(Exception):
        env.close()
