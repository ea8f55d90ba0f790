"""A vector behind an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from typing import Any, Self

from gem.vector import VectorEnv

#: Seconds the vector is waited for before the thread looks whether there is more to send.
_LOOK = 0.002
#: Seconds given to steps under way when nobody waits for them any more.
_PATIENCE = 5.0

#: observation, reward, terminated, truncated, info
Outcome = tuple[Any, float, bool, bool, dict[str, Any]]


class Pump:
    """Steps single environments of a vector for coroutines.

    One thread of its own does all that touches the vector (which is not made for several), so the event loop never
    waits for an environment, whatever the backend.
    """

    def __init__(self, vec: VectorEnv) -> None:
        self._vec = vec
        self._loop = asyncio.get_running_loop()
        #: (method, index, arguments, who waits), or ``None`` to stop.
        self._orders: queue.SimpleQueue[tuple[str, int, Any, asyncio.Future[Outcome]] | None] = queue.SimpleQueue()
        self._waiting: dict[int, asyncio.Future[Outcome]] = {}
        self._thread = threading.Thread(target=self._run, name="gem-rollout", daemon=True)
        self._stopped = False

    async def reset(self, index: int, seed: int | None, options: dict[str, Any] | None) -> Outcome:
        """Begin an episode in environment ``index``; reward 0 and both flags false."""
        return await self._order("reset", index, (seed, options))

    async def step(self, index: int, action: str) -> Outcome:
        return await self._order("step", index, action)

    def _order(self, method: str, index: int, arguments: Any) -> asyncio.Future[Outcome]:
        future: asyncio.Future[Outcome] = self._loop.create_future()
        self._orders.put((method, index, arguments, future))
        return future

    async def __aenter__(self) -> Self:
        self._thread.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._stopped = True
        self._orders.put(None)
        await asyncio.to_thread(self._thread.join, _PATIENCE)

    # -- in the thread --------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._stopped:
                self._send()
                if self._waiting:
                    self._receive()
        except BaseException as error:  # every coroutine that waits has to hear of it
            for future in self._waiting.values():
                self._tell([(future, error)])
            while not self._stopped:
                order = self._orders.get()
                if order is not None:
                    self._tell([(order[3], error)])

    def _send(self) -> None:
        """Hand the orders there are to the vector; wait for one only when nothing is under way."""
        steps: dict[int, str] = {}
        resets: dict[int, tuple[int | None, dict[str, Any] | None]] = {}
        wait = not self._waiting
        while True:
            try:
                order = self._orders.get(block=wait)
            except queue.Empty:
                break
            wait = False
            if order is None:
                break
            method, index, arguments, future = order
            self._waiting[index] = future
            if method == "step":
                steps[index] = arguments
            else:
                resets[index] = arguments
        if resets:
            seeds, options = zip(*resets.values(), strict=True)
            self._vec.send_reset(seed=seeds, options=options, indices=list(resets))
        if steps:
            self._vec.send(steps)

    def _receive(self) -> None:
        results = self._vec.recv(1, _LOOK)
        self._tell([(self._waiting.pop(int(index)), outcome) for index, *outcome in zip(*results, strict=True)])

    def _tell(self, news: list[tuple[asyncio.Future[Outcome], Any]]) -> None:
        if news:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(_deliver, news)


def _deliver(news: list[tuple[asyncio.Future[Outcome], Any]]) -> None:
    for future, outcome in news:
        if future.done():
            continue
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(tuple(outcome))
