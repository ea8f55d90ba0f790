"""Write the sample problems that the package ships, with a reference solution each; of the project's own making.

    python packages/gem-code/tools/make_samples.py

Every test's right output is computed by the reference solution here, so problems and tests cannot disagree.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "src" / "gem_code" / "data"


def number(rng: random.Random, low: int = -50, high: int = 50) -> int:
    return rng.randint(low, high)


def numbers(rng: random.Random, low: int = -50, high: int = 50, most: int = 12) -> list[int]:
    return [number(rng, low, high) for _ in range(rng.randint(1, most))]


def word(rng: random.Random, letters: str = "abcde", most: int = 12) -> str:
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, most)))


def listed(values: list[Any]) -> str:
    return f"{len(values)}\n{' '.join(map(str, values))}\n"


def is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def prime_or_not(rng: random.Random) -> int:
    """A number up to 10,000 that is as likely prime as not."""
    wanted = rng.random() < 0.5
    return next(n for n in iter(lambda: number(rng, 1, 10000), None) if is_prime(n) == wanted)


LIST_IN = "The first line holds n, the second n whole numbers. "

#: (problem, makes one input, reference program)
STDIN: list[tuple[str, Callable[[random.Random], str], str]] = [
    ("Two whole numbers stand on one line. Print their sum.",
     lambda r: f"{number(r)} {number(r)}\n", "a, b = map(int, input().split())\nprint(a + b)"),
    (LIST_IN + "Print the largest of them.",
     lambda r: listed(numbers(r)), "input()\nprint(max(map(int, input().split())))"),
    (LIST_IN + "Print them in ascending order on one line.",
     lambda r: listed(numbers(r)), "input()\nprint(*sorted(map(int, input().split())))"),
    ("A word stands on one line. Print YES if it reads the same backwards and NO otherwise.",
     lambda r: (lambda w: w + (w[::-1] if r.random() < 0.5 else word(r, "ab", 6)))(word(r, "ab", 6)) + "\n",
     "w = input().strip()\nprint('YES' if w == w[::-1] else 'NO')"),
    (LIST_IN + "Print their mean as a decimal fraction; an error of 0.000001 is allowed.",
     lambda r: listed(numbers(r)), "n = int(input())\nprint(sum(map(int, input().split())) / n)"),
    ("A whole number n from 1 to 10000 stands on one line. Print YES if it is prime and NO otherwise.",
     lambda r: f"{prime_or_not(r)}\n",
     "n = int(input())\nprint('YES' if n > 1 and all(n % d for d in range(2, int(n**0.5) + 1)) else 'NO')"),
    ("Two positive whole numbers stand on one line. Print their greatest common divisor.",
     lambda r: f"{number(r, 1, 900)} {number(r, 1, 900)}\n",
     "import math\nprint(math.gcd(*map(int, input().split())))"),
    ("A line of words stands on one line. Print how often each word occurs, one 'word count' a line, in the order of "
     "the alphabet.",
     lambda r: " ".join(word(r, "ab", 2) for _ in range(r.randint(1, 9))) + "\n",
     "from collections import Counter\nfor w, n in sorted(Counter(input().split()).items()):\n    print(w, n)"),
    (LIST_IN + "Print the largest sum of a run of neighbours (at least one number).",
     lambda r: listed(numbers(r)),
     "input()\nbest = None\nhere = 0\nfor x in map(int, input().split()):\n    here = max(here, 0) + x\n"
     "    best = here if best is None else max(best, here)\nprint(best)"),
    ("A string of brackets ()[] stands on one line. Print YES if they are balanced and NO otherwise.",
     lambda r: r.choice(["()", "[()]", "([)]", "(()", "[]()[]", "((()))", "]", "([])[("]) * r.randint(1, 2) + "\n",
     "stack = []\ngood = True\nfor c in input().strip():\n    if c in '([':\n        stack.append(c)\n"
     "    elif not stack or stack.pop() + c not in ('()', '[]'):\n        good = False\n"
     "print('YES' if good and not stack else 'NO')"),
    ("A whole number n from 1 to 60 stands on one line. Print the n-th Fibonacci number (the first two are 1).",
     lambda r: f"{number(r, 1, 60)}\n", "a, b = 0, 1\nfor _ in range(int(input())):\n    a, b = b, a + b\nprint(a)"),
    ("The first line holds rows and columns, then the rows of a matrix of whole numbers follow. Print its transpose.",
     lambda r: (lambda n, m: f"{n} {m}\n" + "".join(
         " ".join(str(number(r, 0, 9)) for _ in range(m)) + "\n" for _ in range(n)))(r.randint(1, 4), r.randint(1, 4)),
     "n, m = map(int, input().split())\nrows = [input().split() for _ in range(n)]\n"
     "for column in zip(*rows):\n    print(*column)"),
    ("Two positive whole numbers a and b stand on one line. Print a to the power of b in full.",
     lambda r: f"{number(r, 2, 99)} {number(r, 1, 200)}\n", "a, b = map(int, input().split())\nprint(a ** b)"),
]  # fmt: skip

#: (problem, name, makes one list of arguments, reference program)
CALLS: list[tuple[str, str, Callable[[random.Random], list[Any]], str]] = [
    ("Write a function add(a, b) that returns the sum of two whole numbers.", "add",
     lambda r: [number(r), number(r)], "def add(a, b):\n    return a + b"),
    ("Write a function unique(values) that returns the list without repetitions, in the order of first occurrence.",
     "unique", lambda r: [numbers(r, 0, 6)], "def unique(values):\n    return list(dict.fromkeys(values))"),
    ("Write a function two_sum(values, target) that returns the smallest pair of indices [i, j], i < j, with "
     "values[i] + values[j] == target, or an empty list.", "two_sum",
     lambda r: [numbers(r, 0, 9), number(r, 0, 18)],
     "def two_sum(values, target):\n    for i in range(len(values)):\n        for j in range(i + 1, len(values)):\n"
     "            if values[i] + values[j] == target:\n                return [i, j]\n    return []"),
    ("Write a function longest(words) that returns the first of the longest words.", "longest",
     lambda r: [[word(r) for _ in range(r.randint(1, 6))]], "def longest(words):\n    return max(words, key=len)"),
    ("Write a function mean(values) that returns the arithmetic mean of a list of numbers.", "mean",
     lambda r: [numbers(r)], "def mean(values):\n    return sum(values) / len(values)"),
    ("Write a function roman(n) that returns n, from 1 to 3999, as a Roman numeral.", "roman",
     lambda r: [number(r, 1, 3999)],
     "def roman(n):\n    out = ''\n    for value, sign in ((1000, 'M'), (900, 'CM'), (500, 'D'), (400, 'CD'), \n"
     "            (100, 'C'), (90, 'XC'), (50, 'L'),\n"
     "            (40, 'XL'), (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')):\n"
     "        while n >= value:\n            out += sign\n            n -= value\n    return out"),
    ("Write a function flatten(values) that returns a flat list of the numbers in nested lists.", "flatten",
     lambda r: [[number(r, 0, 9), [number(r, 0, 9), [number(r, 0, 9)]], numbers(r, 0, 9, 3)]],
     "def flatten(values):\n    out = []\n    for v in values:\n"
     "        out += flatten(v) if isinstance(v, list) else [v]\n    return out"),
    ("Write a function count(text) that returns a dictionary from each letter to how often it occurs.", "count",
     lambda r: [word(r)],
     "def count(text):\n    out = {}\n    for c in text:\n        out[c] = out.get(c, 0) + 1\n    return out"),
]  # fmt: skip


def run(program: str, stdin: str) -> str:
    """What the reference prints."""
    lines = iter(stdin.splitlines())
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {"__name__": "__main__", "input": lambda: next(lines)})
    return out.getvalue()


def main() -> None:
    rng = random.Random(0)
    rows: list[dict[str, Any]] = []
    for problem, make, program in STDIN:
        inputs = [make(rng) for _ in range(8)]
        tests: dict[str, Any] = {"inputs": inputs, "outputs": [run(program, given) for given in inputs]}
        ask = problem + " Read standard input and write standard output. Answer with one block of Python."
        rows.append({"problem": ask, "tests": tests, "solution": program})
    for problem, name, arguments, program in CALLS:
        namespace: dict[str, Any] = {}
        exec(program, namespace)
        given = [arguments(rng) for _ in range(8)]
        tests = {"fn_name": name, "inputs": given, "outputs": [namespace[name](*args) for args in given]}
        rows.append({"problem": problem + " Answer with one block of Python.", "tests": tests, "solution": program})
    DATA.mkdir(exist_ok=True)
    with (DATA / "sample.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    (DATA / "README.md").write_text(
        "# Data\n\nWritten by `tools/make_samples.py` of this package; of the project's own making, Apache-2.0.\n"
    )


if __name__ == "__main__":
    main()
