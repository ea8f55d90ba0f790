"""The backend ``sync``: every environment in line, in the caller's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gem.vector.base import Request, VectorEnv
from gem.vector.engine import close_all
from gem.vector.slot import AutoresetMode, EnvMaker, Outcome, Slot, VectorConfig, begun, check_info, check_reward


class SyncVectorEnv(VectorEnv):
    """Environments stepped one after the other. The fastest for environments that neither wait nor compute long.

    Nothing can interrupt a step in the caller's own thread, so ``step_timeout`` and ``reset_timeout`` are refused.
    """

    _goes_on = False
    _survives_fork = True

    def __init__(self, makers: Sequence[EnvMaker], config: VectorConfig) -> None:
        super().__init__(makers, config)
        if config.step_timeout is not None or config.reset_timeout is not None:
            raise ValueError("in line nothing can interrupt a step: time limits need backend='thread' or 'process'")
        self._slots = [Slot(maker, i, config.autoreset) for i, maker in enumerate(makers)]
        try:
            for slot in self._slots:
                slot.build()
            self.multi_agent = self._all_of_a_kind(slot.multi_agent for slot in self._slots)
        except BaseException:
            self._close(5.0)
            raise
        #: What stepping each environment calls: its own ``step`` while all is well, its slot's otherwise.
        self._calls: list[Callable[[Any], Any]] = [slot.step for slot in self._slots]
        self._resets: list[Callable[[], Any]] = [slot.reset for slot in self._slots]
        self._same_step = config.autoreset is AutoresetMode.SAME_STEP
        self._disabled = config.autoreset is AutoresetMode.DISABLED
        #: The indices whose call is the slot's.
        self._guarded = set(self._all)

    @property
    def envs(self) -> list[Any]:
        return [slot.env for slot in self._slots]

    def step(
        self, actions: Sequence[Any] | Mapping[int, Any]
    ) -> tuple[list[Any], npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        if self.multi_agent or self._ready or self._in_flight:
            return super().step(actions)
        indices, values = self._check_actions(actions, None)
        calls, resets = self._calls, self._resets
        if indices is not self._all:
            calls, resets = [calls[i] for i in indices], [resets[i] for i in indices]
        size = len(values)
        observations: list[Any] = [None] * size
        infos: list[Any] = [None] * size
        #: Position, reward, terminated and truncated of the few that have one of them set, or that are to be looked at:
        #: most steps of most episodes earn nothing and end nothing, and arrays of zeros are cheap.
        events: list[tuple[int, Any, Any, Any]] = []
        #: Positions whose outcome went through a slot and is complete.
        settled = {k for k, i in enumerate(indices) if i in self._guarded} if self._guarded else set()
        k = 0
        todo = zip(range(size), calls, values, strict=True)
        while True:
            try:
                # The floor is one call and one unpacking an environment; the rest is done once a batch.
                for k, call, action in todo:
                    observations[k], reward, terminated, truncated, info = call(action)
                    infos[k] = info
                    if terminated or truncated or reward != 0.0 or type(info) is not dict:
                        events.append((k, reward, terminated, truncated))
                break
            except BaseException as error:
                outcome = self._slots[indices[k]].fail("step", error)
                observations[k], reward, terminated, truncated, infos[k] = outcome
                events.append((k, reward, terminated, truncated))
                settled.add(k)
        rewards_K = np.zeros(size)
        terminated_K = np.zeros(size, bool)
        truncated_K = np.zeros(size, bool)
        for k, reward, terminated, truncated in events:
            if type(reward) is not float or type(infos[k]) is not dict:
                try:
                    reward = check_reward(reward)
                    check_info(infos[k])
                except TypeError as error:
                    outcome = self._slots[indices[k]].fail("step", error)
                    observations[k], reward, terminated, truncated, infos[k] = outcome
                    settled.add(k)
            rewards_K[k] = reward
            if terminated:
                terminated_K[k] = True
            elif not truncated:
                continue
            if truncated:
                truncated_K[k] = True
            if k in settled:
                continue
            if self._same_step:
                try:
                    first, info = resets[k]()
                    observations[k], infos[k] = first, begun(info, observations[k], infos[k])
                except BaseException as error:
                    outcome = observations[k], reward, terminated, truncated, infos[k]
                    observations[k], _, _, _, infos[k] = self._slots[indices[k]].fail_reset(outcome, error)
                    settled.add(k)
            elif self.autoreset is AutoresetMode.NEXT_STEP:
                self._slots[indices[k]].pending = True
                settled.add(k)
        if self._disabled:
            self._idle.update([indices[k] for k in (terminated_K | truncated_K).nonzero()[0].tolist()])
        for k in settled:
            self._refresh(indices[k])
        return observations, rewards_K, terminated_K, truncated_K, infos

    def _refresh(self, index: int) -> None:
        slot = self._slots[index]
        if slot.pending or slot.env is None:
            self._calls[index] = slot.step
            self._guarded.add(index)
        else:
            self._calls[index] = slot.env.step
            self._resets[index] = slot.env.reset
            self._guarded.discard(index)

    def _submit(self, method: str, requests: list[Request], patient: bool = False) -> dict[int, Outcome]:
        done = {}
        for index, argument in requests:
            done[index] = getattr(self._slots[index], method)(argument)
            self._refresh(index)
        return done

    def _poll(self, timeout: float | None) -> list[tuple[int, Outcome]]:
        return []

    def _close(self, timeout: float) -> None:
        close_all([slot.env for slot in self._slots if slot.env is not None], timeout)
