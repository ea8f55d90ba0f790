"""``qa:*`` and ``logic:*``: a question, one answer in tags or in a box."""

from __future__ import annotations

from typing import Any, Literal

from gem.dataset import DatasetEnv, Grade
from gem.parsing import last_boxed, last_tag, strip_think
from gem_qa.match import exact_match, f1

_TAGGED = (
    "Answer the question below. Think first, between <think> and </think>. Then give the answer alone, in as few "
    "words as it takes, between <answer> and </answer>.\n\nQuestion: "
)
_BOXED = "Answer the question below. Think first; then give the answer alone inside \\boxed{}.\n\nQuestion: "


class QaEnv(DatasetEnv):
    """A question, graded by exact match with any of the gold answers: 1 when equal, 0 otherwise.

    Args:
        dataset_name, split, dataset, question_key, answer_key, seed, shuffle, shard: see
            :class:`gem.dataset.DatasetEnv`. An answer is a text, a number, true or false (yes or no), or a list of
            acceptable ones.
        extract_boxed: the answer stands in ``\\boxed{}`` instead of ``<answer>`` tags.
        strip_think: leave out ``<think>`` blocks when looking for the answer.
        metric: ``"em"`` rewards exact matches, ``"f1"`` the share of words in common (SQuAD's F1).
        prompt: text before the question; ``None`` for instructions that fit ``extract_boxed``.

    ``info`` after a step: ``success``, ``correct`` (exact match), ``reason`` (``correct``, ``wrong``,
    ``no_answer``), ``answer`` (as read), ``idx``, and ``metrics`` with ``em`` and ``f1``.
    """

    def __init__(
        self,
        dataset_name: str = "",
        split: str | None = None,
        dataset: Any = None,
        question_key: str = "question",
        answer_key: str = "answer",
        seed: int = 0,
        shuffle: bool = True,
        shard: tuple[int, int] = (0, 1),
        extract_boxed: bool = False,
        strip_think: bool = True,
        metric: Literal["em", "f1"] = "em",
        prompt: str | None = None,
    ) -> None:
        super().__init__(dataset_name, split, dataset, question_key, answer_key, seed, shuffle, shard)
        if metric not in ("em", "f1"):
            raise ValueError(f"metric must be 'em' or 'f1', got {metric!r}")
        self.extract_boxed = extract_boxed
        self.strip_think = strip_think
        self.metric = metric
        self.prompt = prompt if prompt is not None else _BOXED if extract_boxed else _TAGGED

    def observe(self, idx: int) -> str:
        if not self._golds(idx):
            raise self.bad_row(idx, self.answer_key, self._answers[idx], "an answer or a list of answers")
        question = self._questions[idx]
        if not isinstance(question, str):
            raise self.bad_row(idx, self.question_key, question, "a text")
        return f"{self.prompt}{question}\n"

    def _golds(self, idx: int) -> list[str]:
        """The acceptable answers of a row; none where the row cannot be used."""
        gold = self._answers[idx]
        if isinstance(gold, str):
            return [gold]
        if gold is None:
            return []
        if isinstance(gold, bool):
            return ["True", "yes"] if gold else ["False", "no"]
        if isinstance(gold, (list, tuple)):
            return [str(g) for g in gold if g is not None]
        return [str(gold)] if isinstance(gold, (int, float)) else []

    def extract(self, response: str) -> str | None:
        """The answer a response gives, or ``None``."""
        if self.strip_think:
            response = strip_think(response)
        if self.extract_boxed:
            return last_boxed(response)
        answer = last_tag(response, "answer")
        if answer is not None and "\\boxed" in answer:
            boxed = last_boxed(answer)  # both ways at once
            return boxed if boxed is not None else answer
        return answer

    def grade(self, action: str, idx: int) -> Grade:
        answer = self.extract(action)
        if answer is None or not answer.strip():
            return Grade(0.0, "no_answer", {"answer": answer, "metrics": {"em": 0.0, "f1": 0.0}})
        golds = self._golds(idx)
        matched = exact_match(answer, golds)
        overlap = 1.0 if matched else f1(answer, golds)
        reward = float(matched) if self.metric == "em" else overlap
        info = {"answer": answer, "metrics": {"em": float(matched), "f1": overlap}}
        return Grade(reward, "correct" if matched else "wrong", info)

    def sample_random_action(self) -> str:
        word = self.rng.choice(("yes", "no", "42", "Paris"))
        return f"\\boxed{{{word}}}" if self.extract_boxed else f"<answer>{word}</answer>"
