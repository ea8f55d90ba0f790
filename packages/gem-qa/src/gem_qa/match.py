"""Exact match and F1 after normalisation.

The normalisation is the one of SQuAD (Rajpurkar et al. 2016: lower case, no punctuation, no articles), mended where
it makes different answers equal: the point of ``3.5``, the sign of ``-5`` and the slash of ``1/2`` are not punctuation,
while the commas of ``1,234`` are; and Unicode's several spellings of one text are one.
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
        "\u2044": "/",
        "\u00ad": "",
        "\u200b": "",
        "\ufeff": "",
    }
)
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})+)(?![\d,])")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WHOLE = re.compile(r"(?<![\d.])(\d+)\.0+(?![\d.])")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
# Punctuation that carries meaning: a point, hyphen, slash or colon between digits (3.5, 1914-1918, 1/2, 10:30), the
# sign of a number, and what ends the names of C++, C# and A+.
_KEPT = re.compile(
    r"(?<=\d)[.\-/:](?=\d)|(?<![^\W_])(?<!\.)-(?=\.?\d)|(?<![^\W_])\.(?=\d)|(?<=[^\W_])(?:\+\+?|#)(?![^\W_])"
)
_HIDDEN = str.maketrans({".": "\ue000", "-": "\ue001", "/": "\ue002", ":": "\ue003", "+": "\ue004", "#": "\ue005"})
_SHOWN = {hidden: chr(plain) for plain, hidden in _HIDDEN.items()}


@lru_cache(maxsize=65536)
def normalise(text: str) -> str:
    """The form in which answers are compared.

    >>> normalise("The Café, est. 1,914")
    'café est 1914'
    """
    before, text = text, _normalise(text)
    # Of the signs that are kept, what was left out between them may have joined two.
    while text != before and not text.replace(" ", "").isalnum():
        before, text = text, _normalise(text)
    return text


def _normalise(text: str) -> str:
    text = text.translate(dict.fromkeys(map(ord, _SHOWN)))  # private characters mean nothing, and are ours below
    text = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN).casefold()
    text = unicodedata.normalize("NFC", text).replace("i\u0307", "i")
    text = _THOUSANDS.sub(lambda m: m[1].replace(",", ""), text)
    text = _WHOLE.sub(r"\1", text)
    text = _KEPT.sub(lambda m: m[0].translate(_HIDDEN), text)
    text = "".join(
        _SHOWN.get(c, c) for c in text if c in _SHOWN or unicodedata.category(c)[0] not in "PSC" or c.isspace()
    )
    without_articles = " ".join(_ARTICLES.sub(" ", text).split())
    return without_articles or " ".join(text.split())  # "The The" and "A" are answers too


def exact_match(answer: str, golds: list[str]) -> bool:
    """Whether the answer is one of the golds, after normalisation."""
    forms = _forms(answer)
    return any(not forms.isdisjoint(_forms(gold)) for gold in golds)


def _forms(text: str) -> set[str]:
    """The text normalised; a second form where a hyphen joins words, which are as well written apart."""
    forms = {normalise(text)}
    if "-" in text or "\u2010" in text or "\u2011" in text:
        forms.add(normalise(_HYPHEN.sub(" ", text.translate(_PLAIN))))
    return forms - {""}


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
