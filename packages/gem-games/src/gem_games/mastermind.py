"""Mastermind: find a code of numbers from black and white pegs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from operator import eq
from typing import Any

from gem_games.base import Game, Outcome, clean, numbers
from gem_games.options import complete, flag, whole

Code = tuple[int, ...]


class Mastermind(Game):
    r"""A hidden code of numbers is guessed with ``\boxed{1 2 3 4}``; each guess is answered with pegs.

    A black peg is a right number in the right place, a white peg a right number elsewhere. Reward: the black pegs
    of a guess beyond the best so far, over the code's length. Repeated guesses, wrong lengths and numbers out of
    range are not valid moves.

    Args:
        code_length: numbers in the code; ``None`` draws.
        num_numbers: the code holds numbers from 1 to this; ``None`` draws.
        duplicate_numbers: whether the code may hold a number twice (guesses always may); ``None`` is the same as False.
        max_turns: guesses allowed; ``None`` draws.
        format_error: whether a response without a readable move ends the episode: ``terminate`` or ``continue``.

    Raises:
        ValueError: an option is out of range or of the wrong type.
    """

    request = "Your guess:"
    code_length: int
    num_numbers: int
    duplicate_numbers: bool

    def __init__(
        self,
        code_length: int | None = 4,
        num_numbers: int | None = 6,
        duplicate_numbers: bool | None = False,
        max_turns: int | None = 20,
        format_error: str = "terminate",
    ) -> None:
        given = {
            "code_length": code_length,
            "num_numbers": num_numbers,
            "max_turns": max_turns,
            "duplicate_numbers": duplicate_numbers,
        }
        super().__init__(complete(given, LEVELS, _checked), format_error)

    def rules(self) -> str:
        again = "may appear more than once" if self.duplicate_numbers else "appears at most once"
        example = " ".join(str(1 + place % self.num_numbers) for place in range(self.code_length))
        return (
            f"Mastermind. I have chosen a secret code of {self.code_length} numbers from 1 to {self.num_numbers}; "
            f"each number {again} in it.\n"
            "I answer a guess with a black peg for every right number in the right place, and a white peg for every "
            "right number in a wrong place.\n"
            f"You have {self.max_turns} guesses. Write each one as \\boxed{{numbers}}, for example "
            f"\\boxed{{{example}}}; make no guess twice."
        )

    def deal(self) -> None:
        random, count, length = self.rng.random, self.num_numbers, self.code_length
        if self.duplicate_numbers:
            self.code: Code = tuple([1 + int(random() * count) for _ in range(length)])
        else:
            pool = list(range(1, count + 1))
            for place in range(length):
                other = place + int(random() * (count - place))
                pool[place], pool[other] = pool[other], pool[place]
            self.code = tuple(pool[:length])
        self.numbers = frozenset(self.code)
        self.answers: dict[Code, tuple[int, int]] = {}
        self.best = 0
        self.earned = 0.0

    @staticmethod
    def read(box: str) -> tuple[Code, str] | None:
        guess = numbers(clean(box).split())
        return None if guess is None else (guess, " ".join(map(str, guess)))

    def play(self, move: tuple[Code, str]) -> tuple[str, float, Outcome]:
        guess, text = move
        length = self.code_length
        if len(guess) != length:
            return self.invalid(f"it has {len(guess)} numbers, the code has {length}")
        if min(guess) < 1 or max(guess) > self.num_numbers:
            return self.invalid(f"the numbers go from 1 to {self.num_numbers}")
        answers = self.answers
        if guess in answers:
            return self.invalid(f"{text} was guessed before")
        if self.duplicate_numbers:
            black, white = pegs(guess, self.code)
        else:
            black = sum(map(eq, guess, self.code))
            white = len(self.numbers.intersection(guess)) - black
        answers[guess] = (black, white)
        if black <= self.best:
            reward = 0.0
        elif black == length:
            return f"Turn {self.turn}: {text} is the code. You win!", 1.0 - self.earned, True
        else:
            reward = (black - self.best) / length
            self.best = black
            self.earned += reward
        return f"Turn {self.turn}: {text} gets {black} black and {white} white.", reward, None

    def random_move(self) -> str:
        rng, everything = self.rng, range(1, self.num_numbers + 1)
        draw = rng.choices if self.duplicate_numbers else rng.sample
        return " ".join(map(str, draw(everything, k=self.code_length)))

    def solution(self) -> str:
        """The first code that agrees with every answer so far."""
        everything = range(1, self.num_numbers + 1)
        codes: Iterator[Code] = (
            product(everything, repeat=self.code_length)
            if self.duplicate_numbers
            else permutations(everything, self.code_length)
        )
        answers = [(guess, answer) for guess, answer in self.answers.items()]
        code = next(code for code in codes if all(pegs(guess, code) == answer for guess, answer in answers))
        return " ".join(map(str, code))


def pegs(guess: Code, code: Code) -> tuple[int, int]:
    """Black and white pegs of a guess."""
    black = sum(map(eq, guess, code))
    common = sum([min(guess.count(number), code.count(number)) for number in set(guess)])
    return black, common - black


#: What is drawn from.
LEVELS = (
    {"code_length": 2, "num_numbers": 6, "max_turns": 10, "duplicate_numbers": False},
    {"code_length": 4, "num_numbers": 6, "max_turns": 20, "duplicate_numbers": False},
    {"code_length": 4, "num_numbers": 8, "max_turns": 30, "duplicate_numbers": False},
)


def _checked(code_length: int, num_numbers: int, max_turns: int, duplicate_numbers: bool) -> dict[str, Any]:
    duplicates = flag("duplicate_numbers", duplicate_numbers)
    length = whole("code_length", code_length, 1, 1000)
    return {
        "code_length": length,
        "num_numbers": whole("num_numbers", num_numbers, 1 if duplicates else length, 10_000),
        "max_turns": whole("max_turns", max_turns, 1),
        "duplicate_numbers": duplicates,
    }
