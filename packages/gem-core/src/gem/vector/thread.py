"""The backend ``thread``: environments that wait, for a server, a container, a disk."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from gem.vector.base import Request, VectorEnv
from gem.vector.engine import Engine
from gem.vector.slot import EnvMaker, Outcome, Slot, VectorConfig


class ThreadVectorEnv(VectorEnv):
    """Environments stepped on a pool of threads that grows with the number of steps that wait, not with their own.

    Quick steps share one thread and one hand-over a batch; steps that block get a thread each while they block, up to
    ``num_workers`` (1,024 when ``None``), and queue beyond it. An environment that offers

    .. code-block:: python

        async def astep(self, action): ...
        async def areset(self, seed=None, options=None): ...    # optional

    beside ``step`` and ``reset`` needs no thread at all: all of those run on one event loop, thousands at a time. They
    must not block it.

    An environment may be stepped from different threads, never from two at once. One that hangs past its time limit is
    replaced; its thread is ended where it runs Python code and left behind where it is blocked outside of it (the
    backend ``process`` can be killed, threads cannot).
    """

    def __init__(self, makers: Sequence[EnvMaker], config: VectorConfig) -> None:
        super().__init__(makers, config)
        slots = {i: Slot(maker, i, config.autoreset) for i, maker in enumerate(makers)}
        self._engine = Engine(slots, config.step_timeout, config.reset_timeout, config.num_workers)
        self._finalizer = weakref.finalize(self, self._engine.close, 1.0)
        try:
            self._engine.prepare()
            self.multi_agent = self._all_of_a_kind(slot.multi_agent for slot in slots.values())
        except BaseException:
            self.close()
            raise

    @property
    def envs(self) -> list[Any]:
        return [self._engine.slots[i].env for i in self._all]

    def _submit(self, method: str, requests: list[Request], patient: bool = False) -> dict[int, Outcome]:
        return self._engine.submit(method, requests, patient)

    def _poll(self, timeout: float | None) -> list[tuple[int, Outcome]]:
        return self._engine.poll(timeout)

    def _close(self, timeout: float) -> None:
        self._finalizer.detach()
        self._engine.close(timeout)
