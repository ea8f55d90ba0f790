"""Environments for the tests of vectors; importable in worker processes."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

from gem import Env, MultiAgentEnv

#: What a hanging environment waits for, in a call that no exception interrupts; set when a test is over.
released = threading.Event()


class Unspeakable(Exception):
    """No words can be had of it."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Undecided:
    """Neither true nor false."""

    def __bool__(self) -> bool:
        raise ValueError("no truth")


class Counter(Env):
    """Ends after ``limit`` steps; observations tell the random state, so that episodes can be compared.

    The action chooses a misfortune by name.
    """

    def __init__(self, limit: int = 3, label: str = "") -> None:
        self.limit = limit
        self.label = label
        self.steps = -1

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        options = options or {}
        if "sleep" in options:
            time.sleep(options["sleep"])
        if "hang" in options:
            released.wait(3600)
        if "fail" in options:
            raise RuntimeError("no reset today")
        return f"{self.label}start {self.rng.random():.6f}", {"options": options}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        misfortune = getattr(self, f"do_{action}", None)
        if misfortune is not None:
            given = misfortune()
            if given is not None:
                return given  # type: ignore[no-any-return]
        truncated = action == "truncate"
        info = {"correct": True, "thread": threading.get_ident(), "pid": os.getpid()}
        return f"{action} {self.steps} {self.rng.random():.6f}", 0.5, self.steps >= self.limit, truncated, info

    def do_raise(self) -> Any:
        raise ValueError("a bad\nmove")

    def do_exit(self) -> Any:
        raise SystemExit(3)

    def do_none(self) -> Any:
        return "", None, False, False, {}

    def do_info(self) -> Any:
        return "", 1.0, True, False, iter(())

    def do_flag(self) -> Any:
        return "", 0.0, Undecided(), False, {}

    def do_unspeakable(self) -> Any:
        raise Unspeakable

    def do_three(self) -> Any:
        return "", 0.0, False

    def do_sleep(self) -> Any:
        time.sleep(0.05)

    def do_hang(self) -> Any:
        released.wait(3600)

    def do_spin(self) -> Any:
        while True:
            time.sleep(0.0001)

    def do_kill(self) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_stop(self) -> Any:
        os.kill(os.getpid(), signal.SIGSTOP)

    def do_big(self) -> Any:
        return "x" * 50_000_000, 0.0, False, False, {}

    def do_lambda(self) -> Any:
        return "", 0.0, False, False, {"f": lambda: None}

    def do_loop(self) -> Any:
        async def nothing() -> None:
            await asyncio.sleep(0)

        asyncio.run(nothing())


class Greedy(Counter):
    """Draws from the global generator, which no vector may touch on its behalf."""

    def sample(self) -> float:
        return random.random()


class Unmakeable(Env):
    def __init__(self) -> None:
        raise LookupError("there is no such data set")


class SlowToMake(Counter):
    def __init__(self) -> None:
        super().__init__()
        time.sleep(0.2)


class HungToMake(Counter):
    def __init__(self) -> None:
        released.wait(3600)
        super().__init__()


class HungClose(Counter):
    """Its close never returns."""

    def close(self) -> None:
        while True:
            time.sleep(0.001)


class Noted(Counter):
    """Appends a line to a file when it is made and when it is closed."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self._note("made")

    def close(self) -> None:
        self._note("closed")

    def _note(self, word: str) -> None:
        with Path(self.path).open("a") as file:
            file.write(f"{word}\n")


class Awaiting(Counter):
    """Steps by awaiting; tells on which thread."""

    async def astep(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action == "hang":
            await asyncio.sleep(3600)
        if action == "block":
            released.wait(3600)
        if action == "cancelled":
            raise asyncio.CancelledError
        if action == "halt":
            asyncio.get_running_loop().stop()
        if action == "quit":
            self.child = asyncio.create_task(self.leave())
        await asyncio.sleep(0.02)
        return self.step(action)

    async def leave(self) -> None:
        raise SystemExit(3)

    async def areset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        await asyncio.sleep(0.02)
        return self.reset(seed=seed, options=options)


class Pair(MultiAgentEnv):
    """Two agents, of which one leaves first."""

    def __init__(self) -> None:
        super().__init__(["a", "b"])

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        self.turns = 0

    def observe(self, agent: str) -> str:
        return f"{agent}{self.turns}"

    def step(self, actions: Any) -> Any:
        outcome = super().step(actions)
        misfortunes = {"numbers": ("", 0.0, False, True, {}), "flag": (*outcome[:2], True, *outcome[3:])}
        return misfortunes.get(actions.get("a", ""), outcome)

    def _process_actions(self, actions: dict[str, str]) -> Any:
        if "raise" in actions.values():
            raise ValueError("a bad move")
        self.turns += 1
        over = {"a": self.turns >= 2, "b": self.turns >= 3}
        return {}, dict.fromkeys(self.agents, 1.0), over_of(self.agents, over), {}, {}


def over_of(agents: list[str], over: dict[str, bool]) -> dict[str, bool]:
    return {agent: over[agent] for agent in agents}
