"""Environments to play and to check."""

from __future__ import annotations

from typing import Any

import gem
from gem.parsing import last_boxed

PIXEL = "data:image/png;base64,iVBORw0KGgo="


class Failing(gem.Env):
    """Fails where its option says."""

    def __init__(self, where: str = "step") -> None:
        self.where = where
        if where == "make":
            raise RuntimeError("no server\nat localhost")

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if self.where == "reset":
            raise KeyError("no such row")
        return "Say something.", {}

    def step(self, action: str) -> Any:
        if self.where == "step":
            raise ZeroDivisionError("division by zero")
        return "", 0.0, False


class Count(gem.Env):
    """Say the next number; three in a row win."""

    def __init__(self, boxed: bool = True, image: bool = False, state: bool = True, max_turns: int = 5) -> None:
        self.boxed, self.image, self.state, self.max_turns = boxed, image, state, max_turns
        self.turn = self.count = 0
        self.playing = False

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.first = self.rng.randrange(100)
        self.turn = self.count = 0
        self.playing = True
        rule = "Write it as \\boxed{n}." if self.boxed else "Write it."
        return self.seen(f"Count on from {self.first}. {rule}"), {"suffix": f"board: {self.first}"}

    def seen(self, text: str) -> Any:
        if not self.image:
            return text
        return [{"type": "text", "text": text}, {"type": "image", "image": PIXEL}]

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not isinstance(action, str):
            raise TypeError("an action is a str")
        if not self.playing:
            raise gem.ResetNeeded
        self.turn += 1
        box = last_boxed(action) if self.boxed else action
        right = box == str(self.first + self.count + 1)
        self.count += right
        info: dict[str, Any] = {"suffix": f"board: {self.first + self.count}"}
        if not right:
            info["invalid_action"] = f"got {(box or 'nothing')[:40]!r}"
        won = self.count == 3
        cut = not won and self.turn >= self.max_turns
        if won or cut:
            self.playing = False
            info["success"] = won
        return self.seen(f"Turn {self.turn}: {'right' if right else 'wrong'}."), float(won), won, cut, info

    def sample_random_action(self) -> str:
        return f"\\boxed{{{self.rng.randrange(100)}}}"

    def solve(self) -> str:
        return f"\\boxed{{{self.first + self.count + 1}}}"

    def get_state(self) -> Any:
        if not self.state:
            raise gem.StateNotSupported("lives elsewhere")
        return super().get_state()


class Silent(Count):
    """No random actions, no solver."""

    solve = None  # type: ignore[assignment]

    def sample_random_action(self) -> str:
        raise NotImplementedError("none")


class Broken(Count):
    """Rewards are texts."""

    def step(self, action: str) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, str(reward), terminated, truncated, info


class Two(gem.MultiAgentEnv):
    """Two agents speak in turn, twice each."""

    def __init__(self, mode: str = "sequential") -> None:
        super().__init__(("ann", "bob"), mode)

    def _begin_episode(self, options: dict[str, Any] | None) -> None:
        self.said: list[str] = []

    def observe(self, agent: str) -> str:
        return f"{agent} hears: {' '.join(self.said) or 'nothing'}"

    def _process_actions(self, actions: dict[str, str]) -> Any:
        self.said += actions.values()
        over = len(self.said) >= 4
        flags = dict.fromkeys(self.agents, over)
        return {}, dict.fromkeys(actions, 0.5), flags, {}, {a: {"success": True} if over else {} for a in self.agents}

    def sample_agent_action(self, agent: str) -> str:
        return f"{agent}{self.rng.randrange(10)}"
