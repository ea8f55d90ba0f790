"""A tokenizer of whole words, small enough for a model of thirty thousand parameters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_PIECES = re.compile(r"\\\w+\{?|\w+|\n|[^\w\s]")
_WORD = re.compile(r"\w")
#: What an unknown word decodes to.
UNKNOWN = "\ufffd"


class WordTokenizer:
    r"""Words, punctuation marks, line breaks and LaTeX openings (``\boxed{``) are one token each.

    Blanks are not kept: decoding sets one between two words, so a text comes back with its blanks normalised.

    Args:
        vocabulary: the words, in the order of their ids; the special tokens go before them.
    """

    pad, end, unknown = 0, 1, 2

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self.vocabulary = list(vocabulary)
        self._words = ["", "", UNKNOWN, *self.vocabulary]
        self._ids = {word: number for number, word in enumerate(self._words) if number > 1}

    @classmethod
    def of(cls, texts: Iterable[str], limit: int | None = None) -> WordTokenizer:
        """The tokenizer of all words in ``texts``, of the ``limit`` most frequent ones if given."""
        counts = Counter(piece for text in texts for piece in _PIECES.findall(text))
        words = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(sorted(words[:limit]))

    def __len__(self) -> int:
        return len(self._words)

    def encode(self, text: str) -> list[int]:
        return [self._ids.get(piece, self.unknown) for piece in _PIECES.findall(text)]

    def decode(self, ids: Iterable[int]) -> str:
        out: list[str] = []
        for number in ids:
            word = self._words[number]
            if out and word and _WORD.match(word) and _WORD.match(out[-1][-1]):
                out.append(" ")
            if word:
                out.append(word)
        return "".join(out)
