"""Whether two answers say the same."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gem_math.grading import intervals, latex, units, values, words
from gem_math.grading.intervals import INFINITY, MINUS_INFINITY, REALS, NotASet
from gem_math.grading.latex import NotUnderstood, Tree
from gem_math.grading.normalise import normalise
from gem_math.grading.values import NotANumber


@dataclass(frozen=True)
class Rules:
    """Judgement calls of the grader. The defaults are those the field expects.

    Args:
        percent_both_ways: 28 and 0.28 both answer 28 %, and 28 % answers either.
        ignore_missing_unit: 5 answers 5 cm, and 5 apples answer 5; units that both sides state must agree in any
            case, and are not converted (90 degrees are not pi/2, 50 cents are not 0.50 dollars).
        inequality_as_interval: 0 < x < 12 answers (0, 12).
        positive_variables: variables stand for positive numbers, so sqrt(x^2) is x and sqrt(1/n) is 1/sqrt(n);
            otherwise two formulas must agree for numbers of either sign, as complex ones where they are no real ones.
        rounded_digits: a decimal with at least this many significant digits answers the number it is the correct
            rounding of (0.333333 answers 1/3); ``None``: it never does.

    What is no option: ``log`` without a base is natural or decimal, whichever agrees; lists without brackets and sets
    have no order, points and intervals have; an equation x = 5 answers 5, and its right side is what it says; a letter
    chooses ("(B) 12" answers B, and 12 answers "(B) 12"); "no solution" is the empty set; a number in a base never
    equals one without.
    """

    percent_both_ways: bool = True
    ignore_missing_unit: bool = True
    inequality_as_interval: bool = True
    positive_variables: bool = True
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
    if _NUMBER.fullmatch(answer) and _NUMBER.fullmatch(gold):  # most answers
        return _same_number(_decimal(answer), _decimal(gold), rules)
    chosen = words.choice(answer, gold)
    if isinstance(chosen, bool):
        return chosen
    if chosen is not None:
        answer, gold = chosen
    a, b = _normalised(answer), _normalised(gold)
    if not a:
        return False
    if a == b or _squeezed(a) == _squeezed(b):
        return True
    if words.are_words(b) and words.words(a) == words.words(b):
        return True
    left, left_error = _parsed(a)
    right, right_error = _parsed(b)
    if left is not None and right is not None:
        if any(sign in text for text in (a, b) for sign in (r"\pm", r"\mp")):
            return _same_items(_signs(left), _signs(right), rules)
        if _same_answer(left, right, rules):
            return True
        return any(_same_answer(x, y, rules) for x, y in _other_readings(a, left, b, right))
    # Only LaTeX that we cannot read on a side that has it is worth a slower look.
    if (left is None and left_error and "\\" in answer) or (right is None and right_error and "\\" in gold):
        raise Undecided
    return False


_NUMBER = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?")


def _decimal(text: str) -> Tree:
    point = text.find(".")
    number: Tree = ("num", Fraction(text.removeprefix("-")), len(text) - point - 1 if point >= 0 else None)
    return ("neg", number) if text[0] == "-" else number


@lru_cache(maxsize=8192)
def _normalised(text: str) -> str:
    return normalise(words.formula_of(text) if len(text) < 200 else text)


_OPTIONAL_SPACE = re.compile(r"(?<![A-Za-z\d])\s+|\s+(?![A-Za-z\d])")
_OPTIONAL_BRACES = re.compile(r"([\^_])\{(\w)\}(?![A-Za-z\d])")


def _squeezed(text: str) -> str:
    return _OPTIONAL_SPACE.sub("", _OPTIONAL_BRACES.sub(r"\1\2", text))


@lru_cache(maxsize=8192)
def _parsed(text: str) -> tuple[Tree | None, bool]:
    """The tree, or ``None`` and whether the text holds LaTeX that another parser may read."""
    try:
        return latex.parse(text), False
    except NotUnderstood as error:
        return None, error.latex
    except RecursionError:
        return None, False


_THOUSANDS = re.compile(r"(?<![\d,.(\[{])\s*(\d{1,3}(?:,\d{3})+)(?![\d,])")

_BRACKET = re.compile(r"[(\[{]")
_TEXT_GROUP = re.compile(r"\\(?:text|mathrm|mbox)\s*\{[^{}]*\}(?:\^\{?\d\}?)?")


def _other_readings(a: str, left: Tree, b: str, right: Tree) -> list[tuple[Tree, Tree]]:
    """``1,234`` without brackets may be one number as well as a list of two."""
    lefts, rights = _readings(a, left), _readings(b, right)
    return [(x, y) for x in lefts for y in rights][1:]  # the first pair has been compared


def _readings(text: str, tree: Tree) -> list[Tree]:
    if "," in text and not _BRACKET.search(_TEXT_GROUP.sub("", text)):
        joined = _THOUSANDS.sub(lambda m: m[1].replace(",", ""), text)
        if joined != text:
            other = _parsed(joined)[0]
            if other is not None:
                return [tree, other]
    return [tree]


# -- comparing trees -------------------------------------------------------------------------------------


def _same_answer(a: Tree, b: Tree, rules: Rules) -> bool:
    """Two whole answers: a set of one element is as good as the element."""
    if _same(a, b, rules):
        return True
    a, b = _without_name(a, b, gold=False), _without_name(b, a, gold=True)
    kinds = {a[0], b[0]}
    if "set" in kinds and len(kinds) == 2:
        single, several = (a, b) if b[0] == "set" else (b, a)
        # a tuple as the element is a point: {(1, 2)}
        return len(several[1]) == 1 and single[0] != "list" and _same(single, several[1][0], rules)
    return False


def _same(a: Tree, b: Tree, rules: Rules) -> bool:
    if a[0] == "rel" and "~" in a[1] and b[0] != "rel" and _exact_side_is(a, b, rules):
        return True
    a, b = _without_name(a, b, gold=False), _without_name(b, a, gold=True)
    kinds = {a[0], b[0]}
    if _is_region(a) or _is_region(b):
        return _same_region(a, b, rules)
    if "in" in kinds:
        return _same(a[2] if a[0] == "in" else a, b[2] if b[0] == "in" else b, rules)
    if kinds == {"list"}:
        named = _values_by_name(a), _values_by_name(b)
        if (named[0] is None) != (named[1] is None):  # 1, 2 against x = 1, y = 2
            first, second = named[0] or a[1], named[1] or b[1]
            return _all_same(list(first), list(second), rules)
    if kinds <= {"list", "set"}:
        return _same_items(_items(a), _items(b), rules)
    if kinds & {"list", "set"}:
        return False
    if "base" in kinds or "time" in kinds:
        return _same_time(a, b) if "time" in kinds else a == b
    if kinds == {"text"}:
        return words.words(a[1]) == words.words(b[1])
    if "text" in kinds:
        return False
    if "rel" in kinds:
        return a[0] == b[0] and a[1] == b[1] and a[1] in (("=",), ("~",)) and _same_equation(a, b, rules)
    if kinds == {"matrix"}:
        return _same_rows(a[1], b[1], rules)
    if kinds == {"matrix", "tuple"}:
        matrix, point = (a, b) if a[0] == "matrix" else (b, a)
        if point[3] and all(row[0] == "tuple" for row in point[3]):  # [[1,2],[3,4]]
            return _same_rows(matrix[1], tuple(row[3] for row in point[3]), rules)
        entries = [entry for row in matrix[1] for entry in row]
        is_vector = len(matrix[1]) == 1 or all(len(row) == 1 for row in matrix[1])
        return is_vector and _all_same(entries, list(point[3]), rules)
    if kinds == {"tuple"}:
        if a[1] == b[1] == ":":
            return _same_ratio(a[3], b[3], rules)
        return a[1] == b[1] and a[2] == b[2] and _all_same(list(a[3]), list(b[3]), rules)
    if kinds & {"matrix", "tuple"}:
        ratio, other = (a, b) if a[0] == "tuple" else (b, a)
        if ratio[0] == "tuple" and ratio[1] == ":" and len(ratio[3]) == 2:
            return _same_number(("div", *ratio[3]), other, rules)
        return False
    return _same_quantity(a, b, rules)


def _is_name(tree: Tree, *, gold: bool) -> bool:
    """Whether the left side of an equation only names what the right side is: ``x``, ``f(x)``, ``AB``, ``(x, y)``."""
    if tree[0] in ("sym", "text"):
        return tree[:2] not in (("sym", "pi"), ("sym", "e"), ("sym", "i"))
    if tree[0] == "tuple":
        return all(item[0] == "sym" for item in tree[3])
    if tree[0] == "mul":
        first, second = tree[1], tree[2]
        if second[0] == "sym" and first[0] == "sym":
            # f(x) and AB name something; xy = 6 is a curve
            return not gold or first[1][0].isupper() or first[1][0] in "fghpq"
        if first[0] == "pow":  # f^{-1}(x)
            return first[1][0] == "sym" and first[2][0] == "neg"
        return _is_name(first, gold=gold) and second[0] in ("sym", "num", "neg", "tuple", "add", "div")
    return False


def _without_name(tree: Tree, other: Tree, *, gold: bool) -> Tree:
    """``x = 5`` says 5, and ``f(x) = x + 1`` says x + 1, unless the other side is an equation too.

    In an answer the right side of any equation is what it says (2 + 3 = 5); a gold equation is one unless its left
    side is a name.
    """
    kind = tree[0]
    if kind == "rel" and other[0] != "rel" and all(operator in ("=", "~") for operator in tree[1]):
        first, worth = tree[2][0], tree[2][-1]
        if worth[0] == "sym" and first[0] == "num" and len(tree[2]) == 2:
            return first  # 5 = x
        if _is_name(first, gold=gold):
            return worth
        # m + n = 33 answers 33; x^2 + y^2 - 1 = 0 does not answer 0
        if not gold and worth[0] != "sym" and (worth[:2] != ("num", 0) or not values.symbols(first)):
            return worth
    elif kind == "mul" and tree[1][0] == "sym" and tree[2][0] == "tuple" and other[0] == "tuple":
        return tree[2]  # the point A(1, 2)
    elif kind == "list" and other[0] in ("list", "tuple", "set") and any(i[0] == "rel" for i in tree[1]):
        if other[0] == "list" and all(i[0] == "rel" for i in other[1]) and all(i[0] == "rel" for i in tree[1]):
            return tree
        named = _values_by_name(tree)
        if named is not None and other[0] == "tuple":
            return ("tuple", other[1], other[2], named)  # x = 1, y = 2 against (1, 2)
        if named is not None and other[0] == "list":
            return tree
        stripped = tuple(_without_name(item, ("num",), gold=gold) for item in tree[1])
        if any(item[0] == "rel" for item in stripped):
            return tree
        return ("list", stripped, tree[2])
    return tree


def _values_by_name(tree: Tree) -> tuple[Tree, ...] | None:
    """The values of ``x = 1, y = 2`` in the order that a point has; ``None`` where it is no such list."""
    if tree[0] != "list" or not all(i[0] == "rel" and i[1] == ("=",) and i[2][0][0] == "sym" for i in tree[1]):
        return None
    names = [item[2][0][1] for item in tree[1]]
    if len(set(names)) < len(names) or any("_" in name for name in names):
        return None  # several values of one unknown: roots x_1, x_2
    items = list(tree[1])
    if set(names) <= set("xyz") or set(names) <= set("abcd"):
        items.sort(key=lambda item: item[2][0][1])
    return tuple(item[2][1] for item in items)


def _exact_side_is(approximation: Tree, gold: Tree, rules: Rules) -> bool:
    """``10 sqrt(2) ~ 14.14`` says both."""
    return any(side[0] not in ("sym", "text") and _same(side, gold, rules) for side in approximation[2])


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
    a, b = _without_shared(a, b)
    if len(a) > _MANY:
        return False  # trying every pair is quadratic
    rest = list(b)
    for item in a:
        for position, other in enumerate(rest):
            if _same(item, other, rules):
                del rest[position]
                break
        else:
            return False
    return True


#: An answer longer than this is a sequence, not a set with repetitions in any order and any form.
_MANY = 200


def _without_shared(a: list[Tree], b: list[Tree]) -> tuple[list[Tree], list[Tree]]:
    """Both lists without the items that stand in both in the same form."""
    shared = Counter(a) & Counter(b)
    if not shared:
        return a, b
    left = []
    for items in (a, b):
        open_items, kept = Counter(shared), []
        for item in items:
            if open_items[item]:
                open_items[item] -= 1
            else:
                kept.append(item)
        left.append(kept)
    return left[0], left[1]


def _distinct(items: list[Tree], rules: Rules) -> list[Tree]:
    if len(items) > _MANY:
        return items
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


# -- times, regions, equations ---------------------------------------------------------------------------


def _same_time(a: Tree, b: Tree) -> bool:
    """``3:00`` answers ``3:00 pm``; a time is not a ratio (3:00 is not 6:00)."""
    parts = [tree[1] if tree[0] == "time" else tree[3] if tree[0] == "tuple" else None for tree in (a, b)]
    halves = [tree[2] if tree[0] == "time" else "" for tree in (a, b)]
    return parts[0] == parts[1] and (halves[0] == halves[1] or "" in halves)


def _is_region(tree: Tree) -> bool:
    """Whether a tree describes a set of real numbers by inequalities or by operations on intervals."""
    kind = tree[0]
    if kind == "rel":
        return any(operator not in ("=", "~") for operator in tree[1])
    if kind == "list":
        return any(item[0] == "rel" and _is_region(item) for item in tree[1])
    if kind == "in":
        return _is_region(tree[2]) or tree[2][0] == "tuple"
    return kind in ("union", "cap", "minus") or tree == REALS


def _same_region(a: Tree, b: Tree, rules: Rules) -> bool:
    if not rules.inequality_as_interval and _speaks_of_inequality(a) != _speaks_of_inequality(b):
        return False
    try:
        if intervals.same_set(a, b):
            return True
    except NotASet:
        pass
    first, second = intervals.variable(a), intervals.variable(b)
    if first is not None and second is not None and first != second:
        return False
    left, right = _interval_of(a), _interval_of(b)
    if left is not None and right is not None:
        return left[1] == right[1] and left[2] == right[2] and _all_same(list(left[3]), list(right[3]), rules)
    if a[0] == b[0] == "rel" and len(a[2]) == len(b[2]):
        return _same_inequality(a, b, rules)
    if a[0] == b[0] and a[0] in ("union", "cap", "minus"):
        straight = _same(a[1], b[1], rules) and _same(a[2], b[2], rules)
        return straight or (a[0] != "minus" and _same(a[1], b[2], rules) and _same(a[2], b[1], rules))
    if a[0] == b[0] == "list":
        return _same_items(_items(a), _items(b), rules)
    return False


def _speaks_of_inequality(tree: Tree) -> bool:
    return tree[0] == "rel" or (tree[0] == "list" and any(item[0] == "rel" for item in tree[1]))


def _interval_of(tree: Tree) -> Tree | None:
    """The interval that a tree is or that an inequality says, its ends whatever they are."""
    if tree[0] == "in":
        tree = tree[2]
    if tree[0] == "tuple" and len(tree[3]) == 2:
        return tree
    if tree[0] != "rel" or not set(tree[1]) <= {"<", "<=", ">", ">="}:
        return None
    operators, sides = tree[1], tree[2]
    if operators[0] in (">", ">="):
        operators = tuple({">": "<", ">=": "<="}.get(o, "?") for o in reversed(operators))
        sides = tuple(reversed(sides))
    if len(sides) == 3 and sides[1][0] == "sym" and "?" not in operators:
        return ("tuple", "(" if operators[0] == "<" else "[", ")" if operators[1] == "<" else "]", (sides[0], sides[2]))
    if len(sides) == 2 and sides[0][0] == "sym" and not values.symbols(sides[1]):
        return ("tuple", "(", ")" if operators[0] == "<" else "]", (MINUS_INFINITY, sides[1]))
    if len(sides) == 2 and sides[1][0] == "sym" and not values.symbols(sides[0]):
        return ("tuple", "(" if operators[0] == "<" else "[", ")", (sides[0], INFINITY))
    return None


def _same_equation(a: Tree, b: Tree, rules: Rules) -> bool:
    """The same sides, or the same up to a constant factor: ``y = 2x`` and ``2x - y = 0``."""
    if len(a[2]) != 2 or len(b[2]) != 2:
        return len(a[2]) == len(b[2]) and _all_same(list(a[2]), list(b[2]), rules)
    if a[2][0] == b[2][0] and _same(a[2][1], b[2][1], rules):
        return True
    if values.symbols(a) != values.symbols(b):
        return False
    left, right = (("add", tree[2][0], ("neg", tree[2][1])) for tree in (a, b))
    try:
        if any(abs(values.value(side, precise=True)) < 1e-12 for side in (left, right)):
            return False
        # what the one is to the other at the first point it is at every point
        return values.equal(
            ("mul", left, ("fixed", right)), ("mul", right, ("fixed", left)), positive=rules.positive_variables
        )
    except NotANumber:
        return False


def _same_inequality(a: Tree, b: Tree, rules: Rules) -> bool:
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    flipped = tuple(turned.get(operator, operator) for operator in reversed(b[1]))
    return (a[1] == b[1] and _all_same(list(a[2]), list(b[2]), rules)) or (
        a[1] == flipped and _all_same(list(a[2]), list(reversed(b[2])), rules)
    )


# -- quantities ------------------------------------------------------------------------------------------


def _same_quantity(a: Tree, b: Tree, rules: Rules) -> bool:
    (a, a_unit), (b, b_unit) = _unit(a), _unit(b)
    if a_unit and b_unit:
        if not units.agree(a_unit, b_unit):
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
    infinite = _infinite(a), _infinite(b)
    if infinite != (0, 0):
        return infinite[0] == infinite[1]
    try:
        positive = rules.positive_variables
        if values.equal(a, b, positive=positive):
            return True
        if _rounds_to(a, b, rules.rounded_digits) or _rounds_to(b, a, rules.rounded_digits):
            return True
        plain_logs = [values.PLAIN_LOG in values.names(tree) for tree in (a, b)]
        return plain_logs[0] != plain_logs[1] and values.equal(a, b, decimal_log=True, positive=positive)
    except NotANumber:
        return False


def _infinite(tree: Tree) -> int:
    if tree == INFINITY:
        return 1
    return -1 if tree == MINUS_INFINITY else 0


def _rounds_to(decimal: Tree, exact: Tree, least: int | None) -> bool:
    """Whether ``decimal`` is written with enough digits and is the correct rounding of ``exact``."""
    sign = 1
    while decimal[0] == "neg":
        decimal, sign = decimal[1], -sign
    if least is None or decimal[0] != "num" or not decimal[2]:
        return False
    shown: Fraction = decimal[1] * sign
    digits: int = decimal[2]
    significant = len(str(abs(shown.numerator * 10**digits // shown.denominator)).lstrip("0"))
    if significant < least:
        return False
    if values.symbols(exact):
        return False
    number = values.value(exact)
    if not isinstance(number, Fraction):
        if abs(number.imag) > values.TOLERANCE:
            return False
        number = Fraction(number.real)
    return abs(shown - number) <= Fraction(1, 2 * 10**digits)
