"""Wrappers around environments that await: which of them do so too, and that what they do is the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import gem
from gem.awaiting import awaits
from gem.env import Env, Wrapper
from gem.wrappers import Latest, Messages, Summary, TurnLimit, apply_wrappers, observes


class Server(Env):
    """Can be asked either way; tells which way it was."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.reset_with: dict[str, Any] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None, idx: int = 0) -> Any:
        self.asked.append("reset")
        self.reset_with = {"seed": seed, "options": options, "idx": idx}
        return "start", {"suffix": "?"}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.asked.append("step")
        if action == "fail":
            raise ValueError("refused")
        return f"heard {action}", 1.0, False, False, {"suffix": "!"}

    async def areset(self, seed: int | None = None, options: dict[str, Any] | None = None, idx: int = 0) -> Any:
        await asyncio.sleep(0)
        begun = self.reset(seed, options, idx)
        self.asked[-1] = "areset"
        return begun

    async def astep(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        await asyncio.sleep(0)
        outcome = self.step(action)
        self.asked[-1] = "astep"
        return outcome


class StepsOnly(Env):
    async def astep(self, action: str) -> Any: ...


class Twice(Wrapper):
    """Steps the inner environment twice: an awaited answer would not do."""

    def step(self, action: str) -> Any:
        self.env.step(action)
        return self.env.step(action)


class OnceMore(Latest):
    def step(self, action: str) -> Any:
        return super().step(action)


class Polite(Latest):
    @observes
    def step(self, action: str) -> Any:
        observation, *rest = super().step(action)
        return f"Thank you. {observation}", *rest


class Own(Wrapper):
    """Awaits something else than the environment."""

    def step(self, action: str) -> Any:
        return self.env.step(action)

    async def astep(self, action: str) -> Any:
        await asyncio.sleep(0)
        return self.step(action)


class BlocksInReset(Wrapper):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        return super().reset(seed, options, **kwargs)


@pytest.mark.parametrize(
    ("env", "steps", "resets"),
    [
        (Server(), True, True),
        (Env(), False, False),
        (StepsOnly(), True, False),
        (Wrapper(Server()), True, True),
        (Wrapper(Env()), False, False),
        (Wrapper(StepsOnly()), True, False),
        (Polite(Latest(Wrapper(Server()))), True, True),
        (Polite(Latest(Wrapper(Env()))), False, False),
        (Twice(Server()), False, False),
        (OnceMore(Server()), False, False),
        (Latest(Twice(Server())), False, False),
        (BlocksInReset(Server()), False, False),
        (Own(Env()), True, False),
        (Latest(Own(Env())), True, False),
        (TurnLimit(Server(), 2), True, True),
        (TurnLimit(Env(), 2), False, False),
        (Summary(Server(), lambda summary, messages: ""), False, False),  # which may ask a model
        (gem.ToolEnv(Server(), []), False, False),
        (object(), False, False),
    ],
    ids=repr,
)
def test_which_await(env: Any, steps: bool, resets: bool) -> None:
    assert (awaits(env), awaits(env, "reset")) == (steps, resets)


def plainly(value: Any) -> Any:
    return tuple(list(part) if isinstance(part, Messages) else part for part in value)


@pytest.mark.parametrize(
    "wrappers",
    [
        "",
        "latest",
        "concat_with_action,episode_tracking",
        "messages",
        {"name": "window", "turns": 2},
        [{"name": "turn_limit", "max_turns": 3}, "reward_clip", {"name": "reward_scale", "scale": 3.0}, Polite],
    ],
    ids=str,
)
def test_awaited_or_not_the_answer_is_the_same(wrappers: Any) -> None:
    awaited, plain = apply_wrappers(Server(), wrappers), apply_wrappers(Server(), wrappers)
    inner = awaited.unwrapped

    async def play(env: Any) -> list[Any]:
        return [plainly(await env.areset(seed=3, options={"a": 1}, idx=2))] + [
            plainly(await env.astep(a)) for a in "abc"
        ]

    expected = [plainly(plain.reset(seed=3, options={"a": 1}, idx=2))] + [plainly(plain.step(a)) for a in "abc"]
    assert asyncio.run(play(awaited)) == expected
    assert inner.asked == ["areset", "astep", "astep", "astep"]
    assert inner.reset_with == {"seed": 3, "options": {"a": 1}, "idx": 2}
    assert awaited.unwrapped is inner


@pytest.mark.parametrize("wrapper", [Twice, OnceMore, BlocksInReset])
def test_one_that_does_more_than_observe_is_not_passed_by(wrapper: type[Wrapper]) -> None:
    env = wrapper(Server())
    asyncio.run(env.areset(seed=1))
    asyncio.run(env.astep("a"))
    assert set(env.asked) == {"reset", "step"}
    assert len(env.asked) == (3 if wrapper is Twice else 2)


def test_an_environment_that_awaits_only_its_steps() -> None:
    env = Wrapper(StepsOnly())
    assert asyncio.run(env.areset(seed=1)) == ("", {})


def test_a_failure_passes_and_leaves_everything_in_place() -> None:
    class Picky(Wrapper):
        @observes
        def step(self, action: str) -> Any:
            outcome = self.env.step(action)
            if action == "b":
                raise ValueError("refused")
            return outcome

    env = Polite(Picky(Server()))
    asyncio.run(env.areset())
    for action in ("fail", "b"):
        with pytest.raises(ValueError, match="refused"):
            asyncio.run(env.astep(action))
    assert isinstance(env.env, Picky)
    assert isinstance(env.env.env, Server)
    assert asyncio.run(env.astep("a"))[0] == "Thank you. heard a\n!"


def test_past_the_turn_limit_nothing_is_stepped() -> None:
    env = TurnLimit(Server(), 1)
    asyncio.run(env.areset())
    assert asyncio.run(env.astep("a"))[3]
    with pytest.raises(gem.ResetNeeded):
        asyncio.run(env.astep("b"))
    assert env.asked == ["areset", "astep"]
