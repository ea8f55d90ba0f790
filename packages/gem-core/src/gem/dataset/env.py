"""The base of all data set environments."""

from __future__ import annotations

import operator
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.dataset.loading import load_table
from gem.env import Env
from gem.errors import DataError, ResetNeeded

if TYPE_CHECKING:
    from gem.env import Info


class Grade(NamedTuple):
    """What a grader makes of a response."""

    reward: float
    #: Why: ``correct``, ``wrong``, ``no_answer``, ``timeout``, ``grader_error``, or another word of the environment.
    reason: str
    #: More for ``info``.
    info: dict[str, Any] = {}


class DatasetEnv(Env):
    """One row a task, one response an episode; tools make it many turns (:class:`gem.ToolEnv`).

    Subclasses implement :meth:`grade`, and :meth:`observe` where the question is not the observation.

    Rows are chosen in three ways. ``reset()`` walks the rows of this shard in an order shuffled by the seed,
    epoch after epoch. ``reset(seed=s)`` picks a row by ``s``, and the walk goes on in an order drawn from ``s``, so
    that environments with different seeds read different rows. ``reset(idx=i)`` or
    ``reset(options={"idx": i})`` takes row ``i`` of the data set as it stands, for evaluation.

    Args:
        dataset_name, split, dataset: see :func:`gem.dataset.load_table`.
        question_key, answer_key: names of the columns.
        seed: of the walk's order.
        shuffle: ``False`` walks the rows as they stand.
        shard: ``(index, count)`` leaves this instance every ``count``-th row, beginning with ``index``.

    ``info`` of a step holds ``success`` and ``correct`` (bool), ``reason`` and ``idx``.
    """

    def __init__(
        self,
        dataset_name: str = "",
        split: str | None = None,
        dataset: Any = None,
        question_key: str = "problem",
        answer_key: str = "answer",
        seed: int = 0,
        shuffle: bool = True,
        shard: tuple[int, int] = (0, 1),
    ) -> None:
        self.table = load_table(dataset_name, split, dataset)
        self.question_key = question_key
        self.answer_key = answer_key
        self.seed = seed
        self.shuffle = shuffle
        self.shard = _checked_shard(shard, len(self.table))
        self._questions = self.table.column(question_key)
        self._answers = self.table.column(answer_key)
        self.epoch = 0
        self.idx: int | None = None  # row of the current task
        self._order: array[int] | range | None = None  # of the current epoch; made when first walked
        self._order_seed = seed
        self._position = 0
        self._running = False

    # -- for subclasses -------------------------------------------------------------------------------

    def observe(self, idx: int) -> Any:
        """The first observation of row ``idx``."""
        question = self._questions[idx]
        if not isinstance(question, str):
            raise self.bad_row(idx, self.question_key, question, "a text")
        return question

    def grade(self, action: str, idx: int) -> Grade:
        """Grade a response to row ``idx``."""
        raise NotImplementedError(f"{type(self).__name__} must implement grade(action, idx)")

    def bad_row(self, idx: int, key: str, value: object, wanted: str) -> DataError:
        """The error for a row that cannot be used."""
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return DataError(f"row {idx} of {self.table.name}: {key!r} is {shown}, expected {wanted}")

    # -- the interface --------------------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, idx: int | None = None
    ) -> tuple[Any, Info]:
        super().reset(seed=seed, options=options)
        if idx is None and options is not None:
            idx = options.get("idx")
        if seed is not None:
            self._order_seed, self._order, self._position, self.epoch = int(seed), None, 0, 0
        if idx is not None:
            row = self._checked_idx(idx)
        elif seed is not None:
            start, count = self.shard
            row = start + count * self.rng.randrange(-(-(len(self.table) - start) // count))
        else:
            order = self._order
            if order is None:
                order = self._order = self._shuffled()
            if self._position == len(order):
                self.epoch += 1
                self._position = 0
                order = self._order = self._shuffled()
            row = order[self._position]
            self._position += 1
        observation = self.observe(row)
        self.idx = row
        self._running = True
        return observation, {"idx": row}

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"an action is the response's text (str), got {type(action).__name__}")
        if not self._running or self.idx is None:
            raise ResetNeeded()
        self._running = False
        reward, reason, more = self.grade(action, self.idx)
        correct = reason == "correct"
        return (
            "",
            reward,
            True,
            False,
            {"idx": self.idx, "correct": correct, "success": correct, "reason": reason, **more},
        )

    def __len__(self) -> int:
        """Rows in the data set, whatever the shard."""
        return len(self.table)

    def _checked_idx(self, idx: int) -> int:
        try:
            row = operator.index(idx)
        except TypeError:
            raise TypeError(f"idx must be a whole number, got {idx!r}") from None
        if not 0 <= row < len(self.table):
            raise IndexError(f"idx {row} is outside the {len(self.table)} rows of {self.table.name}")
        return row

    def _shuffled(self) -> array[int] | range:
        if not self.shuffle:
            return range(self.shard[0], len(self.table), self.shard[1])
        return _order(len(self.table), self.shard, self._order_seed, self.epoch)

    # -- state: where this instance stands, not the rows ------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        return {
            "idx": self.idx,
            "epoch": self.epoch,
            "order_seed": self._order_seed,
            "position": self._position,
            "running": self._running,
            "rng": self.rng.getstate(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.idx = state["idx"]
        self.epoch = state["epoch"]
        self._order_seed = state["order_seed"]
        self._position = state["position"]
        self._running = state["running"]
        self._order = None if self._position == 0 else self._shuffled()
        self.rng.setstate(state["rng"])

    def __getstate__(self) -> dict[str, Any]:
        # Columns and order are read again from the table: a pickle must not carry the data set.
        state = {k: v for k, v in self.__dict__.items() if k not in ("_questions", "_answers", "_order")}
        state["_order"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._questions = self.table.column(self.question_key)
        self._answers = self.table.column(self.answer_key)
        if self._position:
            self._order = self._shuffled()


@lru_cache(maxsize=256)
def _order(length: int, shard: tuple[int, int], seed: int, epoch: int) -> array[int]:
    """A permutation of a shard's rows, shared by all environments that walk it."""
    import numpy as np

    rows = np.arange(shard[0], length, shard[1], dtype=np.uint32)
    return array("I", np.random.default_rng([seed, epoch]).permutation(rows).tobytes())


def _checked_shard(shard: tuple[int, int], length: int) -> tuple[int, int]:
    index, count = shard
    if not 0 <= index < count:
        raise ValueError(f"shard must be (index, count) with 0 <= index < count, got {shard}")
    if index >= length:
        raise ValueError(f"shard {shard} is empty: there are {length} rows")
    return int(index), int(count)
