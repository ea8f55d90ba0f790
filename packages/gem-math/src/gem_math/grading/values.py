"""What an expression tree is worth: exact fractions where possible, complex numbers where not.

Variables take a few fixed positive values, so that two expressions are equal when they agree at all of them (the
Schwartz-Zippel argument); positive ones, so that identities such as sqrt(1/n) = 1/sqrt(n) hold.
"""

from __future__ import annotations

import cmath
import math
import zlib
from fractions import Fraction
from functools import lru_cache

from gem_math.grading.latex import Tree

Number = Fraction | complex

#: How many assignments of the variables two expressions must agree at.
POINTS = 3

#: Relative tolerance between values that are not exact.
TOLERANCE = 1e-9

#: Results larger than this many bits are not worked out: power towers are written in a line and take for ever.
MAX_BITS = 20_000


class NotANumber(Exception):
    """The tree has no numerical value (words, sets, division by zero, too large)."""


class TooLarge(NotANumber):
    """The value exists and is too large to be worked out."""


@lru_cache(maxsize=4096)
def _variable(name: str, point: int) -> Fraction:
    """A positive value between 1/2 and 3, the same in every process."""
    return Fraction(500_003 + zlib.crc32(f"{name}:{point}".encode()) % 2_500_009, 1_000_003)


_CONSTANTS: dict[str, complex] = {"pi": complex(math.pi), "e": complex(math.e), "i": 1j}


def symbols(tree: Tree) -> set[str]:
    """Names of the variables in a tree, constants left out."""
    found: set[str] = set()
    stack: list[object] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple) and node:
            if node[0] == "sym" and isinstance(node[1], str):
                if node[1] not in _CONSTANTS and node[1] != "oo":
                    found.add(node[1])
            else:
                stack.extend(node)
    return found


def value(tree: Tree, point: int = 0, sign: int = 1) -> Number:
    """The value of an arithmetic tree at one assignment of its variables.

    Args:
        sign: what ``\\pm`` stands for, 1 or -1; ``\\mp`` is the opposite.

    Raises:
        NotANumber: it has none.
    """
    try:
        return _value(tree, point, sign)
    except NotANumber:
        raise
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise NotANumber(str(error)) from None


def _value(tree: Tree, point: int, sign: int) -> Number:
    kind = tree[0]
    if kind == "num":
        return tree[1]  # type: ignore[no-any-return]
    if kind == "sym":
        name = tree[1]
        if name == "oo":
            raise NotANumber("infinity")
        constant = _CONSTANTS.get(name)
        return constant if constant is not None else _variable(name, point)
    if kind == "neg":
        return -_value(tree[1], point, sign)
    if kind in ("add", "mul", "div", "pow", "pm", "mp"):
        left = _value(tree[1], point, sign)
        right = _value(tree[2], point, sign)
        if kind == "pow":
            return power(left, right)
        if kind == "pm" or kind == "mp":
            right = right * (sign if kind == "pm" else -sign)
            kind = "add"
        if isinstance(left, Fraction) != isinstance(right, Fraction):
            left, right = complex(left), complex(right)
        if kind == "add":
            return left + right  # type: ignore[operator]
        if kind == "mul":
            return left * right  # type: ignore[operator]
        return left / right  # type: ignore[operator]
    if kind == "fn":
        return _function(tree[1], [_value(argument, point, sign) for argument in tree[2:]])
    if kind == "percent":
        return _value(tree[1], point, sign) / 100
    if kind == "unit":
        return _value(tree[1], point, sign)
    raise NotANumber(f"{kind} has no numerical value")


def power(base: Number, exponent: Number) -> Number:
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
        root = _exact_root(base, exponent.denominator)
        if root is not None:
            return power(root, Fraction(exponent.numerator))
    base, exponent = complex(base), complex(exponent)
    if base == 0:
        if exponent.real > 0:
            return Fraction(0)
        raise NotANumber("0 to a power that is not positive")
    if (cmath.log(base) * exponent).real > 600:
        raise TooLarge("power too large")
    return base**exponent


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


def _function(name: str, arguments: list[Number]) -> Number:
    x = arguments[0]
    if name == "root":
        index = arguments[1]
        if not isinstance(index, Fraction) or index.denominator != 1 or index <= 0:
            return power(x, 1 / index)
        if isinstance(x, Fraction) and x < 0 and index.numerator % 2 == 1:
            return -power(-x, 1 / index)  # the real cube root of -8 is -2
        return power(x, 1 / index)
    if name == "abs":
        return abs(x) if isinstance(x, Fraction) else complex(abs(x))
    if name in ("floor", "ceil"):
        if isinstance(x, Fraction):
            return Fraction(math.floor(x) if name == "floor" else math.ceil(x))
        if abs(x.imag) > TOLERANCE:
            raise NotANumber("rounding a complex number")
        return Fraction(math.floor(x.real) if name == "floor" else math.ceil(x.real))
    if name == "factorial":
        if isinstance(x, Fraction) and x.denominator == 1 and x >= 0:
            if x > 1000:
                raise TooLarge("factorial too large")
            return Fraction(math.factorial(x.numerator))
        return complex(math.gamma(float(_real(x)) + 1))
    if name == "binom":
        n, k = arguments
        if isinstance(n, Fraction) and isinstance(k, Fraction) and n.denominator == k.denominator == 1:
            if not 0 <= n <= 2000:
                raise TooLarge("binomial too large")
            return Fraction(math.comb(n.numerator, k.numerator) if k >= 0 else 0)
        a, b = float(_real(n)), float(_real(k))
        return complex(math.gamma(a + 1) / (math.gamma(b + 1) * math.gamma(a - b + 1)))
    z = complex(x)
    if name == "log" and len(arguments) == 2:
        return cmath.log(z) / cmath.log(complex(arguments[1]))
    if name in ("ln", "log"):
        return cmath.log(z)
    if name == "exp":
        if z.real > 600:
            raise TooLarge("exponential too large")
        return cmath.exp(z)
    if name in ("cot", "sec", "csc"):
        below = {"cot": cmath.tan, "sec": cmath.cos, "csc": cmath.sin}[name](z)
        if abs(below) < 1e-12:
            raise NotANumber("a pole")
        return 1 / below
    if name.startswith("arc"):
        return {"arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan}[name](z)
    function = getattr(cmath, name, None)
    if function is None:
        raise NotANumber(f"unknown function {name}")
    return complex(function(z))


def _real(x: Number) -> float:
    if isinstance(x, Fraction):
        return float(x)
    if abs(x.imag) > TOLERANCE:
        raise NotANumber("not a real number")
    return x.real


def close(a: Number, b: Number) -> bool:
    """Exact fractions compare exactly; otherwise to a relative :data:`TOLERANCE`."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b
    try:
        x, y = complex(a), complex(b)
    except OverflowError:
        return False
    size = max(abs(x), abs(y))
    if size == math.inf or size != size:
        return False
    # Next to zero a relative tolerance has no meaning: sin(pi) is 1e-16 in floating point.
    return abs(x - y) <= TOLERANCE * size or size < 1e-14
