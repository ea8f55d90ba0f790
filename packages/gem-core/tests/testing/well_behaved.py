"""An environment that keeps every rule, for defective ones to differ from in one thing each."""

from __future__ import annotations

from typing import Any

import gem
from gem.parsing import last_boxed


class Digits(gem.Env):
    r"""Guess a digit that moves by one now and then; a move is ``\boxed{digit}``."""

    def __init__(self, max_turns: int = 6, label: str = "digit") -> None:
        self.max_turns = max_turns
        self.label = label
        self.playing = False

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.begin()
        return self.describe(), self.info({})

    def begin(self) -> None:
        self.secret = self.draw(10)
        self.before = self.draw(10)
        self.turn = 0
        self.total = 0.0
        self.guesses: list[int] = []
        self.playing = True

    def step(self, action: str) -> tuple[Any, Any, Any, Any, Any]:
        self.check(action)
        return self.answer(action)

    def check(self, action: Any) -> None:
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, got {type(action).__name__}")
        if not self.playing:
            raise gem.ResetNeeded

    def answer(self, action: str) -> tuple[Any, Any, Any, Any, Any]:
        self.turn += 1
        guess = self.read(action)
        extra: dict[str, Any] = {}
        reward, won = 0.0, False
        if guess is None:
            reward, extra["invalid_action"] = -0.1, "no digit in a box"
        elif guess in self.guesses:
            extra["invalid_action"] = f"{guess} was guessed before"
        else:
            self.guesses.append(guess)
            won = guess == self.secret
            reward = float(won)
        self.before, self.secret = self.secret, (self.secret + self.draw(2)) % 10
        terminated = won or guess is None
        truncated = not terminated and self.turn >= self.max_turns
        if terminated or truncated:
            self.playing = False
            extra["success"] = won
        return self.describe(), reward, terminated, truncated, self.info(extra)

    def read(self, action: str) -> int | None:
        box = last_boxed(action) if len(action) < 10_000 else None
        return int(box) if box is not None and len(box) == 1 and box in "0123456789" else None

    def describe(self) -> Any:
        return f"Turn {self.turn}: guess the {self.label}. It was {self.before}."

    def info(self, extra: dict[str, Any]) -> dict[str, Any]:
        return {
            "suffix": "Your guess:",
            "metrics": {"guesses": float(len(self.guesses))},
            "guesses": list(self.guesses),
            **extra,
        }

    def draw(self, size: int) -> int:
        return self.rng.randrange(size)

    def sample_random_action(self) -> str:
        return f"\\boxed{{{self.rng.randrange(10)}}}"


class Counting(gem.MultiAgentEnv):
    """Two agents say numbers in turn; even ones earn a reward. Over after three rounds."""

    def __init__(self, rounds: int = 3, mode: str = "sequential") -> None:
        super().__init__(("a", "b"), mode)
        self.rounds = rounds

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        self.said: list[str] = []
        self.bonus = self.rng.randrange(10)

    def observe(self, agent: str) -> str:
        return f"{len(self.said)} numbers were said, {agent}. Bonus {self.bonus}."

    def _process_actions(self, actions: dict[str, str]) -> Any:
        rewards = {}
        for agent, action in actions.items():
            self.said.append(action)
            rewards[agent] = float(action in ("\\boxed{2}", "\\boxed{4}"))
            self.bonus = self.rng.randrange(10)
        over = len(self.said) >= 2 * self.rounds
        flags = dict.fromkeys(self.agents, over)
        infos = {agent: {"success": True} if over else {} for agent in self.agents}
        return {}, rewards, flags, {}, infos

    def sample_agent_action(self, agent: str) -> str:
        return f"\\boxed{{{self.rng.randrange(5)}}}"
