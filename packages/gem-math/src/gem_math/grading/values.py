"""What an expression tree is worth: exact fractions where possible, complex numbers where not.

Variables take a few fixed values, so that two expressions are equal when they agree at all of them (the
Schwartz-Zippel argument); positive ones unless told otherwise, so that identities such as sqrt(1/n) = 1/sqrt(n) hold.
Floating point says quickly that two values differ; that they agree is confirmed with 60 digits.
"""

from __future__ import annotations

import cmath
import math
import threading
import zlib
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mpmath.ctx_mp import MPContext

from gem_math.grading.latex import Tree

#: A :class:`Fraction` where the value is exact; otherwise a complex number, of floats or with :data:`DIGITS` digits.
Number = Any

#: How many assignments of the variables two expressions must agree at: those with positive values, and those with
#: others, as many as it takes for any two variables to meet with every pair of signs.
POINTS, SIGNED_POINTS = 3, 64

#: Values that differ by more than this, relatively, are different without a closer look.
COARSE = 1e-6

#: Digits of the closer look, and the relative difference that it allows.
DIGITS = 60
FINE = 1e-30

#: What counts as nothing when a floating-point value ought to be real.
TOLERANCE = 1e-9

#: Results larger than this many bits are not worked out: power towers are written in a line and take for ever.
MAX_BITS = 20_000


class NotANumber(Exception):
    """The tree has no numerical value (words, sets, division by zero, too large)."""


class TooLarge(NotANumber):
    """The value exists and is too large to be worked out."""


@lru_cache(maxsize=4096)
def _variable(name: str, point: int) -> Fraction:
    """A value, the same in every process: below 1 at the first point, between 1/2 and 3 at the others.

    Positive at the first :data:`POINTS` points; negative at the next; after that the name decides.
    """
    spread = zlib.crc32(f"{name}:{point}".encode()) % 2_500_009
    size = Fraction(500_003 + spread if point else 100_003 + spread // 3, 1_000_003)
    return -size if point == POINTS or (point > POINTS and spread % 2) else size


_CONSTANTS = frozenset({"pi", "e", "i"})

#: Stands among the names of a tree in which there is a ``log`` without a base.
PLAIN_LOG = "log()"
_NOT_VARIABLES = _CONSTANTS | {"oo", "...", PLAIN_LOG}


def names(tree: Tree) -> set[str]:
    """What is named in a tree: variables, constants, :data:`PLAIN_LOG`."""
    found: set[str] = set()
    stack = [tree]
    while stack:
        node = stack.pop()
        kind = node[0] if node else ""
        if kind == "num":
            continue
        if kind == "sym":
            found.add(node[1])
            continue
        if kind == "fn" and node[1] == "log" and len(node) == 3:
            found.add(PLAIN_LOG)
        stack += [part for part in node if type(part) is tuple]
    return found


def symbols(tree: Tree) -> set[str]:
    """Names of the variables in a tree, constants left out."""
    return names(tree) - _NOT_VARIABLES


def equal(a: Tree, b: Tree, *, decimal_log: bool = False, positive: bool = True) -> bool:
    """Whether two arithmetic trees agree at every assignment of their variables.

    An assignment at which either is not real though neither speaks of *i* decides nothing (arcsin of 2), unless they
    all are such.

    Args:
        decimal_log: a ``log`` without a base has base 10, otherwise e.
        positive: variables stand for positive numbers. Otherwise for numbers of either sign, and complex values (the
            principal ones) decide as real ones do.

    Raises:
        NotANumber: one of them has no numerical value.
    """
    named = names(a) | names(b)
    points = 1 if not named - _NOT_VARIABLES else POINTS if positive else SIGNED_POINTS
    complex_meant = "i" in named or points == 1 or not positive
    decided = 0
    for point in range(points):
        x, y = value(a, point, decimal_log=decimal_log), value(b, point, decimal_log=decimal_log)
        if close(x, y) and confirmed(a, b, point, x, y, decimal_log):
            decided += 1
        elif complex_meant or (_is_real(x) and _is_real(y)):
            return False
    return decided > 0


def confirmed(a: Tree, b: Tree, point: int, x: Number, y: Number, decimal_log: bool = False) -> bool:
    """Whether values that agree in floating point agree at :data:`DIGITS` digits, too."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return True  # compared exactly
    x = value(a, point, precise=True, decimal_log=decimal_log)
    y = value(b, point, precise=True, decimal_log=decimal_log)
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return bool(x == y)
    context = _precise()
    x, y = context.inexact(x), context.inexact(y)
    size = max(abs(x), abs(y))
    # Next to zero a relative difference has no meaning: sin(pi) is not exactly 0 at any number of digits.
    return bool(abs(x - y) <= FINE * size or size < 1e-45)


def value(tree: Tree, point: int = 0, *, precise: bool = False, decimal_log: bool = False) -> Number:
    """The value of an arithmetic tree at one assignment of its variables.

    Args:
        precise: with :data:`DIGITS` digits where it is not exact.
        decimal_log: a ``log`` without a base has base 10, otherwise e.

    Raises:
        NotANumber: it has none.
    """
    context = _precise() if precise else _FLOATS
    try:
        return context.value(tree, point, decimal_log)
    except NotANumber:
        raise
    except (ZeroDivisionError, OverflowError, ValueError, TypeError, RecursionError) as error:
        raise NotANumber(str(error)) from None


class _Context:
    """Arithmetic on fractions, and on what ``library`` computes with where fractions end.

    Args:
        library: ``cmath``, or a context of mpmath: both name the functions alike.
    """

    def __init__(self, library: Any) -> None:
        self.library = library
        self.precise = library is not cmath
        self.constants = {"pi": self.inexact(library.pi), "e": self.inexact(library.e), "i": self.make(0, 1)}

    def make(self, real: Any, imaginary: Any = 0) -> Number:
        return self.library.mpc(real, imaginary) if self.precise else complex(real, imaginary)

    def inexact(self, x: Number) -> Number:
        if isinstance(x, Fraction):
            if self.precise:
                return self.library.mpc(self.library.mpf(x.numerator) / x.denominator)
            return complex(x)
        return self.make(x) if not hasattr(x, "imag") or isinstance(x, float) else self._complex(x)

    def _complex(self, x: Number) -> Number:
        return self.library.mpc(x) if self.precise else complex(x)

    def value(self, tree: Tree, point: int, decimal_log: bool) -> Number:
        kind = tree[0]
        if kind == "num":
            return tree[1]
        if kind == "sym":
            name = tree[1]
            if name == "oo" or name == "...":
                raise NotANumber("infinity")
            constant = self.constants.get(name)
            return constant if constant is not None else _variable(name, point)
        if kind == "neg":
            return -self.value(tree[1], point, decimal_log)
        if kind in ("add", "mul", "div", "pow"):
            left = self.value(tree[1], point, decimal_log)
            right = self.value(tree[2], point, decimal_log)
            if kind == "pow":
                return self.power(left, right)
            if isinstance(left, Fraction) != isinstance(right, Fraction):
                left, right = self.inexact(left), self.inexact(right)
            if kind == "add":
                return left + right
            if kind == "mul":
                return left * right
            return left / right
        if kind == "fn":
            return self.function(tree[1], [self.value(part, point, decimal_log) for part in tree[2:]], decimal_log)
        if kind == "fixed":  # what it is worth at the first assignment
            return self.value(tree[1], 0, decimal_log)
        if kind == "percent":
            return self.value(tree[1], point, decimal_log) / 100
        if kind == "unit":
            return self.value(tree[1], point, decimal_log)
        raise NotANumber(f"{kind} has no numerical value")

    def power(self, base: Number, exponent: Number) -> Number:
        """``base ** exponent``, exact where it can be, refused where it would not fit."""
        if isinstance(exponent, Fraction) and isinstance(base, Fraction):
            if exponent.denominator == 1:
                n = exponent.numerator
                bits = max(base.numerator.bit_length(), base.denominator.bit_length())
                if abs(n) > MAX_BITS or (bits - 1) * abs(n) > MAX_BITS:
                    if base in (0, 1, -1):
                        return base if n % 2 or base != -1 else Fraction(1)
                    raise TooLarge("power too large")
                if base == 0 and n < 0:
                    raise NotANumber("division by zero")
                return base**n
            if base < 0 and exponent.denominator % 2 == 1:  # real, as for the odd roots
                return self.power(-base, exponent) * (-1) ** (exponent.numerator % 2)
            root = _exact_root(base, exponent.denominator)
            if root is not None:
                return self.power(root, Fraction(exponent.numerator))
        base, exponent = self.inexact(base), self.inexact(exponent)
        if base == 0:
            if exponent.real > 0:
                return Fraction(0)
            raise NotANumber("0 to a power that is not positive")
        if (self.library.log(base) * exponent).real > 600:
            raise TooLarge("power too large")
        return base**exponent

    def function(self, name: str, arguments: list[Number], decimal_log: bool) -> Number:
        x = arguments[0]
        if name == "root":
            index = arguments[1]
            if not isinstance(index, Fraction) or index.denominator != 1 or index <= 0:
                return self.power(x, 1 / index)
            if index.numerator % 2 == 1 and index != 1 and _is_real(x) and _real(x) < 0:
                return -self.power(-x, 1 / index)  # the real cube root of -8 is -2
            return self.power(x, 1 / index)
        if name == "abs":
            return abs(x) if isinstance(x, Fraction) else self.make(abs(x))
        if name in ("floor", "ceil"):
            rounding = math.floor if name == "floor" else math.ceil
            if isinstance(x, Fraction):
                return Fraction(rounding(x))
            if not _is_real(x):
                raise NotANumber("rounding a complex number")
            return Fraction(rounding(float(x.real)))
        if name == "factorial":
            if isinstance(x, Fraction) and x.denominator == 1 and x >= 0:
                if x > 1000:
                    raise TooLarge("factorial too large")
                return Fraction(math.factorial(x.numerator))
            return self.make(self.gamma(_real(x) + 1))
        if name == "double_factorial":
            if not isinstance(x, Fraction) or x.denominator != 1 or not 0 <= x <= 1000:
                raise NotANumber("a double factorial of no whole number")
            return Fraction(math.prod(range(x.numerator, 0, -2)))
        if name == "binom":
            n, k = arguments
            if isinstance(n, Fraction) and isinstance(k, Fraction) and n.denominator == k.denominator == 1:
                if not 0 <= n <= 2000:
                    raise TooLarge("binomial too large")
                return Fraction(math.comb(n.numerator, k.numerator) if k >= 0 else 0)
            n, k = _real(n), _real(k)
            return self.make(self.gamma(n + 1) / (self.gamma(k + 1) * self.gamma(n - k + 1)))
        z, library = self.inexact(x), self.library
        if name == "log" and len(arguments) == 2:
            return library.log(z) / library.log(self.inexact(arguments[1]))
        if name == "log" and decimal_log:
            return library.log(z) / library.log(self.make(10))
        if name in ("ln", "log"):
            return library.log(z)
        if name == "exp":
            if z.real > 600:
                raise TooLarge("exponential too large")
            return library.exp(z)
        if name in ("cot", "sec", "csc"):
            below = getattr(library, {"cot": "tan", "sec": "cos", "csc": "sin"}[name])(z)
            if abs(below) < 1e-12:
                raise NotANumber("a pole")
            return 1 / below
        if name == "tan" and abs(library.cos(z)) < 1e-12:
            raise NotANumber("a pole")
        if name.startswith("arc"):
            return getattr(library, "a" + name[3:])(z)
        function = getattr(library, name, None)
        if function is None:
            raise NotANumber(f"unknown function {name}")
        return self.inexact(function(z))

    def gamma(self, x: Number) -> Number:
        if not abs(x) < 1000:
            raise TooLarge("factorial too large")
        if self.precise:
            return self.library.gamma(self.inexact(x).real)
        return math.gamma(float(x))


_FLOATS = _Context(cmath)
_local = threading.local()


def _precise() -> _Context:
    """The precise context of this thread: functions of mpmath change the precision of theirs while they run."""
    context = getattr(_local, "context", None)
    if context is None:
        library = MPContext()
        library.dps = DIGITS
        context = _local.context = _Context(library)
    return context  # type: ignore[no-any-return]


def _exact_root(base: Fraction, index: int) -> Fraction | None:
    """The rational ``index``-th root of a non-negative fraction, where there is one."""
    if base < 0 or index > 64:
        return None
    parts = []
    for part in (base.numerator, base.denominator):
        if index == 2:
            root = math.isqrt(part)
        else:
            if part.bit_length() > 900:
                return None
            root = round(part ** (1 / index))
        if root**index != part:
            return None
        parts.append(root)
    return Fraction(parts[0], parts[1])


def _is_real(x: Number) -> bool:
    return isinstance(x, Fraction) or abs(x.imag) <= TOLERANCE * max(1, abs(x.real))


def _real(x: Number) -> Number:
    if isinstance(x, Fraction):
        return x
    if not _is_real(x):
        raise NotANumber("not a real number")
    return x.real


def close(a: Number, b: Number) -> bool:
    """Exact fractions compare exactly; floating-point values roughly, to :data:`COARSE`."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b
    try:
        x, y = complex(a), complex(b)
    except OverflowError:
        return False
    size = max(abs(x), abs(y))
    if size == math.inf or size != size:
        return False
    return abs(x - y) <= COARSE * size or size < 1e-6
