"""A vector behind an event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

import gem
from gem.rollout.pump import Pump


def test_steps_and_resets_of_single_environments(count):
    async def run():
        with gem.make_vec(count, 3, autoreset="disabled") as vec:
            async with Pump(vec) as pump:
                begun = await asyncio.gather(*(pump.reset(i, i, {"length": 2}) for i in range(3)))
                assert [outcome[0] for outcome in begun] == ["Count to 2."] * 3
                assert all(not terminated and not truncated for _, _, terminated, truncated, _ in begun)
                assert (await pump.step(1, "1"))[0] == "Turn 1."
                observation, reward, terminated, truncated, info = await pump.step(1, "2")
                assert (observation, reward, terminated, truncated) == ("Turn 2.", 1.0, True, False)
                assert info["success"] is True
        assert "gem-rollout" not in [thread.name for thread in threading.enumerate()]

    asyncio.run(run())


def test_everybody_hears_of_an_error_of_the_vector(count):
    async def run():
        with gem.make_vec(count, 2, autoreset="disabled") as vec:
            async with Pump(vec) as pump:
                await pump.reset(0, 0, None)
                with pytest.raises(gem.ResetNeeded):
                    await pump.step(1, "1")  # never reset
                with pytest.raises(gem.ResetNeeded):
                    await pump.step(0, "1")  # the pump has stopped: no order may wait for ever

    asyncio.run(run())


def test_stopping_with_steps_under_way():
    release = threading.Event()

    class Slow(gem.Env):
        def step(self, action):
            release.wait(60)
            return "", 0.0, True, False, {}

    async def run():
        with gem.make_vec(Slow, 1, backend="thread", autoreset="disabled") as vec:
            async with Pump(vec) as pump:
                await pump.reset(0, None, None)
                pending = asyncio.ensure_future(pump.step(0, "a"))
                await asyncio.sleep(0.01)
                pending.cancel()
            assert not pump._thread.is_alive()
            release.set()

    asyncio.run(run())
