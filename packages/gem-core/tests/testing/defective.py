"""For every rule, an environment that breaks it and no other."""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from well_behaved import Counting, Digits

import gem
from gem import EnvSpec

DEFECTS: dict[str, Any] = {}


def breaks(code: str) -> Any:
    """Name the rule that a class, or a specification of it, breaks."""

    def register(target: Any) -> Any:
        DEFECTS[f"{code}-{target.__name__}"] = target
        return target

    return register


def spec_that_breaks(code: str, entry_point: Any = "well_behaved:Digits", **fields: Any) -> None:
    fields = {"reward_range": (-0.5, 1.0), "description": "Guess a digit.", "max_turns": 6, **fields}
    DEFECTS[f"{code}-spec"] = EnvSpec(id="toy:Digits-v0", entry_point=entry_point, **fields)


# -- 1: making one, and what the specification says ---------------------------------------------------------


@breaks("GEM101")
class Unmakeable(Digits):
    def __init__(self) -> None:
        raise RuntimeError("no")


@breaks("GEM102")
class NoEnv:
    pass


@breaks("GEM103")
class HangsInConstructor(Digits):
    def __init__(self) -> None:
        time.sleep(3600)


@breaks("GEM103")
class HangsInStep(Digits):
    def answer(self, action: str) -> Any:
        while True:
            pass


@breaks("GEM103")
class HangsInThreads(Digits):
    def answer(self, action: str) -> Any:
        while threading.current_thread() is not threading.main_thread():
            pass
        return super().answer(action)


@breaks("GEM104")
class SwallowsOptions(Digits):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__()


@breaks("GEM104")
class RefusesOptionsVaguely(Digits):
    def __init__(self, **kwargs: Any) -> None:
        if kwargs:
            raise TypeError("bad arguments")
        super().__init__()


spec_that_breaks("GEM105", multi_agent=True)


class Sees(Digits):
    def describe(self) -> Any:
        return [
            {"type": "text", "text": super().describe()},
            {"type": "image", "image": "data:image/png;base64,AAAA"},
        ]


spec_that_breaks("GEM106", "defective:Sees")
spec_that_breaks("GEM107", kwargs={"label": ("a", "tuple")})
spec_that_breaks("GEM108", reward_range=(0.0, 0.5))


class EndsLate(Digits):
    def __init__(self) -> None:
        super().__init__(max_turns=7)

    def read(self, action: str) -> int | None:
        guess = super().read(action)
        return None if guess is None else (self.secret + 1) % 10 if guess == self.secret else guess


spec_that_breaks("GEM109", "defective:EndsLate")
spec_that_breaks("GEM121", description=" ")
spec_that_breaks("GEM122", reward_range=(float("-inf"), 1.0))


class TerminatesAtLimit(EndsLate):
    def answer(self, action: str) -> Any:
        observation, reward, terminated, truncated, info = super().answer(action)
        return observation, reward, terminated or truncated, False, info


spec_that_breaks("GEM123", "defective:TerminatesAtLimit", max_turns=7)


# -- 2: what reset and step return ---------------------------------------------------------------------------


@breaks("GEM201")
class ResetRaises(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        raise KeyError("word list")


@breaks("GEM202")
class ResetObservationOnly(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed)[0]


@breaks("GEM203")
class StepFour(Digits):
    def answer(self, action: str) -> Any:
        observation, reward, terminated, truncated, info = super().answer(action)
        return observation, reward, terminated or truncated, info


def _named(cls: type, name: str) -> type:
    """Let pickle find a class that was made inside a function."""
    cls.__name__ = cls.__qualname__ = name
    globals()[name] = cls
    return cls


class Observes(Digits):
    value: Any = None

    def describe(self) -> Any:
        return copy.deepcopy(self.value)


for _value in (None, 3, b"text", {"text": "a"}, ["a"], [{"type": "text"}], [{"type": "image", "image": "cat.png"}]):

    @breaks("GEM204")
    class ObservesOdd(Observes):
        value = _value

    DEFECTS[f"GEM204-{_value!r}"] = _named(
        DEFECTS.pop("GEM204-ObservesOdd"), f"Observes{type(_value).__name__}{len(DEFECTS)}"
    )


def _change(code: str, name: str, position: int, function: Any) -> None:
    """Break what a step returns in one position."""

    class Changed(Digits):
        def answer(self, action: str) -> Any:
            result = list(super().answer(action))
            result[position] = function(result[position])
            return tuple(result)

    DEFECTS[f"{code}-{name}"] = _named(Changed, f"Changed{name.replace('-', '')}")


_change("GEM205", "reward-bool", 1, bool)
_change("GEM205", "reward-array", 1, np.array)
_change("GEM205", "reward-float32", 1, np.float32)
_change("GEM205", "reward-nan", 1, lambda reward: float("nan"))
_change("GEM205", "reward-inf", 1, lambda reward: float("inf"))
_change("GEM205", "reward-none", 1, lambda reward: None)
_change("GEM206", "terminated-numpy", 2, np.bool_)
_change("GEM206", "terminated-int", 2, int)
_change("GEM206", "truncated-int", 3, int)
_change("GEM208", "info-none", 4, lambda info: None)
_change("GEM208", "info-int-key", 4, lambda info: {**info, 3: "x"})
_change("GEM209", "info-set", 4, lambda info: {**info, "seen": {1, 2}})
_change("GEM209", "info-numpy", 4, lambda info: {**info, "board": [{"cell": np.int64(3)}]})
_change("GEM209", "info-nan", 4, lambda info: {**info, "score": float("nan")})
_change("GEM209", "info-int-key-inside", 4, lambda info: {**info, "cells": {1: "x"}})
_change("GEM210", "suffix-none", 4, lambda info: {**info, "suffix": None})
_change("GEM210", "prefix-list", 4, lambda info: {**info, "prefix": ["x"]})
_change("GEM211", "metrics-list", 4, lambda info: {**info, "metrics": [1.0]})
_change("GEM211", "metrics-text", 4, lambda info: {**info, "metrics": {"score": "high"}})
_change("GEM211", "metrics-bool", 4, lambda info: {**info, "metrics": {"score": True}})
_change("GEM211", "metrics-float32", 4, lambda info: {**info, "metrics": {"score": np.float32(1)}})
_change("GEM212", "success-missing", 4, lambda info: {k: v for k, v in info.items() if k != "success"})
_change("GEM212", "success-always", 4, lambda info: {"success": False, **info})
_change("GEM212", "success-number", 4, lambda info: {**info, **({"success": 1} if "success" in info else {})})
_change(
    "GEM213",
    "invalid-action-true",
    4,
    lambda info: {**info, **({"invalid_action": True} if "invalid_action" in info else {})},
)
_change("GEM213", "invalid-action-none", 4, lambda info: {"invalid_action": None, **info})
_change("GEM213", "invalid-action-empty", 4, lambda info: {"invalid_action": "", **info})


@breaks("GEM207")
class BothAtOnce(Digits):
    def answer(self, action: str) -> Any:
        observation, reward, terminated, truncated, info = super().answer(action)
        return observation, reward, terminated or truncated, terminated or truncated, info


@breaks("GEM212")
class SuccessAtReset(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        observation, info = super().reset(seed)
        return observation, {**info, "success": False}


@breaks("GEM214")
class NamesParametersOtherwise(Digits):
    def step(self, response: str) -> Any:  # type: ignore[override]
        return super().step(response)


@breaks("GEM214")
class TakesNoOptions(Digits):
    def reset(self, seed: int | None = None) -> Any:  # type: ignore[override]
        return super().reset(seed)


# -- 3: the course of an episode ------------------------------------------------------------------------------


@breaks("GEM301")
class BeginsByItself(Digits):
    def check(self, action: Any) -> None:
        if isinstance(action, str) and not hasattr(self, "secret"):
            self.reset()
        super().check(action)


@breaks("GEM302")
class PlaysOn(Digits):
    def check(self, action: Any) -> None:
        if not isinstance(action, str):
            raise TypeError("an action is a str")
        if not hasattr(self, "secret"):
            raise gem.ResetNeeded


@breaks("GEM302")
class WrongErrorAtEnd(Digits):
    def check(self, action: Any) -> None:
        if isinstance(action, str) and not self.playing and hasattr(self, "secret"):
            raise AssertionError("done")
        super().check(action)


@breaks("GEM303")
class TakesNothing(Digits):
    def check(self, action: Any) -> None:
        super().check("" if action is None else action)

    def read(self, action: Any) -> int | None:
        return None if action is None else super().read(action)


@breaks("GEM303")
class WrongErrorForBytes(Digits):
    def check(self, action: Any) -> None:
        if isinstance(action, bytes):
            raise ValueError("bytes")
        super().check(action)


@breaks("GEM304")
class CountsBeforeChecking(Digits):
    def step(self, action: Any) -> Any:
        if not self.playing:
            raise gem.ResetNeeded
        self.turn += 1
        self.check(action)
        self.turn -= 1
        return self.answer(action)


@breaks("GEM305")
class ReadsAnyBox(Digits):
    def read(self, action: str) -> int | None:
        if "\\boxed{²}" in action:
            int("²")
        return super().read(action)


@breaks("GEM305")
class EncodesActions(Digits):
    def read(self, action: str) -> int | None:
        action.encode()
        return super().read(action)


@breaks("GEM305")
class RecursesIntoBraces(Digits):
    def read(self, action: str) -> int | None:
        def depth(at: int) -> int:
            return depth(at + 1) if action[at : at + 1] == "{" else at

        depth(action.find("{{")) if "{{" in action else None
        if action.count("{") > 400:
            raise RecursionError("maximum recursion depth exceeded")
        return super().read(action)


@breaks("GEM305")
class LeavesTheProgram(Digits):
    def read(self, action: str) -> int | None:
        if "SystemExit" in action:
            raise SystemExit(3)
        return super().read(action)


@breaks("GEM305")
class FailsOnEmptyInMidEpisode(Digits):
    def read(self, action: str) -> int | None:
        if not action and self.guesses:
            raise IndexError("empty")
        return super().read(action)


@breaks("GEM306")
class SamplesUnboxed(Digits):
    def sample_random_action(self) -> str:
        return str(self.rng.randrange(10))


@breaks("GEM306")
class SamplesNumbers(Digits):
    def sample_random_action(self) -> Any:
        return self.rng.randrange(10)


@breaks("GEM307")
class SamplesFromGlobal(Digits):
    def sample_random_action(self) -> str:
        return f"\\boxed{{{random.randrange(10)}}}"


@breaks("GEM307")
class SamplesFromEntropy(Digits):
    def sample_random_action(self) -> str:
        # Of ten digits two runs would sometimes draw the same ones.
        return f"{random.SystemRandom().random()} is not \\boxed{{5}}"


@breaks("GEM308")
class KeepsUnfinished(Digits):
    def begin(self) -> None:
        unfinished = self.playing
        super().begin()
        if unfinished:
            self.guesses.append(10)


@breaks("GEM309")
class FailsOnEmptyOptions(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if options is not None:
            options["level"]
        return super().reset(seed)


# -- 4: reproducibility ------------------------------------------------------------------------------------------


@breaks("GEM401")
class DrawsFromRandom(Digits):
    def draw(self, size: int) -> int:
        return random.randrange(size)


@breaks("GEM401")
class DrawsFromNumpy(Digits):
    def draw(self, size: int) -> int:
        return int(np.random.randint(size))


@breaks("GEM402")
class SeedsRandom(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            random.seed(int(seed))
        return super().reset(seed)

    def draw(self, size: int) -> int:
        return random.randrange(size)


@breaks("GEM402")
class SeedsNumpy(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            np.random.seed(int(seed) % 2**32)
        return super().reset(seed)


@breaks("GEM403")
class DrawsFromEntropy(Digits):
    def begin(self) -> None:
        super().begin()
        self.before = random.SystemRandom().getrandbits(64)  # of few values two runs would sometimes draw the same


@breaks("GEM403")
class ReadsTheClock(Digits):
    def describe(self) -> str:
        return f"{time.perf_counter_ns()}"


@breaks("GEM403")
class CountsInstances(Digits):
    made = 0

    def begin(self) -> None:
        super().begin()
        CountsInstances.made += 1
        self.label = f"digit {CountsInstances.made}"


@breaks("GEM404")
class GetsHarder(Digits):
    level = 0

    def begin(self) -> None:
        super().begin()
        if self.level:
            self.secret = (self.secret + self.level) % 10

    def answer(self, action: str) -> Any:
        result = super().answer(action)
        if not self.playing and self.turn > 1:
            self.level = 1
        return result

    # Only episodes on one instance count here: copies and states hold the level as they should.


@breaks("GEM405")
class SharesGenerator(Digits):
    generator = random.Random()

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.reseed(seed)
            self.generator.seed(int(seed))
        return super().reset(seed)

    def draw(self, size: int) -> int:
        return self.generator.randrange(size)


@breaks("GEM405")
class SharesBoard(Digits):
    board: list[int] = []

    def begin(self) -> None:
        super().begin()
        self.board.clear()

    def info(self, extra: dict[str, Any]) -> dict[str, Any]:
        self.board.append(self.turn)
        return {**super().info(extra), "board": list(self.board)}


@breaks("GEM406")
class UsesSignals(Digits):
    def answer(self, action: str) -> Any:
        handler = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        try:
            return super().answer(action)
        finally:
            signal.signal(signal.SIGUSR1, handler)


@breaks("GEM406")
class KnowsItsThread(Digits):
    def describe(self) -> str:
        return f"{threading.current_thread() is threading.main_thread()}"


@breaks("GEM407")
class RunsALoop(Digits):
    def answer(self, action: str) -> Any:
        async def inner() -> Any:
            return Digits.answer(self, action)

        waiting = inner()
        try:
            return asyncio.run(waiting)
        finally:
            waiting.close()


@breaks("GEM408")
class Hashes(Digits):
    def begin(self) -> None:
        super().begin()
        self.before = hash(f"{self.secret} a text")


@breaks("GEM408")
class DrawsFromSets(Digits):
    def describe(self) -> str:
        return " ".join({f"word{i}" for i in range(50)})


@breaks("GEM408")
class KnowsItsProcess(Digits):
    def describe(self) -> str:
        return f"{os.getpid()}"


@breaks("GEM409")
class SmallSeeds(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None and seed >= 2**32:
            raise ValueError("seed out of range")
        return super().reset(seed)


@breaks("GEM409")
class PythonSeeds(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None and not isinstance(seed, int) and hasattr(seed, "dtype"):
            raise TypeError("seed must be an int")
        return super().reset(seed)


@breaks("GEM409")
class SeedsByRepr(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.reseed(seed)
            seed = sum(map(ord, repr(seed)))
        return super().reset(seed)


@breaks("GEM410")
class NegativeSeeds(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(abs(seed) if seed is not None and not isinstance(seed, str) else seed)


@breaks("GEM411")
class AnySeeds(Digits):
    def reset(self, seed: Any = None, options: Any = None) -> Any:
        return super().reset(int(seed) if seed is not None else seed)


@breaks("GEM412")
class ForgetsItsSeed(Digits):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(random.SystemRandom().randrange(2**32) if seed is None else seed)


def _in_vector(frame: Any, part: str) -> bool:
    """Whether gem's vector code is among the callers."""
    while frame is not None:
        if part in frame.f_globals.get("__name__", ""):
            return True
        frame = frame.f_back
    return False


@breaks("GEM421")
class DiffersInSync(Digits):
    def describe(self) -> str:
        return f"{_in_vector(sys._getframe(), 'gem.vector.sync')}"


@breaks("GEM422")
class DiffersInThreads(Digits):
    def describe(self) -> str:
        inside = threading.current_thread() is not threading.main_thread() and _in_vector(sys._getframe(), "gem.vector")
        return f"{inside and os.getpid() == FIRST_PROCESS}"


@breaks("GEM423")
class DiffersInProcesses(Digits):
    def describe(self) -> str:
        return f"{os.getpid() != FIRST_PROCESS and _in_vector(sys._getframe(), 'gem.vector')}"


#: The process that tests run in; its children inherit the variable.
FIRST_PROCESS = int(os.environ.setdefault("GEM_TEST_FIRST_PROCESS", str(os.getpid())))


# -- 5: state and life -----------------------------------------------------------------------------------------------


@breaks("GEM501")
class ClosesOnce(Digits):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


@breaks("GEM501")
class ClosesWhatResetMade(Digits):
    def close(self) -> None:
        del self.secret


@breaks("GEM502")
class EntersNothing(Digits):
    def __enter__(self) -> Any:
        return None


@breaks("GEM502")
class LeavesOpen(Digits):
    def __exit__(self, *error: Any) -> None:
        pass


@breaks("GEM503")
class HoldsALambda(Digits):
    def begin(self) -> None:
        super().begin()
        self.function = lambda: 0


@breaks("GEM503")
class PicklesTooLittle(Digits):
    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "turn": 0} if self.playing else self.__dict__

    def __deepcopy__(self, memo: Any) -> Any:
        return _deep(self, memo)


def _deep(env: Any, memo: Any) -> Any:
    twin = type(env).__new__(type(env))
    twin.__dict__.update({name: copy.deepcopy(value, memo) for name, value in env.__dict__.items()})
    return twin


@breaks("GEM504")
class CopiesShallowly(Digits):
    def __deepcopy__(self, memo: Any) -> Any:
        return copy.copy(self)


@breaks("GEM504")
class RefusesCopies(Digits):
    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("cannot be copied")


@breaks("GEM505")
class SavesTooLittle(Digits):
    def get_state(self) -> Any:
        state = super().get_state()
        del state["_rng"]
        return state

    def set_state(self, state: Any) -> None:
        rng = self.rng
        super().set_state(state)
        self._rng = rng

    def spawn(self, same_state: bool = False, **overrides: Any) -> Any:
        sibling = super().spawn(False, **overrides)
        if same_state:
            sibling.__dict__.update(copy.deepcopy(self.__dict__))
        return sibling


@breaks("GEM505")
class SavesReferences(Digits):
    def get_state(self) -> Any:
        return dict(self.__dict__)

    def set_state(self, state: Any) -> None:
        self.__dict__.update(state)

    def spawn(self, same_state: bool = False, **overrides: Any) -> Any:
        sibling = super().spawn(False, **overrides)
        if same_state:
            sibling.__dict__.update(copy.deepcopy(self.__dict__))
        return sibling


@breaks("GEM506")
class RefusesStateVaguely(Digits):
    def get_state(self) -> Any:
        raise NotImplementedError("later")


@breaks("GEM507")
class SpawnsItself(Digits):
    def spawn(self, same_state: bool = False, **overrides: Any) -> Any:
        return self


@breaks("GEM507")
class SpawnsAnew(Digits):
    def spawn(self, same_state: bool = False, **overrides: Any) -> Any:
        return super().spawn(False, **overrides)


@breaks("GEM508")
class LendsItsHistory(Digits):
    def info(self, extra: dict[str, Any]) -> dict[str, Any]:
        return {**super().info(extra), "guesses": self.guesses}

    def answer(self, action: str) -> Any:
        # The caller's changes do not come back in, the environment's go out.
        own = list(self.private)
        self.guesses[:] = own
        result = super().answer(action)
        self.private = tuple(self.guesses)
        return result

    def begin(self) -> None:
        super().begin()
        self.private: tuple[int, ...] = ()


@breaks("GEM509")
class BelievesItsInfo(Digits):
    def info(self, extra: dict[str, Any]) -> dict[str, Any]:
        self.guesses = list(self.guesses)  # another list each turn, but one the caller holds too
        return {**super().info(extra), "guesses": self.guesses}

    def answer(self, action: str) -> Any:
        self.guesses = list(self.guesses)
        return super().answer(action)


# -- 6: the process around it --------------------------------------------------------------------------------


@breaks("GEM601")
class Downloads(Digits):
    def __init__(self) -> None:
        super().__init__()
        with socket.socket() as client:
            client.settimeout(0.2)
            client.connect_ex(("127.0.0.1", 9))


@breaks("GEM602")
class ChangesDirectory(Digits):
    def __init__(self) -> None:
        super().__init__()
        os.chdir(os.path.sep)


LITTER = Path(tempfile.gettempdir()) / f"gem-test-litter-{FIRST_PROCESS}"


@breaks("GEM603")
class Litters(Digits):
    def __init__(self) -> None:
        super().__init__()
        LITTER.write_text("x")


@breaks("GEM604")
class SetsVariables(Digits):
    def __init__(self) -> None:
        super().__init__()
        os.environ["GEM_TEST_VARIABLE"] = "1"


@breaks("GEM605")
class LeavesThreads(Digits):
    def __init__(self) -> None:
        super().__init__()
        done = threading.Event()
        threading.Thread(target=done.wait, args=(20,), daemon=True).start()


@breaks("GEM606")
class LeavesProcesses(Digits):
    def __init__(self) -> None:
        super().__init__()
        process = subprocess.Popen(["sleep", "20"])
        PROCESSES.append(process)


PROCESSES: list[Any] = []


@breaks("GEM607")
class HandlesSignals(Digits):
    def __init__(self) -> None:
        super().__init__()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGUSR2, signal.SIG_IGN)


@breaks("GEM608")
class SilencesWarnings(Digits):
    def __init__(self) -> None:
        super().__init__()
        warnings.simplefilter("ignore", ResourceWarning)


@breaks("GEM609")
class ConfiguresLogging(Digits):
    def __init__(self) -> None:
        super().__init__()
        logging.getLogger().setLevel(logging.DEBUG)


@breaks("GEM610")
class Talks(Digits):
    def answer(self, action: str) -> Any:
        print("thinking")
        return super().answer(action)


# -- 7: wrappers --------------------------------------------------------------------------------


def around(code: str) -> Any:
    """A wrapper that breaks a rule, around an environment that keeps them."""

    def register(wrapper: type[gem.Wrapper]) -> type[gem.Wrapper]:
        DEFECTS[f"{code}-{wrapper.__name__}"] = wrapper(Digits())
        return wrapper

    return register


@around("GEM701")
class RefusesKeywords(gem.Wrapper):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:  # type: ignore[override]
        return self.env.reset(seed=seed, options=options)


@around("GEM701")
class DropsKeywords(gem.Wrapper):
    def reset(self, seed: int | None = None, options: Any = None, **kwargs: Any) -> Any:
        return self.env.reset(seed=seed, options=options)


@around("GEM702")
class CopiesAttributes(gem.Wrapper):
    def reset(self, seed: int | None = None, options: Any = None, **kwargs: Any) -> Any:
        result = self.env.reset(seed=seed, options=options, **kwargs)
        self.turn = self.env.turn
        return result


@breaks("GEM703")
class KnowsItsWrapper(Digits):
    def describe(self) -> str:
        caller = sys._getframe(2)
        return f"{isinstance(caller.f_locals.get('self'), gem.Wrapper)}"


# -- 8: several agents ----------------------------------------------------------------------------------


@breaks("GEM801")
class ForgetsAnAgent(Counting):
    def step(self, actions: Any) -> Any:
        observations, rewards, terminations, truncations, infos = super().step(actions)
        rewards = {agent: reward for agent, reward in rewards.items() if agent != "b" or len(rewards) < 2}
        return observations, rewards, terminations, truncations, infos


@breaks("GEM802")
class TakesAnyAgent(Counting):
    def step(self, actions: Any) -> Any:
        if isinstance(actions, dict):
            actions = {agent: action for agent, action in actions.items() if agent in self.possible_agents}
        return super().step(actions)


@breaks("GEM302")
class NeverOver(Counting):
    def step(self, actions: Any) -> Any:
        if not self.agents and self.terminations:
            self.reset()
        return super().step(actions)


@breaks("GEM303")
class TakesAnyAction(Counting):
    def _validate_actions(self, actions: Any) -> None:
        super()._validate_actions({agent: str(action) for agent, action in actions.items()})


_several = EnvSpec(
    id="toy:Counting-v0",
    entry_point="well_behaved:Counting",
    description="Count.",
    reward_range=(0.0, 0.5),
    multi_agent=True,
)
DEFECTS["GEM108-several"] = _several
DEFECTS["GEM105-several"] = _several.replace(multi_agent=False, reward_range=(0.0, 3.0))
