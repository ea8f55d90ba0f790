"""Hangman: find a word letter by letter, or name it."""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from typing import Any

from gem_games.base import Game, Outcome, clean
from gem_games.options import complete, flag, whole
from gem_games.words import LENGTHS, rare_words, words

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


class Hangman(Game):
    r"""A hidden English word is found with letters, ``\boxed{e}``, or named at once, ``\boxed{crane}``.

    A letter that the word has is shown wherever it stands. Half the reward comes with the places shown, the rest with
    the word, whether it is named or its last letter found. What was tried before and words of another length are not
    valid moves.

    Args:
        word_length: letters, 3 to 10; ``None`` draws 3, 5 or 7.
        hardcore: whether the word is one of the rarer words instead of a common one; ``None`` draws.
        max_turns: letters and words that may be tried; ``None`` gives 10, 15 or 20 for 3, 5 or 7 letters.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    request = "Your letter or word:"
    word_length: int
    hardcore: bool

    def __init__(
        self,
        word_length: int | None = 5,
        hardcore: bool | None = False,
        max_turns: int | None = 20,
        format_error: str = "terminate",
    ) -> None:
        given = {"word_length": word_length, "hardcore": hardcore, "max_turns": max_turns}
        if word_length is None:
            lengths = LEVELS
        else:
            length = whole("word_length", word_length)
            lengths = {length: next((turns for limit, turns in LEVELS.items() if length <= limit), 20)}
        levels = [
            {"word_length": length, "hardcore": hard, "max_turns": turns}
            for length, turns in lengths.items()
            for hard in (False, True)
        ]
        super().__init__(complete(given, levels, _checked), format_error)

    def rules(self) -> str:
        return (
            f"Hangman. I have chosen {'a rare' if self.hardcore else 'an'} English word of {self.word_length} letters; "
            "each _ stands for one of them.\n"
            "Try a letter with \\boxed{letter}, for example \\boxed{E}: I show it wherever the word has it. Or name "
            f"the whole word, for example \\boxed{{{_pool(self.word_length, self.hardcore)[0].upper()}}}: you win if "
            "it is right.\n"
            f"You have {self.max_turns} turns; try nothing twice."
        )

    def deal(self) -> None:
        pool = _pool(self.word_length, self.hardcore)
        self.word = pool[int(self.rng.random() * len(pool))]
        self.shown = "_" * self.word_length
        self.tried: frozenset[str] = frozenset()
        self.text = f"{' '.join(self.shown)}\nTried:"
        self.earned = 0.0

    @staticmethod
    def read(box: str) -> str | None:
        guess = clean(box).replace(" ", "")
        return guess if guess.isalpha() and guess.isascii() else None

    def play(self, move: str) -> tuple[str, float, Outcome]:
        if move in self.tried:
            return self.invalid(f"{move.upper()} was tried before")
        if 1 != len(move) != self.word_length:
            return self.invalid(f"the guess has {len(move)} letters, the word has {self.word_length}")
        word = self.word
        if move == word:
            self._show(word)
            return f"Turn {self.turn}: {move.upper()} is the word. You win!", 1.0 - self.earned, True
        name = move.upper()
        self.tried |= {move}
        self.text = f"{self.text} {name}"
        if len(move) > 1:
            return f"Turn {self.turn}: {name} is not the word.", 0.0, None
        if move not in word:
            return f"Turn {self.turn}: the word has no {name}.", 0.0, None
        self._show("".join([b if b == move else a for a, b in zip(self.shown, word, strict=True)]))
        if self.shown == word:
            return f"Turn {self.turn}: {name} completes the word {word.upper()}. You win!", 1.0 - self.earned, True
        count = word.count(move)
        reward = count / (2 * len(word))
        self.earned += reward
        return f"Turn {self.turn}: the word has {name} {count} time{'s' * (count > 1)}.", reward, None

    def _show(self, shown: str) -> None:
        self.shown = shown
        self.text = f"{' '.join(shown).upper()}{self.text[2 * len(shown) - 1 :]}"

    def board(self) -> str:
        return self.text

    def random_move(self) -> str:
        random = self.rng.random
        if random() < 0.5:
            return ALPHABET[int(random() * 26)]
        pool = _pool(self.word_length, self.hardcore)
        return pool[int(random() * len(pool))]

    def solution(self) -> str:
        """The letter that splits the words still possible best; the word itself where no other turn is left."""
        if self.turn + 1 >= self.max_turns:
            return self.word
        return _best_guess(self.word_length, self.hardcore, self.shown, self.tried)


@cache
def _pool(length: int, hardcore: bool) -> tuple[str, ...]:
    return rare_words(length) if hardcore else words(length)


#: Up to this many of the words still possible are weighed when a letter is chosen.
_WEIGHED = 500


@lru_cache(maxsize=20_000)
def _best_guess(length: int, hardcore: bool, shown: str, tried: frozenset[str]) -> str:
    possible = [
        word
        for word in _pool(length, hardcore)
        if word not in tried and all(a == b if a != "_" else b not in tried for a, b in zip(shown, word, strict=True))
    ]
    if len(possible) <= 2:
        return possible[0]
    possible = possible[:: 1 + len(possible) // _WEIGHED]

    def left(letter: str) -> int:
        """How many words are still possible afterwards, summed over the words that it may be."""
        patterns = Counter(tuple([letter == b for b in word]) for word in possible)
        return sum(count * count for count in patterns.values())

    return min((letter for letter in ALPHABET if letter not in tried), key=left)


#: Letters of the word -> turns.
LEVELS = {3: 10, 5: 15, 7: 20}


def _checked(word_length: int, hardcore: bool, max_turns: int) -> dict[str, Any]:
    return {
        "word_length": whole("word_length", word_length, LENGTHS[0], LENGTHS[-1]),
        "hardcore": flag("hardcore", hardcore),
        "max_turns": whole("max_turns", max_turns, 1),
    }
