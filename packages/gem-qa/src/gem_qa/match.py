"""Exact match and F1 after normalisation.

The normalisation is the one of SQuAD (Rajpurkar et al. 2016: lower case, no punctuation, no articles), mended where
it makes different answers equal: the point of ``3.5`` and the sign of ``-5`` are not punctuation, while the commas of
``1,234`` are; and Unicode's several spellings of one text are one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

#: Typographic characters and their plain forms.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u0060", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u00ad": "",
        "\u200b": "",
        "\ufeff": "",
    }
)
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})+)(?![\d,])")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
# Punctuation that carries no meaning: all of it but a point or hyphen between digits, and the sign of a number.
_KEPT = re.compile(r"(?<=\d)[.\-](?=\d)|(?<![\w.])-(?=\.?\d)|(?<!\w)\.(?=\d)")
_PLACEHOLDERS = {".": "\ue000", "-": "\ue001"}


@lru_cache(maxsize=65536)
def normalise(text: str) -> str:
    """The form in which answers are compared.

    >>> normalise("The Café, est. 1,914")
    'café est 1914'
    """
    text = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN).casefold()
    text = unicodedata.normalize("NFC", text)
    text = _THOUSANDS.sub(lambda m: m[1].replace(",", ""), text)
    text = _KEPT.sub(lambda m: _PLACEHOLDERS[m[0]], text)
    text = "".join(
        c for c in text if c == "\ue000" or c == "\ue001" or unicodedata.category(c)[0] not in "PSC" or c.isspace()
    )
    text = text.replace("\ue000", ".").replace("\ue001", "-")
    without_articles = " ".join(_ARTICLES.sub(" ", text).split())
    return without_articles or " ".join(text.split())  # "The The" and "A" are answers too


def exact_match(answer: str, golds: list[str]) -> bool:
    """Whether the answer is one of the golds, after normalisation."""
    answer = normalise(answer)
    return bool(answer) and any(answer == normalise(gold) for gold in golds)


def f1(answer: str, golds: list[str]) -> float:
    """The best harmonic mean of token precision and recall against any gold, in [0, 1]."""
    return max((_f1(normalise(answer).split(), normalise(gold).split()) for gold in golds), default=0.0)


def _f1(answer: list[str], gold: list[str]) -> float:
    # "yes", "no" and their like are right or wrong; sharing a word with a longer answer means nothing.
    closed = {"yes", "no", "noanswer"}
    if (
        not answer
        or not gold
        or (answer != gold and (closed & {*answer[:1], *gold[:1]}) and 1 in (len(answer), len(gold)))
    ):
        return float(answer == gold and bool(answer))
    shared = sum((Counter(answer) & Counter(gold)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(answer), shared / len(gold)
    return 2 * precision * recall / (precision + recall)
