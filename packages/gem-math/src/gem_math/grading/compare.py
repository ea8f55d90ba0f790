"""Whether two answers say the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations

from gem_math.grading import latex, values
from gem_math.grading.latex import NotUnderstood, Tree
from gem_math.grading.values import NotANumber, TooLarge


@dataclass(frozen=True)
class Rules:
    """Judgement calls of the grader. The defaults are those the field expects.

    Args:
        percent_both_ways: 28 and 0.28 both answer 28 %, and 28 % answers either.
        ignore_missing_unit: 5 answers 5 cm; units that both sides state must agree in any case.
        inequality_as_interval: 0 < x < 12 answers (0, 12).
        rounded_digits: a decimal with at least this many significant digits answers the number it is the correct
            rounding of (0.333333 answers 1/3); ``None``: it never does.
    """

    percent_both_ways: bool = True
    ignore_missing_unit: bool = True
    inequality_as_interval: bool = True
    rounded_digits: int | None = 6


DEFAULT_RULES = Rules()


class Undecided(Exception):
    """Neither equal nor different by these means: a slower judge should look."""


def equal(answer: str, gold: str, rules: Rules = DEFAULT_RULES) -> bool:
    """Whether ``answer`` says what ``gold`` says.

    Raises:
        Undecided: one side holds LaTeX that this package does not read.
    """
    answer, gold = answer.strip(), gold.strip()
    if not answer:
        return False
    if answer == gold:
        return True
    choice = _choice(gold)
    if choice is not None:
        found = _choice_in(answer)
        if found is not None or choice.isupper():
            if found == choice:
                return True
            if _unwrapped(gold) != gold or found is not None:
                return False
    a, b = _normalised(answer), _normalised(gold)
    if a == b and a:
        return True
    if _squeezed(a) == _squeezed(b):
        return bool(a)
    left, left_error = _parsed(a)
    right, right_error = _parsed(b)
    if left is not None and right is not None:
        if _same(left, right, rules):
            return True
        return any(_same(x, y, rules) for x in _readings(a, left) for y in _readings(b, right))
    if _words(answer) == _words(gold):
        return True
    # Only LaTeX that we cannot read on a side that has it is worth a slower look.
    if (left is None and left_error) or (right is None and right_error):
        raise Undecided
    return False


@lru_cache(maxsize=8192)
def _normalised(text: str) -> str:
    return latex.normalise(text)


def _squeezed(text: str) -> str:
    return re.sub(r"(?<![A-Za-z\d])\s+|\s+(?![A-Za-z\d])", "", text)


@lru_cache(maxsize=8192)
def _parsed(text: str) -> tuple[Tree | None, bool]:
    """The tree, or ``None`` and whether the text holds LaTeX that another parser may read."""
    try:
        return latex.parse(text), False
    except NotUnderstood as error:
        return None, error.latex
    except RecursionError:
        return None, False


_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def _readings(text: str, tree: Tree) -> list[Tree]:
    """``1,234`` without brackets may be one number as well as a list of two."""
    readings = [tree]
    joined = re.sub(r"(?<![\d,.(\[{])\s*(\d{1,3}(?:,\d{3})+)(?![\d,])", lambda m: m[1].replace(",", ""), text)
    if joined != text and "(" not in text and "[" not in text and "{" not in text:
        other = _parsed(joined)[0]
        if other is not None:
            readings.append(other)
    return readings


# -- choices and words -----------------------------------------------------------------------------------

_WRAPPED = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|textit|mbox|boldsymbol)\s*\{([^{}]*)\}")


def _unwrapped(text: str) -> str:
    previous = None
    while previous != text:
        previous, text = text, _WRAPPED.sub(r"\1", text)
    return re.sub(r"\\[ ,;!]|~|\$|\\quad", " ", text).strip()


def _choice(gold: str) -> str | None:
    """The letter, when the gold is a choice: ``C``, ``(C)``, ``\\text{(C)}``."""
    match = re.fullmatch(r"\(?([A-J])\)?\.?", _unwrapped(gold))
    return match[1] if match else None


def _choice_in(answer: str) -> str | None:
    """The letter an answer begins with as a label: ``(C) 12``, ``C: red``, ``C. red``, ``C)``."""
    match = re.match(r"\(([A-J])\)|([A-J])\s*(?:[:.)]|$)", _unwrapped(answer))
    return (match[1] or match[2]) if match else None


def _words(text: str) -> str:
    """Words without markup, case and the punctuation around them."""
    plain = re.sub(r"\\[a-zA-Z]+|[{}$\\]", " ", _unwrapped(text))
    return " ".join(plain.casefold().replace("-", " ").split()).strip(" .,;:!?\"'")


# -- comparing trees -------------------------------------------------------------------------------------


def _same(a: Tree, b: Tree, rules: Rules) -> bool:
    a, b = _without_name(a, b), _without_name(b, a)
    if _has_sign_choice(a) or _has_sign_choice(b):
        return _same_items(_signs(a), _signs(b), rules)
    kinds = {a[0], b[0]}
    if "in" in kinds:
        return _same(a[2] if a[0] == "in" else a, b[2] if b[0] == "in" else b, rules)
    if kinds <= {"list", "set"}:
        return _same_items(_items(a), _items(b), rules)
    if kinds & {"list", "set"}:
        single, several = (a, b) if b[0] in ("list", "set") else (b, a)
        if several[0] == "set" and single[0] not in ("tuple", "union", "matrix", "rel"):
            return len(several[1]) == 1 and _same(several[1][0], single, rules)
        return False
    if "base" in kinds:
        return a[0] == b[0] and a[1:] == b[1:]
    if kinds == {"text"}:
        return _words(a[1]) == _words(b[1])
    if "text" in kinds:
        return False
    if "rel" in kinds or "union" in kinds or "cap" in kinds or "minus" in kinds:
        return _same_relation(a, b, rules)
    if kinds == {"matrix"}:
        return _same_rows(a[1], b[1], rules)
    if kinds == {"matrix", "tuple"}:
        matrix, point = (a, b) if a[0] == "matrix" else (b, a)
        entries = [entry for row in matrix[1] for entry in row]
        is_vector = len(matrix[1]) == 1 or all(len(row) == 1 for row in matrix[1])
        return is_vector and _all_same(entries, list(point[3]), rules)
    if kinds == {"tuple"}:
        if (":" in (a[1], b[1])) and a[1] == b[1]:
            return _same_ratio(a[3], b[3], rules)
        return a[1] == b[1] and a[2] == b[2] and _all_same(list(a[3]), list(b[3]), rules)
    if kinds & {"matrix", "tuple"}:
        ratio, other = (a, b) if a[0] == "tuple" else (b, a)
        if ratio[0] == "tuple" and ratio[1] == ":" and len(ratio[3]) == 2:
            return _same_number(("div", *ratio[3]), other, rules)
        return False
    return _same_quantity(a, b, rules)


def _without_name(tree: Tree, other: Tree) -> Tree:
    """``x = 5`` says 5, and ``f(x) = x + 1`` says x + 1, unless the other side is an equation too."""
    if tree[0] == "rel" and tree[1] == ("=",) and other[0] != "rel":
        name, worth = tree[2]
        if name[0] == "sym" or (name[0] == "mul" and name[1][0] == "sym" and name[2][0] in ("sym", "tuple")):
            return worth  # type: ignore[no-any-return]
        if worth[0] == "sym" and name[0] == "num":
            return name  # type: ignore[no-any-return]
    if tree[0] == "list" and other[0] in ("list", "tuple", "set") and all(i[0] == "rel" for i in tree[1]):
        stripped = tuple(_without_name(item, ("num",)) for item in tree[1])
        if other[0] == "list" and any(i[0] == "rel" for i in other[1]):
            return tree
        if other[0] == "tuple":
            return ("tuple", other[1], other[2], stripped)  # x = 1, y = 2 against (1, 2)
        return ("list", stripped)
    return tree


def _has_sign_choice(tree: Tree) -> bool:
    stack: list[object] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple) and node:
            if node[0] in ("pm", "mp"):
                return True
            stack.extend(node)
    return False


def _signs(tree: Tree) -> list[Tree]:
    """Both choices of every plus-minus."""
    found: list[Tree] = []
    for item in _items(tree):
        if _has_sign_choice(item):
            found += [_chosen(item, 1), _chosen(item, -1)]
        else:
            found.append(item)
    return found


def _chosen(tree: Tree, sign: int) -> Tree:
    if not isinstance(tree, tuple):
        return tree
    if tree and tree[0] in ("pm", "mp"):
        right = _chosen(tree[2], sign)
        positive = (sign == 1) == (tree[0] == "pm")
        return ("add", _chosen(tree[1], sign), right if positive else ("neg", right))
    return tuple(_chosen(part, sign) for part in tree)


def _items(tree: Tree) -> list[Tree]:
    return list(tree[1]) if tree[0] in ("list", "set") else [tree]


def _same_items(a: list[Tree], b: list[Tree], rules: Rules) -> bool:
    """The same items in any order, repetitions left out."""
    a, b = _distinct(a, rules), _distinct(b, rules)
    if len(a) != len(b):
        return False
    rest = list(b)
    for item in a:
        for position, other in enumerate(rest):
            if _same(item, other, rules):
                del rest[position]
                break
        else:
            return False
    return True


def _distinct(items: list[Tree], rules: Rules) -> list[Tree]:
    if len(items) > 200:
        return items  # quadratic; an answer this long is a sequence, not a set with repetitions
    found: list[Tree] = []
    for item in items:
        if not any(item == other or _same(item, other, rules) for other in found):
            found.append(item)
    return found


def _all_same(a: list[Tree], b: list[Tree], rules: Rules) -> bool:
    return len(a) == len(b) and all(_same(x, y, rules) for x, y in zip(a, b, strict=True))


def _same_rows(a: Tree, b: Tree, rules: Rules) -> bool:
    return len(a) == len(b) and all(_all_same(list(x), list(y), rules) for x, y in zip(a, b, strict=True))


def _same_ratio(a: Tree, b: Tree, rules: Rules) -> bool:
    if len(a) != len(b):
        return False
    return all(_same_number(("mul", a[0], y), ("mul", b[0], x), rules) for x, y in zip(a[1:], b[1:], strict=True))


# -- equations, inequalities, intervals ------------------------------------------------------------------

_INFINITY = ("sym", "oo")
_MINUS_INFINITY = ("neg", _INFINITY)


def _same_relation(a: Tree, b: Tree, rules: Rules) -> bool:
    if a[0] == b[0] == "rel" and a[1] == b[1] == ("=",):
        return _same_equation(a, b)
    if not rules.inequality_as_interval and (a[0] == "rel") != (b[0] == "rel"):
        return False
    left, right = _intervals(a), _intervals(b)
    if left is None or right is None:
        if a[0] == b[0] == "rel" and len(a[2]) == len(b[2]):
            return _same_inequality(a, b, rules)
        return False
    if len(left) != len(right):
        return False
    return any(
        all(_same_interval(x, y, rules) for x, y in zip(left, order, strict=True))
        for order in (permutations(right) if len(right) <= 4 else [tuple(right)])
    )


def _intervals(tree: Tree) -> list[Tree] | None:
    """The pieces of a union of intervals (sets of points too); inequalities in one variable turned into one."""
    if tree[0] == "union":
        left, right = _intervals(tree[1]), _intervals(tree[2])
        return None if left is None or right is None else left + right
    if tree[0] == "tuple" and len(tree[3]) == 2:
        return [tree]
    if tree[0] == "set":
        return [("set", (item,)) for item in tree[1]]
    if tree[0] == "list":
        pieces = [_intervals(item) for item in tree[1]]
        return None if any(p is None for p in pieces) else [i for p in pieces if p for i in p]
    if tree[0] == "rel":
        operators, sides = tree[1], tree[2]
        if "=" in operators or "!=" in operators:
            return None
        if operators[0] in (">", ">="):
            operators = tuple({">": "<", ">=": "<="}.get(o, "?") for o in reversed(operators))
            sides = tuple(reversed(sides))
        if any(o not in ("<", "<=") for o in operators):
            return None
        if len(sides) == 3 and sides[1][0] == "sym":
            low, high = sides[0], sides[2]
            return [("tuple", "(" if operators[0] == "<" else "[", ")" if operators[1] == "<" else "]", (low, high))]
        if len(sides) == 2 and sides[0][0] == "sym" and not values.symbols(sides[1]):
            return [("tuple", "(", ")" if operators[0] == "<" else "]", (_MINUS_INFINITY, sides[1]))]
        if len(sides) == 2 and sides[1][0] == "sym" and not values.symbols(sides[0]):
            return [("tuple", "(" if operators[0] == "<" else "[", ")", (sides[0], _INFINITY))]
    return None


def _same_interval(a: Tree, b: Tree, rules: Rules) -> bool:
    if a[0] != b[0]:
        return False
    if a[0] == "set":
        return _same(a[1][0], b[1][0], rules)
    return a[1] == b[1] and a[2] == b[2] and _all_same(list(a[3]), list(b[3]), rules)


def _same_equation(a: Tree, b: Tree) -> bool:
    """The same up to a constant factor: ``y = 2x`` and ``2x - y = 0``."""
    if values.symbols(a) != values.symbols(b):
        return False
    ratio: values.Number | None = None
    for point in range(values.POINTS):
        try:
            left = values.value(("add", a[2][0], ("neg", a[2][1])), point)
            right = values.value(("add", b[2][0], ("neg", b[2][1])), point)
        except NotANumber:
            return False
        if values.close(right, Fraction(0)) or values.close(left, Fraction(0)):
            return False
        exact = isinstance(left, Fraction) and isinstance(right, Fraction)
        current = left / right if exact else complex(left) / complex(right)  # type: ignore[operator]
        if ratio is not None and not values.close(current, ratio):
            return False
        ratio = current
    return True


def _same_inequality(a: Tree, b: Tree, rules: Rules) -> bool:
    flipped = ("rel", tuple({"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(o, o) for o in reversed(b[1])))
    return (a[1] == b[1] and _all_same(list(a[2]), list(b[2]), rules)) or (
        a[1] == flipped[1] and _all_same(list(a[2]), list(reversed(b[2])), rules)
    )


# -- quantities ------------------------------------------------------------------------------------------


def _same_quantity(a: Tree, b: Tree, rules: Rules) -> bool:
    (a, a_unit), (b, b_unit) = _unit(a), _unit(b)
    if a_unit and b_unit:
        if a_unit != b_unit:
            return False
    elif (a_unit or b_unit) and not rules.ignore_missing_unit:
        return False
    if (a[0] == "percent") != (b[0] == "percent"):
        percent, plain = (a, b) if a[0] == "percent" else (b, a)
        if _same_number(percent, plain, rules):
            return True
        return rules.percent_both_ways and _same_number(percent[1], plain, rules)
    return _same_number(a, b, rules)


def _unit(tree: Tree) -> tuple[Tree, str | None]:
    if tree[0] == "unit":
        return tree[1], tree[2]
    if tree[0] == "neg" and tree[1][0] == "unit":
        return ("neg", tree[1][1]), tree[1][2]
    return tree, None


def _same_number(a: Tree, b: Tree, rules: Rules) -> bool:
    if a == b:
        return True
    for sign_a, sign_b in ((a, b),):
        infinite = _infinite(sign_a), _infinite(sign_b)
        if infinite != (0, 0):
            return infinite[0] == infinite[1]
    names = values.symbols(a)
    if names != values.symbols(b) and not (names or values.symbols(b)):
        return False
    try:
        for point in range(values.POINTS if names or values.symbols(b) else 1):
            x, y = values.value(a, point), values.value(b, point)
            if not values.close(x, y):
                return not names and (_rounds_to(a, y, rules) or _rounds_to(b, x, rules))
    except (TooLarge, NotANumber):
        return False
    return True


def _infinite(tree: Tree) -> int:
    if tree == _INFINITY:
        return 1
    return -1 if tree == _MINUS_INFINITY else 0


def _rounds_to(decimal: Tree, exact: values.Number, rules: Rules) -> bool:
    """Whether ``decimal`` is written with enough digits and is the correct rounding of ``exact``."""
    sign = 1
    while decimal[0] == "neg":
        decimal, sign = decimal[1], -sign
    if rules.rounded_digits is None or decimal[0] != "num" or not decimal[2]:
        return False
    shown: Fraction = decimal[1] * sign
    digits: int = decimal[2]
    significant = len(str(abs(shown.numerator * 10**digits // shown.denominator)).lstrip("0"))
    if significant < rules.rounded_digits:
        return False
    if isinstance(exact, complex):
        if abs(exact.imag) > values.TOLERANCE:
            return False
        exact = Fraction(exact.real)
    return abs(shown - exact) <= Fraction(1, 2 * 10**digits)
