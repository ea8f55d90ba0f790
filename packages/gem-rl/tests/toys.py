"""Environments small enough to reason about; importing this module registers them."""

from __future__ import annotations

import re
from typing import Any

from gem import Env, EnvSpec, ResetNeeded, register


class Guess(Env):
    """Find a number from 1 to ``count`` within ``max_turns``; a response without a boxed number ends it with -0.1."""

    def __init__(self, count: int = 4, max_turns: int = 4, breaks: bool = False) -> None:
        self.count, self.max_turns, self.breaks = count, max_turns, breaks
        self.turn = -1

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        if self.breaks and seed is not None and seed % 2:
            raise RuntimeError("this toy breaks on odd seeds")
        self.turn, self.number = 0, self.rng.randint(1, self.count)
        return f"Guess 1 to {self.count}.", {"suffix": "Guess:"}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if not isinstance(action, str):
            raise TypeError("an action is a str")
        if self.turn < 0:
            raise ResetNeeded
        self.turn += 1
        found = re.findall(r"\\boxed\{(\d+)\}", action)
        if not found:
            self.turn = -1
            return "No guess.", -0.1, True, False, {"invalid_action": "no guess found", "success": False}
        guess = int(found[-1])
        if guess == self.number:
            self.turn = -1
            return "Right!", 1.0, True, False, {"success": True}
        hint = "higher" if guess < self.number else "lower"
        if self.turn >= self.max_turns:
            self.turn = -1
            return f"It is {hint}.", 0.25, False, True, {"success": False}
        return f"It is {hint} than {guess}.", 0.0, False, False, {"suffix": "Guess:"}

    def sample_random_action(self) -> str:
        return f"\\boxed{{{self.rng.randint(1, self.count)}}}"


class Mute(Guess):
    """Has no random actions."""

    def sample_random_action(self) -> str:
        raise NotImplementedError


register(EnvSpec(id="toy:Guess-v0", entry_point=Guess, max_turns=4), override=True)
register(EnvSpec(id="toy:Mute-v0", entry_point=Mute, max_turns=4), override=True)

#: A run of seconds.
SMALL = {
    "env": "toy:Guess-v0",
    "steps": 4,
    "episodes": 16,
    "warmup_steps": 25,
    "warmup_episodes": 32,
    "warmup_lr": 1e-2,
    "eval_episodes": 12,
    "checkpoint_every": 2,
    "policy_options": {"width": 16, "layers": 1},
}
