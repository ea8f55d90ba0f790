"""The backend ``sync``: every environment in line, in the caller's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gem.vector.base import Request, VectorEnv, close_all
from gem.vector.slot import AutoresetMode, EnvMaker, Outcome, Slot, VectorConfig, check_outcome


class SyncVectorEnv(VectorEnv):
    """Environments stepped one after the other. The fastest for environments that neither wait nor compute long.

    Nothing can interrupt a step in the caller's own thread, so ``step_timeout`` and ``reset_timeout`` are refused.
    """

    def __init__(self, makers: Sequence[EnvMaker], config: VectorConfig) -> None:
        super().__init__(makers, config)
        if config.step_timeout is not None or config.reset_timeout is not None:
            raise ValueError("in line nothing can interrupt a step: time limits need backend='thread' or 'process'")
        self._slots = [Slot(maker, i, config.autoreset) for i, maker in enumerate(makers)]
        self._outbox: list[tuple[int, Outcome]] = []
        try:
            for slot in self._slots:
                slot.build()
        except BaseException:
            self._close(5.0)
            raise
        self.multi_agent = any(slot.multi_agent for slot in self._slots)
        #: What stepping each environment calls: its own ``step`` while all is well, its slot's otherwise.
        self._calls: list[Callable[[Any], Any]] = [slot.step for slot in self._slots]
        #: The indices whose call is the slot's.
        self._guarded = set(self._all)

    @property
    def envs(self) -> list[Any]:
        """The environments; one that broke and could not be replaced yet is ``None``."""
        return [slot.env for slot in self._slots]

    def step(
        self, actions: Sequence[Any] | Mapping[int, Any]
    ) -> tuple[list[Any], npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        if self.multi_agent or self._ready or self._in_flight:
            return super().step(actions)
        indices, values = self._check_actions(actions, None)
        calls = self._calls if indices is self._all else [self._calls[i] for i in indices]
        # The floor is one call and one append an environment; everything else is done for the whole batch at once.
        results: list[Any] = []
        add = results.append
        #: Positions whose outcome went through a slot and is complete.
        settled = {k for k, i in enumerate(indices) if i in self._guarded} if self._guarded else set()
        pairs = zip(calls, values, strict=True)
        while True:
            try:
                for call, action in pairs:
                    add(call(action))
                break
            except BaseException as error:
                settled = settled | {len(results)}
                add(self._slots[indices[len(results)]].fail("step", error))
        try:
            columns = tuple(map(list, zip(*results, strict=True)))
            rewards_B = np.array(columns[1], np.float64)
        except (TypeError, ValueError):  # an environment returned something else than five values with a number
            for k, i in enumerate(indices):
                try:
                    results[k] = check_outcome(results[k])
                except (TypeError, ValueError) as error:
                    results[k] = self._slots[i].fail("step", error)
                    settled = settled | {k}
            columns = tuple(map(list, zip(*results, strict=True)))
            rewards_B = np.array(columns[1], np.float64)
        observations, _, terminated, truncated, infos = columns
        terminated_B = np.array(terminated, np.bool_)
        truncated_B = np.array(truncated, np.bool_)
        ended = (terminated_B | truncated_B).nonzero()[0].tolist()
        for k in ended:
            if k not in settled:
                observations[k], _, _, _, infos[k] = self._slots[indices[k]].end(results[k])
            if self.autoreset is AutoresetMode.DISABLED:
                self._idle.add(indices[k])
        for k in settled.union(ended):
            self._refresh(indices[k])
        return observations, rewards_B, terminated_B, truncated_B, infos

    def _refresh(self, index: int) -> None:
        slot = self._slots[index]
        if slot.pending or slot.env is None:
            self._calls[index] = slot.step
            self._guarded.add(index)
        else:
            self._calls[index] = slot.env.step
            self._guarded.discard(index)

    def _submit(self, method: str, requests: list[Request]) -> None:
        for index, arguments in requests:
            self._outbox.append((index, getattr(self._slots[index], method)(*arguments)))
            self._refresh(index)

    def _poll(self, timeout: float | None) -> list[tuple[int, Outcome]]:
        ready, self._outbox = self._outbox, []
        return ready

    def _close(self, timeout: float) -> None:
        close_all([slot.env for slot in self._slots if slot.env is not None], timeout)
