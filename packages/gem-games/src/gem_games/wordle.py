"""Wordle: find a word from marks on its letters."""

from __future__ import annotations

from functools import lru_cache
from operator import eq
from typing import Any

from gem_games.base import Game, Outcome, clean
from gem_games.options import complete, flag, whole
from gem_games.words import ALL_LENGTHS, all_words, words


class Wordle(Game):
    r"""A hidden English word is guessed with ``\boxed{crane}``; each letter of a guess is marked.

    ``G``: right letter, right place. ``Y``: in the word, elsewhere (a letter is marked as often as the word holds
    it, greens first). ``X``: not in the word. Half the reward comes with the places first turned green, half with
    the word. Repeats, wrong lengths and, with ``only_real_words``, unknown words are not valid moves.

    Args:
        word_length: letters, 3 to 7; ``None`` draws 3 to 5.
        only_real_words: whether a guess must be a known word.
        max_turns: guesses allowed; ``None`` gives five a letter.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    request = "Your guess:"
    word_length: int
    only_real_words: bool

    def __init__(
        self,
        word_length: int | None = 5,
        only_real_words: bool | None = True,
        max_turns: int | None = 20,
        format_error: str = "terminate",
    ) -> None:
        given = {"word_length": word_length, "max_turns": max_turns, "only_real_words": only_real_words}
        lengths = (3, 4, 5) if word_length is None else (whole("word_length", word_length),)
        levels = [{"word_length": n, "max_turns": 5 * n, "only_real_words": True} for n in lengths]
        super().__init__(complete(given, levels, _checked), format_error)

    def rules(self) -> str:
        real = "a real word" if self.only_real_words else "any letters"
        return (
            f"Wordle. I have chosen an English word of {self.word_length} letters.\n"
            "I mark each letter of a guess: G if it is right and in the right place, Y if the word has it in another "
            "place, X if the word does not have it (or not that often).\n"
            f"You have {self.max_turns} guesses, each {real} of {self.word_length} letters. Write each one as "
            f"\\boxed{{word}}, for example \\boxed{{{words(self.word_length)[0]}}}; guess no word twice."
        )

    def deal(self) -> None:
        choice = words(self.word_length)
        self.word = choice[int(self.rng.random() * len(choice))]
        self.marks: dict[str, str] = {}
        self.green: frozenset[int] = frozenset()
        self.earned = 0.0

    @staticmethod
    def read(box: str) -> str | None:
        word = clean(box).replace(" ", "")
        return word if word.isalpha() and word.isascii() else None

    def play(self, move: str) -> tuple[str, float, Outcome]:
        length = self.word_length
        if len(move) != length:
            return self.invalid(f"the guess has {len(move)} letters, the word has {length}")
        if move in self.marks:
            return self.invalid(f"{move.upper()} was guessed before")
        if self.only_real_words and move not in all_words(length):
            return self.invalid(f"{move.upper()} is not in the word list")
        if move == self.word:
            return f"Turn {self.turn}: {move.upper()} is the word. You win!", 1.0 - self.earned, True
        marks = self.marks[move] = mark(move, self.word)
        reward = 0.0
        if "G" in marks:
            green = self.green
            new = [place for place, letter in enumerate(marks) if letter == "G" and place not in green]
            if new:
                self.green = green.union(new)
                reward = len(new) / (2 * length)
                self.earned += reward
        return f"Turn {self.turn}: {move.upper()} is marked {marks}.", reward, None

    def random_move(self) -> str:
        choice = words(self.word_length)
        return choice[int(self.rng.random() * len(choice))]

    def solution(self) -> str:
        """The guess that splits the words still possible into the most classes."""
        return _best_guess(self.word_length, tuple(self.marks.items()))


def mark(guess: str, word: str) -> str:
    """The marks of a guess, one of ``G``, ``Y`` and ``X`` a letter."""
    marks = guess.translate(_in_word(word))
    if "Y" in marks and True in map(eq, guess, word):
        marks = "".join(["G" if a == b else m for a, b, m in zip(guess, word, marks, strict=True)])
    for letter in _repeated(guess):  # what the guess has more often than the word loses yellows from the right
        held = word.count(letter)
        excess = guess.count(letter) - held
        place = len(guess)
        while held and excess > 0:
            place = guess.rindex(letter, 0, place)
            if marks[place] == "Y":
                marks = f"{marks[:place]}X{marks[place + 1 :]}"
                excess -= 1
    return marks


@lru_cache(maxsize=4096)
def _in_word(word: str) -> dict[int, str]:
    """Each letter's mark where places do not count."""
    return {ord(letter): "Y" if letter in word else "X" for letter in "abcdefghijklmnopqrstuvwxyz"}


@lru_cache(maxsize=8192)
def _repeated(word: str) -> str:
    """The letters a word has more than once."""
    return "".join(letter for letter in sorted(set(word)) if word.count(letter) > 1)


#: Up to this many possible words, every common word is weighed as a guess; above, some of the possible ones.
_FEW = 30


@lru_cache(maxsize=20_000)
def _best_guess(length: int, marks: tuple[tuple[str, str], ...]) -> str:
    everything = words(length)
    possible = [w for w in everything if all(mark(guess, w) == found for guess, found in marks)]
    if len(possible) <= 2:
        return possible[0]
    few = len(possible) <= _FEW
    against = possible if few else possible[:: len(possible) // 200 + 1]
    pool = possible if few else possible[:: len(possible) // _FEW]

    def classes(guess: str) -> int:
        return len({mark(guess, word) for word in against})

    best = max(pool, key=classes)
    if few and classes(best) < len(possible):  # no possible word tells all of them apart; another word may do better
        other = max(everything, key=classes)
        if classes(other) > classes(best):
            return other
    return best


def _checked(word_length: int, max_turns: int, only_real_words: bool) -> dict[str, Any]:
    return {
        "word_length": whole("word_length", word_length, ALL_LENGTHS[0], ALL_LENGTHS[-1]),
        "max_turns": whole("max_turns", max_turns, 1),
        "only_real_words": flag("only_real_words", only_real_words),
    }
