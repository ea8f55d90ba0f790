"""The environment under examination: how to make a fresh one, play it, and note what it breaks."""

from __future__ import annotations

import contextlib
import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gem.env import Env
from gem.env_spec import EnvSpec
from gem.errors import DataError, MissingDependency
from gem.testing import agents, returned
from gem.testing.agents import is_multi_agent, with_action
from gem.testing.guard import Hang, time_limit
from gem.testing.trace import Trace, difference, event, go_on, is_over, play, shorten
from gem.testing.violations import Violation
from gem.wording import one_line

#: What is played where an environment offers no random actions.
PLAIN_TEXTS = (r"\boxed{1}", r"I think it is \boxed{A}.", "<answer>yes</answer>", "print(1)", "hello")

#: Reset and step cannot be told apart from here on: nothing more can be examined.
FATAL = frozenset({"GEM101", "GEM102", "GEM103", "GEM201", "GEM202", "GEM203"})


class Stop(Exception):
    """Nothing more can be examined."""


class Subject:
    """One environment under examination.

    Args:
        target: an id, an :class:`EnvSpec`, a class or other callable that makes an environment, or an instance,
            whose siblings are made with its ``spawn``.
        kwargs: constructor arguments, over those of the id.
        seed: the first episode's seed; the others count on from it.
        episodes: how many episodes are played at random.
        max_steps: the number of steps after which an episode is broken off.
        timeout: seconds one call may take.
    """

    def __init__(
        self,
        target: Any,
        kwargs: Mapping[str, Any],
        *,
        seed: int,
        episodes: int,
        max_steps: int,
        timeout: float,
        backends: tuple[str, ...],
    ) -> None:
        self.target = target
        self.kwargs = dict(kwargs)
        self.seed = seed
        self.episodes = episodes
        self.max_steps = max_steps
        self.timeout = timeout
        self.backends = backends
        self.spec: EnvSpec | None = None
        if isinstance(target, str):
            from gem.registry import spec

            self.spec = spec(target)
        elif isinstance(target, EnvSpec):
            self.spec = target
        elif isinstance(target, Env) or not callable(target):
            self.spec = getattr(target, "spec", None)
        self.env_id: str = self.spec.id if self.spec is not None else _name_of(target)
        self.violations: dict[str, Violation] = {}
        #: The actions of each random episode, and what the environment answered to them; by seed.
        self.scripts: dict[int, list[Any]] = {}
        self.references: dict[int, Trace] = {}
        #: Whether the same seed and actions give the same episode, so that comparing traces means something.
        self.reproducible = self.spec is None or self.spec.deterministic

    # -- notes ----------------------------------------------------------------------------------------

    def report(self, code: str, message: str) -> None:
        """Note that a rule is broken; the first time counts. Raises :class:`Stop` when it makes the rest moot."""
        self.violations.setdefault(code, Violation(code, self.env_id, " ".join(message.split())))
        if code in FATAL:
            raise Stop

    def clean(self, *codes: str) -> bool:
        """Whether none of these was reported."""
        return not any(code in self.violations for code in codes)

    # -- making and calling it ------------------------------------------------------------------------

    @contextlib.contextmanager
    def limited(self, what: str) -> Iterator[None]:
        """The time limit around one call."""
        try:
            with time_limit(self.timeout):
                yield
        except Hang:
            self.report("GEM103", f"{what} took longer than {self.timeout:g} s")

    def build(self, **extra: Any) -> Any:
        """A fresh environment, not yet looked at, within the time limit; raises what its constructor raises."""
        with self.limited("making it"):
            return self.construct(**extra)

    def construct(self, **extra: Any) -> Any:
        """A fresh environment, not yet looked at."""
        kwargs = {**self.kwargs, **extra}
        if isinstance(self.target, str | EnvSpec):
            from gem.registry import make

            return make(self.target, **kwargs)
        if callable(self.target) and not isinstance(self.target, Env):
            return self.target(**kwargs)
        return self.target.spawn(**kwargs)

    def make(self) -> Any:
        """A fresh environment. One that cannot be made ends the examination."""
        try:
            env = self.build()
        except (MissingDependency, Stop):
            raise
        except Exception as error:
            self._judgeable(error)
            self.report("GEM101", f"making it raised {describe(error)}")
            raise Stop from error
        if not isinstance(env, Env):
            self.report("GEM102", f"making it gave a {type(env).__name__}")
        return env

    def _judgeable(self, error: Exception) -> None:
        """Raise ``MissingDependency`` when data that comes over the network is what is missing."""
        if isinstance(error, DataError) and self.spec is not None and "network" in self.spec.requires:
            raise MissingDependency(str(error)) from error

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Any]:
        """A fresh environment, closed at the end."""
        env = self.make()
        try:
            yield env
        finally:
            self.close(env)

    def close(self, env: Any) -> None:
        """Close it, whatever it says; what ``close`` does wrong is examined once, elsewhere."""
        with contextlib.suppress(Exception), self.limited("close"):
            env.close()

    def reset(self, env: Any, **keywords: Any) -> tuple[Any, Any]:
        """Reset and examine what comes back."""
        result: Any = None
        try:
            with self.limited("reset"):
                result = env.reset(**keywords)
        except (MissingDependency, Stop):
            raise
        except Exception as error:
            self._judgeable(error)
            self.report("GEM201", f"reset({shown(keywords)}) raised {describe(error)}")
            raise Stop from error
        if not isinstance(result, tuple) or len(result) != 2:
            self.report("GEM202", f"reset returned {_shape(result)}")
        if is_multi_agent(env):
            agents.examine_reset(self, env, result)
        else:
            returned.examine_reset(self, result)
        return result[0], result[1]

    def step(self, env: Any, action: Any, name: str | None = None) -> tuple[Any, Any, Any, Any, Any]:
        """Step with a legal action (called ``name`` in a report) and examine what comes back.

        Raises:
            RuntimeError: ``step`` raised, which was reported.
        """
        try:
            with self.limited("step"):
                result = env.step(action)
        except Stop:
            raise
        except (Exception, SystemExit) as error:
            self.report("GEM305", f"step with {name or shorten(repr(action), 60)} raised {describe(error)}")
            raise RuntimeError from error
        if not isinstance(result, tuple) or len(result) != 5:
            self.report("GEM203", f"step returned {_shape(result)}")
        if is_multi_agent(env):
            agents.examine_step(self, env, result)
        else:
            returned.examine_step(self, result)
        observation, reward, terminated, truncated, info = result
        return observation, reward, terminated, truncated, info

    # -- playing it -----------------------------------------------------------------------------------

    @property
    def seeds(self) -> range:
        return range(self.seed, self.seed + self.episodes)

    def sample(self, env: Any, seed: int, turn: int) -> Any:
        """A random action that leaves the instance's generators as they were."""
        with undisturbed(env, f"{seed}/{turn}"):
            try:
                with self.limited("sample_random_action"):
                    return env.sample_random_action()
            except NotImplementedError:
                return self.plain(env, turn)

    def plain(self, env: Any, turn: int) -> Any:
        """What is played instead of a random action."""
        text = PLAIN_TEXTS[turn % len(PLAIN_TEXTS)]
        return with_action(env, text) if is_multi_agent(env) else text

    def scout(self, seed: int) -> None:
        """Play one random episode, then the same actions in a fresh instance; keep actions and trace."""
        with self.fresh() as env:
            self.reset(env, seed=seed)
            script: list[Any] = []
            for turn in range(self.max_steps):
                try:
                    action = self.sample(env, seed, turn)
                except Stop:
                    raise
                except Exception as error:
                    self.report("GEM306", f"sample_random_action raised {describe(error)}")
                    action = self.plain(env, turn)
                if not isinstance(action, dict if is_multi_agent(env) else str):
                    self.report("GEM306", f"sample_random_action returned {_shape(action)}")
                    action = self.plain(env, turn)
                script.append(action)
                if is_over(self.step(env, action)):
                    break
        # Sampling may have moved a generator of the environment's own, so the trace that others are compared
        # with comes from an instance that was only stepped.
        with self.fresh() as env:
            trace = [event(self.reset(env, seed=seed))]
            played = []
            for turn in range(self.max_steps):
                action = script[turn % len(script)]
                played.append(action)
                result = self.step(env, action)
                trace.append(event(result))
                if is_over(result):
                    break
        self.scripts[seed] = played
        self.references[seed] = trace

    def play(self, env: Any, seed: int, actions: Iterable[Any], **reset: Any) -> Trace:
        """The trace of one episode; what it raises is in the trace."""
        with self.limited("an episode"):
            return play(env, seed, actions, **reset)

    def go_on(self, env: Any, actions: Iterable[Any]) -> Trace:
        """The trace of the rest of an episode under way."""
        with self.limited("an episode"):
            return go_on(env, actions)

    def compare(self, code: str, found: Trace, how: str, *, expected: Trace | None = None, first_turn: int = 0) -> bool:
        """Report ``code`` when a trace is not the reference (or ``expected``); whether it was the same."""
        part = difference(self.reference if expected is None else expected, found, first_turn)
        if part is not None:
            self.report(code, f"{how}, {part}")
        return part is None

    @property
    def script(self) -> list[Any]:
        """The actions of the longest random episode (of at most 40 steps, for what is repeated often)."""
        return self.scripts[self.best_seed][:40]

    @property
    def reference(self) -> Trace:
        """What the environment answered to :attr:`script` when reset with :attr:`best_seed`."""
        return self.references[self.best_seed][: len(self.script) + 1]

    @property
    def best_seed(self) -> int:
        return max(self.scripts, key=lambda seed: len(self.scripts[seed]))


@contextlib.contextmanager
def undisturbed(env: Any, seed: str) -> Iterator[None]:
    """Give the instance's generators other numbers for a while, then set them back."""
    inner = env.unwrapped
    generator = inner.rng
    state = generator.getstate()
    arrays = getattr(inner, "_np_random", None)
    saved = arrays.bit_generator.state if arrays is not None else None
    generator.seed(seed)
    if arrays is not None:
        arrays.bit_generator.state = _bit_state(arrays, seed)
    try:
        yield
    finally:
        generator.setstate(state)
        if arrays is not None:
            arrays.bit_generator.state = saved


def _bit_state(arrays: Any, seed: str) -> Any:
    return type(arrays.bit_generator)(random.Random(seed).getrandbits(64)).state


def missing_keywords(function: Callable[..., Any], *names: str) -> list[str]:
    """Those of ``names`` that are no keyword of ``function``."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return []
    return [n for n in names if n not in parameters or parameters[n].kind is inspect.Parameter.POSITIONAL_ONLY]


def describe(error: BaseException) -> str:
    """An exception in one line."""
    return shorten(one_line(error), 160)


def shown(keywords: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={shorten(repr(value), 30)}" for name, value in keywords.items())


def _shape(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{shorten(repr(value), 40)} ({type(value).__name__})"


def _name_of(target: Any) -> str:
    return getattr(target, "__name__", None) or type(target).__name__
