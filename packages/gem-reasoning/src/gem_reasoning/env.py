"""``rg:*``: an item of reasoning-gym, one boxed answer."""

from __future__ import annotations

import pickle
import time
from typing import TYPE_CHECKING, Any

import gem
from gem.parsing import last_boxed, strip_think
from gem_reasoning import generator, scorer, tasks

if TYPE_CHECKING:
    from gem.env import Info

_ASK = "\nPut your final answer within \\boxed{}."

#: Generators whose items depend on the hash seed, that touch the global generators, or that print (bf); they run in
#: their own process.
# fmt: off
OWN_PROCESS = frozenset({
    "bf", "codeio", "isomorphic_strings", "knight_swap", "polynomial_multiplication", "pool_matrix", "ransom_note",
    "word_ladder",
})
# fmt: on

#: A generator that takes longer than this for an item, in seconds, runs ahead in its own process.
SLOW = 0.002

#: So many items are timed before a generator counts as quick.
TIMED = 4

#: Items asked for ahead of the walk.
AHEAD = 2


#: The entry of no episode.
_NOTHING: dict[str, Any] = {}


class ReasoningGymEnv(gem.Env):
    """An item of a reasoning-gym data set; the reward is its own scorer's, in [0, 1].

    ``reset()`` walks the items of the data set and, past its end, of the next ``size`` items, which are new.
    ``reset(seed=s)`` picks an item by the seed and walks on from there; ``reset(idx=i)`` or
    ``reset(options={"idx": i})`` takes item ``i``.

    Args:
        name: of the data set.
        size, seed: of the data set: ``size`` items that ``seed`` determines.
        level: of the data set's curriculum, from 0 on; its options give way to those passed here.
        prefetch: make items ahead where the generator is slow.
        scoring: ``"isolated"``, or ``"subprocess"`` where bubblewrap cannot work and the answers are trusted.
        score_timeout: seconds one score may take.
        strip_think: leave out ``<think>`` blocks when looking for the answer.
        ask_for_box: end the question with the request to box the answer.
        **options: of the data set, see ``gem info`` or its configuration class in reasoning-gym. For ``composite``:
            ``datasets=[{"name": ..., "weight": ..., "config": {...}}, ...]``.

    ``info`` after a step: ``success`` (full score), ``correct``, ``reason`` (``correct``, ``partial``, ``wrong``,
    ``no_answer``, ``scorer_error``), ``answer``, ``idx``, and ``detail`` where the scorer failed.
    """

    def __init__(
        self,
        name: str,
        size: int = 500,
        seed: int = 42,
        *,
        level: int | None = None,
        prefetch: bool = True,
        scoring: scorer.Backend = "isolated",
        score_timeout: float = 10.0,
        strip_think: bool = True,
        ask_for_box: bool = True,
        **options: Any,
    ) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        if scoring not in ("isolated", "subprocess"):
            raise ValueError(f"scoring must be 'isolated' or 'subprocess', got {scoring!r}")
        tasks.check_options(name, options)
        if level is not None:
            options = {**tasks.level_options(name, level), **options}
        self.name = name
        self.size = size
        self.seed = seed
        self.options = options
        self.prefetch = prefetch
        self.scoring = scoring
        self.score_timeout = score_timeout
        self.strip_think = strip_think
        self.suffix = _ASK if ask_for_box else ""
        self._pickled = pickle.dumps(options)
        self._dataset = tasks.dataset(name, self._pickled, seed, size)
        self._elsewhere = name in OWN_PROCESS
        #: Up to here the walk takes items from the library itself: 0 until the generator is known to be quick.
        self._in_line_to = 0 if prefetch or self._elsewhere else size
        self._timed = 0
        self._next = 0  # of the walk, beyond size in later rounds
        self.idx: int | None = None
        #: What is asked in the episode under way.
        self._entry = _NOTHING

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, idx: int | None = None
    ) -> tuple[str, Info]:
        if seed is None and idx is None and options is None and self._next < self._in_line_to:
            # Most generators are quick: once that is known, nothing stands between the walk and the library.
            idx = self._next
            self._entry = _NOTHING  # makes room for the next one, still warm
            self._entry = entry = self._dataset[idx]
            self._next = idx + 1
        else:
            super().reset(options=options)
            idx = self._chosen(seed, idx if idx is not None or options is None else options.get("idx"))
            self._entry = entry = self._item(idx)
        self.idx = idx
        return entry["question"] + self.suffix, {"idx": idx}

    def _chosen(self, seed: int | None, idx: int | None) -> int:
        """The item that a reset's arguments choose; without any, the next of the walk."""
        if seed is not None:
            self.reseed(seed)
            self._next = self.rng.randrange(self.size)
        if idx is None:
            idx = self._next
            self._next = idx + 1
        elif not 0 <= idx < self.size:
            raise IndexError(f"idx {idx} is outside the {self.size} items of {self.name!r}")
        return idx

    def _key(self, idx: int) -> generator.Key:
        # Items are numbered from the seed on, so that the next `size` items are those of seed + size.
        turn, position = divmod(idx, self.size)
        return (self.name, self._pickled, self.seed + turn * self.size, self.size, position)

    def _item(self, idx: int) -> dict[str, Any]:
        if self._elsewhere:
            item: dict[str, Any] = generator.generator.item(self._key(idx))
            if self.prefetch:
                for ahead in range(idx + 1, idx + 1 + AHEAD):
                    generator.generator.prefetch(self._key(ahead))
            return item
        dataset, position = self._dataset, idx
        if idx >= self.size:
            key = self._key(idx)
            dataset, position = tasks.dataset(*key[:4]), key[4]
        begin = time.thread_time()
        item = dataset[position]
        if self.prefetch and time.thread_time() - begin > SLOW:
            self._elsewhere = True
        else:
            self._timed += 1
            if self._timed >= TIMED:
                self._in_line_to = self.size
        return item

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"an action is the response's text (str), got {type(action).__name__}")
        entry, self._entry = self._entry, _NOTHING
        if not entry:
            raise gem.ResetNeeded()
        answer = last_boxed(strip_think(action) if self.strip_think else action)
        reward, reason, detail = 0.0, "no_answer", ""
        if answer is not None and answer.strip():
            reward, detail = scorer.score(
                self._dataset,
                self.name,
                self.options,
                answer,
                entry,
                backend=self.scoring,
                timeout=self.score_timeout,
            )
            reason = "scorer_error" if detail else "correct" if reward >= 1 else "partial" if reward > 0 else "wrong"
        correct = reason == "correct"
        info: Info = {"idx": self.idx, "success": correct, "correct": correct, "reason": reason, "answer": answer}
        if detail:
            info["detail"] = detail
        return "", reward, True, False, info

    def sample_random_action(self) -> str:
        return f"\\boxed{{{self.rng.randrange(100)}}}"

    def get_state(self) -> dict[str, Any]:
        return {"idx": self.idx, "next": self._next, "running": bool(self._entry), "rng": self.rng.getstate()}

    def set_state(self, state: dict[str, Any]) -> None:
        self._next = state["next"]
        self.idx = state["idx"]
        self._entry = self._item(self.idx) if state["running"] else _NOTHING
        self.rng.setstate(state["rng"])

    def __getstate__(self) -> dict[str, Any]:
        # The data set is built again where the pickle lands; the current item travels.
        return {k: v for k, v in self.__dict__.items() if k != "_dataset"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._dataset = tasks.dataset(self.name, self._pickled, self.seed, self.size)
