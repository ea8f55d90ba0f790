"""Sets of real numbers in a normal form: intervals, unions, single points, inequalities in one variable."""

from __future__ import annotations

import math
from fractions import Fraction

from gem_math.grading import values
from gem_math.grading.latex import Tree
from gem_math.grading.values import NotANumber

End = Fraction | float

#: ``(low, low belongs to it, high, high belongs to it)``.
Piece = tuple[End, bool, End, bool]

INFINITY: Tree = ("sym", "oo")
MINUS_INFINITY: Tree = ("neg", INFINITY)
REALS: Tree = ("sym", "reals")

_EVERYTHING: list[Piece] = [(-math.inf, False, math.inf, False)]
_OPPOSITE = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "=": "="}

#: More pieces than any answer has; normalising is quadratic at worst.
_MAX_PIECES = 100


class NotASet(Exception):
    """The tree does not describe a set of real numbers with known ends."""


def same_set(a: Tree, b: Tree) -> bool:
    """Whether two trees describe the same set of real numbers.

    Raises:
        NotASet: one of them describes none.
    """
    first, second = variable(a), variable(b)
    if first is not None and second is not None and first != second:
        return False  # x > 3 and y > 3 say different things
    return pieces(a) == pieces(b)


def variable(tree: Tree) -> str | None:
    """The one variable that inequalities speak of, ``None`` for intervals or where there are several."""
    if tree[0] == "in" or tree[0] == "rel" or (tree[0] == "list" and any(i[0] == "rel" for i in tree[1])):
        names = values.symbols(tree) - {"reals"}
        if len(names) == 1:
            return next(iter(names))
    return None


def pieces(tree: Tree) -> list[Piece]:
    """The pieces of a set in order, none touching the next. Raises :class:`NotASet`."""
    kind = tree[0]
    if tree == REALS:
        return _EVERYTHING
    if kind == "tuple" and len(tree[3]) == 2 and tree[1] in ("(", "[") and tree[2] in (")", "]"):
        low, high = _end(tree[3][0]), _end(tree[3][1])
        piece = (low, tree[1] == "[" and low != -math.inf, high, tree[2] == "]" and high != math.inf)
        if low > high or (low == high and not (piece[1] and piece[3])):
            raise NotASet("the ends stand in the wrong order")
        return [piece]
    if kind == "set":
        return _merged([(end, True, end, True) for end in map(_end, tree[1])])
    if kind == "union":
        return _merged(pieces(tree[1]) + pieces(tree[2]))
    if kind == "cap":
        return _common(pieces(tree[1]), pieces(tree[2]))
    if kind == "minus":
        return _common(pieces(tree[1]), _complement(pieces(tree[2])))
    if kind == "in":
        return pieces(tree[2])
    if kind == "list" and tree[1] and all(item[0] in ("rel", "in") for item in tree[1]):
        sets = [pieces(item) for item in tree[1]]
        both = sets[0]
        for other in sets[1:]:
            both = _common(both, other)
        # "x > 1, x < 3" means both; "x < -3, x > 3" can only mean either
        if tree[2] == "and" or (tree[2] == "," and both):
            return both
        return _merged([piece for one in sets for piece in one])
    if kind == "rel":
        return _solved(tree[1], tree[2])
    raise NotASet("not a set")


def _solved(operators: tuple[str, ...], sides: tuple[Tree, ...]) -> list[Piece]:
    if len(sides) == 3 and sides[1][0] == "sym":
        left = _half(_OPPOSITE.get(operators[0], ""), sides[0])
        return _common(left, _half(operators[1], sides[2]))
    if len(sides) != 2:
        raise NotASet("a chain of more than three")
    (operator,), (left_side, right_side) = operators, sides
    if left_side[0] != "sym" and (left_side[:2] != ("fn", "abs")):
        operator, left_side, right_side = _OPPOSITE.get(operator, ""), right_side, left_side
    if left_side[0] == "sym" and left_side[1] not in ("pi", "e", "i", "oo"):
        return _half(operator, right_side)
    if left_side[:2] == ("fn", "abs") and left_side[2][0] == "sym":
        bound = _end(right_side)
        if bound < 0:
            raise NotASet("an absolute value below nothing")
        if operator in ("<", "<="):
            closed = operator == "<="
            return [(-bound, closed, bound, closed)]
        if operator in (">", ">="):
            closed = operator == ">="
            return [(-math.inf, False, -bound, closed), (bound, closed, math.inf, False)]
    raise NotASet("not solved for a variable")


def _half(operator: str, end_tree: Tree) -> list[Piece]:
    end = _end(end_tree)
    if operator in ("<", "<="):
        return [(-math.inf, False, end, operator == "<=" and end != math.inf)]
    if operator in (">", ">="):
        return [(end, operator == ">=" and end != -math.inf, math.inf, False)]
    if operator == "=":
        return [(end, True, end, True)]
    if operator == "!=":
        return _complement([(end, True, end, True)])
    raise NotASet("not an inequality")


def _end(tree: Tree) -> End:
    if tree == INFINITY:
        return math.inf
    if tree == MINUS_INFINITY:
        return -math.inf
    if values.symbols(tree):
        raise NotASet("an end with a variable")
    try:
        number = values.value(tree)
        if isinstance(number, Fraction):
            return number
        number = values.value(tree, precise=True)
    except NotANumber as error:
        raise NotASet(str(error)) from None
    if isinstance(number, Fraction):
        return number
    if abs(number.imag) > values.TOLERANCE or not abs(number) < 1e30:
        raise NotASet("an end that is not real")
    # equal ends that are written differently agree in so many digits
    return Fraction(int(number.real * 10**25 + (0.5 if number.real > 0 else -0.5)), 10**25)


def _merged(found: list[Piece]) -> list[Piece]:
    if len(found) > _MAX_PIECES:
        raise NotASet("too many pieces")
    merged: list[Piece] = []
    for low, low_in, high, high_in in sorted(found, key=lambda p: (p[0], not p[1])):
        if merged:
            before = merged[-1]
            if low < before[2] or (low == before[2] and (low_in or before[3])):
                if high > before[2]:
                    merged[-1] = (before[0], before[1], high, high_in)
                elif high == before[2]:
                    merged[-1] = (before[0], before[1], high, high_in or before[3])
                continue
        merged.append((low, low_in, high, high_in))
    return merged


def _common(a: list[Piece], b: list[Piece]) -> list[Piece]:
    found: list[Piece] = []
    for a_low, a_low_in, a_high, a_high_in in a:
        for b_low, b_low_in, b_high, b_high_in in b:
            low = max(a_low, b_low)
            high = min(a_high, b_high)
            low_in = (a_low_in or a_low < low) and (b_low_in or b_low < low)
            high_in = (a_high_in or a_high > high) and (b_high_in or b_high > high)
            if low < high or (low == high and low_in and high_in):
                found.append((low, low_in, high, high_in))
    return _merged(found)


def _complement(found: list[Piece]) -> list[Piece]:
    left: list[Piece] = []
    low: End = -math.inf
    low_in = False
    for piece in found:
        if low < piece[0] or (low == piece[0] and low_in and not piece[1]):
            left.append((low, low_in, piece[0], not piece[1] and piece[0] != -math.inf))
        low, low_in = piece[2], not piece[3]
    if low != math.inf:
        left.append((low, low_in, math.inf, False))
    return left
