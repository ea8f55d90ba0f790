"""From an answer's LaTeX to an expression tree: what mathematicians write in a box, nothing else.

The tree is made of tuples, a tag first:

=====================================  ========================================================================
``("num", Fraction, digits)``          a number; ``digits``: decimals written after the point, ``None`` for none
``("sym", name)``                      a variable or a constant (``pi``, ``e``, ``i``, ``oo``)
``("add", a, b)``, ``mul``, ``div``    arithmetic; ``("pow", a, b)``, ``("neg", a)``, ``("pm", a, b)`` likewise
``("fn", name, argument)``             a function; ``root`` and ``log`` and ``binom`` take a second argument
``("tuple", "(", ")", items)``         brackets with commas: a point, or an interval
``("set", items)``                     braces
``("list", items, joined)``            several answers without brackets, in any order; ``joined``: and, or, a comma
``("matrix", rows)``                   any matrix environment
``("rel", operators, sides)``          an equation or a chain of inequalities; ``~`` stands for "approximately"
``("union", a, b)``, ``("in", x, s)``  sets of numbers
``("percent", a)``, ``("unit", a, u)`` a quantity
``("base", digits, base)``             ``12_8``
``("time", parts, half)``              ``3:00 pm``; ``half``: ``am``, ``pm`` or nothing
``("text", words)``                    words
=====================================  ========================================================================
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from gem_math.grading.units import NOT_UNITS, SCALES, unit_of

Tree = tuple[Any, ...]


class NotUnderstood(Exception):
    """The text is not an answer this parser reads. ``latex``: it holds commands that another parser might."""

    def __init__(self, message: str, *, latex: bool = False) -> None:
        super().__init__(message)
        self.latex = latex


# -- tokens ----------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<num>\d+(?:\.\d+)?|\.\d+)
    | \\(?:text|textbf|textrm|textit|mathrm|mbox|operatorname\*?|mathsf|textnormal|emph)\s*\{(?P<text>[^{}]*)\}
    | \\begin\{(?P<begin>[a-z]*matrix|array)\}(?:\{[lcr|\s]*\})?
    | \\end\{(?P<end>[a-z]*matrix|array)\}
    | (?P<row>\\\\)
    | (?P<brace>\\[{}|])
    | \\(?P<command>[A-Za-z]+)
    | (?P<word>[A-Za-z]+)
    | (?P<op><=|>=|!=|\*\*|[-+*/^_=<>()\[\]{}|,;:!%&'"])
    """,
    re.VERBOSE,
)

#: Commands between two operands; one without them is no mathematics that another parser would read.
_OPERATORS = frozenset({"times", "cdot", "ast", "div", "pm", "mp", "cup", "cap", "setminus", "in", "lor", "land"})

_RELATIONS = {
    "=": "=",
    "<": "<",
    ">": ">",
    "<=": "<=",
    ">=": ">=",
    "!=": "!=",
    "le": "<=",
    "leq": "<=",
    "leqslant": "<=",
    "ge": ">=",
    "geq": ">=",
    "geqslant": ">=",
    "lt": "<",
    "gt": ">",
    "ne": "!=",
    "neq": "!=",
    "approx": "~",
    "simeq": "~",
    "doteq": "~",
}
_FUNCTIONS = {
    *("sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
    *("ln", "log", "exp", "lg", "sqrt", "abs", "max", "min", "gcd", "lcm"),
}
_GREEK = {
    *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Sigma", "Phi", "Psi", "Omega", "ell"),
}
_SAME_LETTER = {"varphi": "phi", "varepsilon": "epsilon", "vartheta": "theta", "ell": "l"}
_CONNECTORS = {"and", "or"}

_CURRENCIES = {"dollar", "euro", "pound", "yen"}
_TRIGONOMETRIC = {"sin", "cos", "tan", "cot", "sec", "csc"}
_RUN_TOGETHER = re.compile(r"(arcsin|arccos|arctan|sin|cos|tan|cot|ln|log|exp)([a-z]{1,2})")

#: Bare abbreviations that are as well products of variables: units only after a space.
_NEED_SPACE = {"mg", "ml", "mi", "gal"}


#: More than any answer needs; deeper nesting is refused before Python's own stack is in danger.
MAX_DEPTH = 60
MAX_LENGTH = 4000

#: 1+1+1+... is a tree as deep as it is long, and what walks trees is recursive.
MAX_CHAIN = 200


def tokenise(text: str) -> list[tuple[str, str, int]]:
    """``(kind, value, position)`` of every token. Raises :class:`NotUnderstood`."""
    tokens = []
    position = 0
    length = len(text)
    while position < length:
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotUnderstood(f"unexpected {text[position]!r}", latex=text[position] == "\\")
        kind = match.lastgroup or ""
        value = match.group(kind)
        position = match.end()
        if kind == "space":
            tokens.append(("space", " ", match.start()))
        else:
            tokens.append((kind, value, match.start()))
    return tokens


def parse(text: str) -> Tree:
    """The tree of an answer, which must be normalised. Raises :class:`NotUnderstood`."""
    if len(text) > MAX_LENGTH:
        raise NotUnderstood("too long for an answer")
    if not text:
        raise NotUnderstood("empty")
    tree = _Parser(tokenise(text)).answer()
    if len(text) > MAX_CHAIN and _deeper_than(tree, MAX_CHAIN):
        raise NotUnderstood("more operations in a row than an answer has")
    return tree


def _deeper_than(tree: Tree, most: int) -> bool:
    stack: list[tuple[Tree, int]] = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > most:
            return True
        stack += [(part, depth + 1) for part in node if isinstance(part, tuple)]
    return False


def _fraction(digits: str) -> Fraction:
    return Fraction(int(digits)) if digits.isdigit() else Fraction(digits)


#: After the last token. Not equal to the end of a matrix, whose value is a name.
_END = ("end", "")


class _Parser:
    """Recursive descent, one method a level of precedence."""

    def __init__(self, tokens: list[tuple[str, str, int]]) -> None:
        # Spaces matter between digits only ("1 1/4"); a flag on the following token remembers them.
        self.tokens: list[tuple[str, str]] = []
        self.spaced: list[bool] = []
        space = False
        for kind, value, _ in tokens:
            if kind == "space":
                space = True
                continue
            self.tokens.append((kind, value))
            self.spaced.append(space)
            space = False
        self.length = len(self.tokens)
        self.tokens += [_END] * 6  # looking ahead needs no check
        self.spaced += [False] * 6
        self.at = 0
        self.depth = 0
        self.bars = 0  # how many absolute values are open: the next bar closes one

    # -- helpers --------------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        return self.tokens[self.at + ahead]

    def next(self) -> tuple[str, str]:
        token = self.tokens[self.at]
        if token is not _END:
            self.at += 1
        return token

    def accept(self, *values: str) -> str | None:
        kind, value = self.tokens[self.at]
        if value in values and kind in ("op", "command", "brace", "word"):
            self.at += 1
            return value
        return None

    def expect(self, *values: str) -> str:
        found = self.accept(*values)
        if found is None:
            raise NotUnderstood(f"expected {' or '.join(values)}, found {self.peek()[1]!r}")
        return found

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotUnderstood("nested too deeply")

    # -- levels ---------------------------------------------------------------------------------------

    def answer(self) -> Tree:
        tree = self.items()
        if self.at < self.length:
            raise NotUnderstood(f"cannot read on at {self.peek()[1]!r}", latex=self.peek()[0] == "command")
        return tree

    def items(self) -> Tree:
        items = [self.relation()]
        joined = ","
        while True:
            if self.accept(",", ";"):
                joined = self.connector() or joined
            else:
                connector = self.connector()
                if connector is None:
                    break
                joined = connector
            if self.peek()[0] == "end":
                break
            items.append(self.relation())
        return items[0] if len(items) == 1 else ("list", tuple(items), joined)

    def connector(self) -> str | None:
        kind, value = self.peek()
        if kind in ("word", "text"):
            word = value.strip().strip(",").strip().lower()
            if word in _CONNECTORS:
                self.at += 1
                return word
        if kind == "command" and value in ("lor", "land", "vee", "wedge"):
            self.at += 1
            return "or" if value in ("lor", "vee") else "and"
        return None

    def relation(self) -> Tree:
        sides = [self.union()]
        operators = []
        while True:
            kind, value = self.tokens[self.at]
            if kind == "end":
                break
            if kind in ("op", "command") and value in _RELATIONS:
                self.at += 1
                operators.append(_RELATIONS[value])
                sides.append(self.union())
            elif kind == "command" and value == "in":
                self.at += 1
                return ("in", sides[-1], self.union())
            elif len(sides) == 1 and not operators and self.at_ratio():
                return self.ratio(sides[0])
            else:
                break
        return ("rel", tuple(operators), tuple(sides)) if operators else sides[0]

    def at_ratio(self) -> bool:
        kind, value = self.peek()
        return (kind == "op" and value == ":") or (kind in ("word", "text") and value.strip().lower() == "to")

    def ratio(self, first: Tree) -> Tree:
        """``3:4``, ``3 to 4``, and the time ``3:00 pm``."""
        parts = [first]
        clock = False
        while self.at_ratio():
            self.at += 1
            kind, value = self.peek()
            clock = clock or (kind == "num" and len(value) == 2 and value[0] == "0")
            parts.append(self.clock_part())
        kind, value = self.peek()
        half = value.strip().lower() if kind in ("word", "text") else ""
        if half in ("am", "pm"):
            self.at += 1
            return ("time", tuple(parts), half)
        return ("time", tuple(parts), "") if clock else ("tuple", ":", ":", tuple(parts))

    def clock_part(self) -> Tree:
        """A part of a ratio: the words *am* and *pm* after it are no factors of it."""
        kind, value = self.peek(1)
        if self.peek()[0] == "num" and kind in ("word", "text") and value.strip().lower() in ("am", "pm"):
            return self.primary()
        return self.union()

    def union(self) -> Tree:
        tree = self.sum()
        while self.tokens[self.at][0] == "command":
            if self.accept("cup"):
                tree = ("union", tree, self.sum())
            elif self.accept("cap"):
                tree = ("cap", tree, self.sum())
            elif self.accept("setminus", "backslash"):
                tree = ("minus", tree, self.sum())
            else:
                break
        return tree

    def sum(self) -> Tree:
        tree = self.signed_product()
        while True:
            kind, value = self.tokens[self.at]
            if kind == "op" and value == "+":
                self.at += 1
                tree = ("add", tree, self.signed_product())
            elif kind == "op" and value == "-":
                self.at += 1
                right = self.signed_product()
                without = tree == ("sym", "reals") and right[0] == "set"
                tree = ("minus", tree, right) if without else ("add", tree, ("neg", right))
            elif kind == "command" and value in ("pm", "mp"):
                self.at += 1
                tree = (value, tree, self.signed_product())
            else:
                return tree

    def signed_product(self) -> Tree:
        self.enter()
        try:
            kind, value = self.tokens[self.at]
            if kind == "op" and value == "-":
                self.at += 1
                return ("neg", self.signed_product())
            if kind == "op" and value == "+":
                self.at += 1
                return self.signed_product()
            if kind == "command" and value in ("pm", "mp"):
                self.at += 1
                return (value, ("num", Fraction(0), None), self.signed_product())
            return self.product()
        finally:
            self.depth -= 1

    def product(self) -> Tree:
        tree = self.power()
        while True:
            kind, value = self.tokens[self.at]
            if kind == "end":
                return tree
            if kind == "op" and value in ("*", "/"):
                self.at += 1
                tree = ("mul" if value == "*" else "div", tree, self.factor())
            elif kind == "command" and value in ("cdot", "times", "ast"):
                self.at += 1
                tree = ("mul", tree, self.factor())
            elif kind == "command" and value == "div":
                self.at += 1
                tree = ("div", tree, self.factor())
            elif self.starts_factor(kind, value):
                tree = self.juxtaposed(tree)
            else:
                return tree

    def factor(self) -> Tree:
        if self.accept("-"):
            return ("neg", self.factor())
        return self.power()

    def starts_factor(self, kind: str, value: str) -> bool:
        if kind in ("num", "begin"):
            return True
        if kind in ("word", "text"):
            word = value.strip().strip(",").strip().lower()
            return word not in _CONNECTORS and word != "to"
        if kind == "op":
            return value in "([{" or (value == "|" and not self.bars)
        if kind == "brace":
            return value == r"\{"
        return kind == "command" and (
            value in _FUNCTIONS
            or value in _GREEK
            or value in _CURRENCIES
            or value in ("frac", "pi", "infty", "binom", "dbinom", "tbinom", "lfloor", "lceil", "circ", "i", "lvert")
        )

    def juxtaposed(self, left: Tree) -> Tree:
        """What stands right after a factor: a mixed number's fraction, a unit, or a factor."""
        kind, value = self.peek()
        if kind == "command" and value in _CURRENCIES and self.peek(1)[0] == "end":
            self.at += 1
            return ("unit", left, value)
        if kind in ("text", "word"):
            scale = self.scale()
            if scale is not None:
                return ("mul", left, ("num", scale, None))
            unit = self.unit()
            if unit is not None:
                return ("percent", left) if unit == "%" else ("unit", left, unit)
        if left[0] == "unit" and kind == "num":
            raise NotUnderstood("a number after a unit")  # 5 feet 3 inches
        spaced = self.spaced[self.at]
        if left[0] == "num" and left[2] is None and kind == "num" and spaced:
            # "1 1/4"
            part = self.power()
            if part[0] == "num" and part[2] is None and self.accept("/"):
                below = self.power()
                if below[0] == "num" and below[1] != 0 and part[1] < below[1]:
                    return ("add", left, ("div", part, below))
            raise NotUnderstood("two numbers side by side")
        right = self.power()
        if (
            left[0] == "num"
            and left[2] is None
            and right[0] == "div"
            and right[1][0] == "num"
            and right[2][0] == "num"
            and (kind, value) == ("command", "frac")
            and 0 < right[1][1] < right[2][1]
        ):
            return ("add", left, right)  # 2\frac{1}{2} is two and a half
        if left[0] == "num" and right[0] == "percent" and right[1][0] == "div" and value == "frac":
            return ("percent", ("add", left, right[1]))  # 12\frac{1}{2}\%
        if left[0] == "num" and right[0] == "num":
            raise NotUnderstood("two numbers side by side")
        if right[0] == "matrix":  # a factor before a matrix belongs to every entry
            return ("matrix", tuple(tuple(("mul", left, entry) for entry in row) for row in right[1]))
        return ("mul", left, right)

    def scale(self) -> Fraction | None:
        """``million`` and the like, consumed."""
        kind, value = self.peek()
        first, _, rest = value.strip().partition(" ")
        worth = SCALES.get(first.lower())
        if worth is None:
            return None
        if rest:
            self.tokens[self.at] = (kind, rest)
        else:
            self.at += 1
        return Fraction(worth)

    def unit(self) -> str | None:
        """The unit that the following words name, consumed; ``None`` (nothing consumed) where they name none."""
        kind, value = self.peek()
        if kind == "word" and not self.may_be_bare_unit(value):
            return None
        start = self.at
        words = ""
        while True:
            kind, value = self.peek()
            if kind in ("word", "text") and value.strip().strip(",").lower() not in _CONNECTORS:
                words += " " + value
                self.at += 1
            elif (kind, value) == ("op", "/") and self.peek(1)[0] in ("word", "text"):
                words += "/"
                self.at += 1
            elif (kind, value) in (("command", "cdot"), ("command", "times")) and self.peek(1)[0] == "text":
                self.at += 1
            elif (kind, value) == ("op", "^"):
                length, power = self.unit_power()
                if not length:
                    break
                words += "^" + power
                self.at += length
            else:
                break
        unit = unit_of(words)
        if unit is None:
            self.at = start
        return unit

    def may_be_bare_unit(self, word: str) -> bool:
        """Whether letters without ``\\text`` may be a unit rather than a product of variables."""
        if len(word) == 1 or (word in ("in", "min", "sec") and self.peek(1)[0] != "end"):
            return False
        if word in _NEED_SPACE:
            return self.spaced[self.at]
        if len(word) > 3:
            return word not in _FUNCTIONS and word.lower() not in NOT_UNITS and not _RUN_TOGETHER.fullmatch(word)
        return unit_of(word, known=True) is not None

    def unit_power(self) -> tuple[int, str]:
        """How many tokens an exponent after a unit takes, and what it says."""
        ahead = 1
        braces = self.peek(ahead) == ("op", "{")
        ahead += braces
        sign = ""
        if self.peek(ahead) == ("op", "-"):
            sign = "-"
            ahead += 1
        kind, value = self.peek(ahead)
        if kind != "num" or value not in ("1", "2", "3", "4"):
            return 0, ""
        ahead += 1
        if braces:
            if self.peek(ahead) != ("op", "}"):
                return 0, ""
            ahead += 1
        return ahead, sign + value

    def power(self) -> Tree:
        tree = self.postfix()
        if self.tokens[self.at][0] == "op" and self.accept("^", "**"):
            if self.accept("circ"):
                return ("unit", tree, self.degree())
            if self.peek() == ("op", "{") and self.peek(1) == ("command", "circ") and self.peek(2) == ("op", "}"):
                self.at += 3
                return ("unit", tree, self.degree())
            exponent = self.exponent()
            if exponent in (("sym", "T"), ("sym", "top")) and tree[0] in ("tuple", "matrix"):
                return tree if tree[0] == "tuple" else ("matrix", tuple(zip(*tree[1], strict=True)))
            return ("pow", tree, exponent)
        return tree

    def degree(self) -> str:
        """The degree sign has been read: of an angle, or of Celsius or Fahrenheit."""
        kind, value = self.peek()
        if kind in ("word", "text") and value.strip() in ("C", "F"):
            self.at += 1
            return f"~degree {value.strip()}"
        return "degree"

    def exponent(self) -> Tree:
        """One token, as LaTeX has it, or a braced group; powers are right associative."""
        self.enter()
        try:
            if self.accept("-"):
                return ("neg", self.exponent())
            if self.peek()[0] == "num" and len(self.peek()[1]) > 1:
                tree = self.primary()
            elif self.peek()[0] == "word":
                tree = self.symbol_of_word()
            else:
                tree = self.primary()
            if self.accept("^", "**"):
                tree = ("pow", tree, self.exponent())
            return tree
        finally:
            self.depth -= 1

    def postfix(self) -> Tree:
        tree = self.primary()
        while True:
            kind, value = self.tokens[self.at]
            if kind != "op":
                return tree
            if value == "!":
                self.at += 1
                double = self.accept("!")
                tree = ("fn", "double_factorial" if double else "factorial", tree)
            elif value == "%":
                self.at += 1
                tree = ("percent", tree)
            elif value == "_" and tree[0] == "num":
                self.at += 1
                base = self.exponent_group()
                if base[0] != "num":
                    raise NotUnderstood("a base must be a number")
                tree = ("base", self.digits_before(), base[1])
            else:
                return tree

    def exponent_group(self) -> Tree:
        if self.accept("{"):
            tree = self.items()
            self.expect("}")
            return tree
        return self.primary()

    def digits_before(self) -> str:
        """The digits of the number whose base has just been read."""
        position = self.at - 1
        while self.tokens[position] != ("op", "_"):
            position -= 1
        return self.tokens[position - 1][1]

    # -- what stands alone ----------------------------------------------------------------------------

    def primary(self) -> Tree:
        self.enter()
        try:
            kind, value = self.next()
            if kind == "num":
                digits = len(value.partition(".")[2]) if "." in value else None
                return ("num", _fraction(value), digits)
            if kind == "word":
                self.at -= 1
                return self.symbol_of_word()
            if kind == "text":
                return self.words(value)
            if kind == "op":
                return self.bracket(value)
            if kind == "brace" and value == r"\{":
                return self.braces()
            if kind == "brace" and value == r"\|":
                raise NotUnderstood("a norm", latex=True)
            if kind == "begin":
                return self.matrix()
            if kind == "command":
                return self.command(value)
            raise NotUnderstood(f"unexpected {value!r}" if value else "unexpected end")
        finally:
            self.depth -= 1

    def words(self, text: str) -> Tree:
        stripped = text.strip()
        if re.fullmatch(r"-?\d+(\.\d+)?", stripped):
            digits = len(stripped.partition(".")[2]) if "." in stripped else None
            return ("num", Fraction(stripped), digits)
        if len(stripped) == 1 and stripped.isalpha():
            return ("sym", stripped)
        return ("text", stripped)

    def symbol_of_word(self) -> Tree:
        """A run of letters: a function, a constant's name, or a product of one-letter variables."""
        _, word = self.next()
        if word == "sqrt" and self.peek()[0] == "num":  # √12: outside LaTeX the root is of the whole number
            return ("fn", "root", self.primary(), ("num", Fraction(2), None))
        if word in _FUNCTIONS:
            return self.function(word)
        lower = word.lower()
        if lower in ("pi", "infinity", "inf", "oo"):
            return ("sym", "pi" if lower == "pi" else "oo")
        run_together = _RUN_TOGETHER.fullmatch(word)
        if run_together is not None:  # sinx
            self.at -= 1
            self.tokens[self.at] = ("word", run_together[2])
            return self.function(run_together[1])
        if len(word) > 3 and not (word.isupper() and len(word) <= 6):
            if self.peek() == ("op", "="):
                return ("text", word)  # Area = 5
            raise NotUnderstood("words")
        tree: Tree = self.subscripted(word[0]) if len(word) == 1 else ("sym", word[0])
        for position, letter in enumerate(word[1:], 1):
            last = position == len(word) - 1
            right = self.subscripted(letter) if last else ("sym", letter)
            if last and self.peek() == ("op", "^"):
                # x y^2 written xy^2: the power belongs to the last letter
                self.at += 1
                right = ("pow", right, self.exponent())
            tree = ("mul", tree, right)
        return tree

    def subscripted(self, name: str) -> Tree:
        if self.peek() == ("op", "_"):
            self.at += 1
            if self.accept("{"):
                parts = []
                while self.peek() != ("op", "}"):
                    kind, value = self.next()
                    if kind == "end":
                        raise NotUnderstood("unfinished subscript")
                    parts.append(value)
                self.at += 1
                return ("sym", f"{name}_{''.join(parts)}")
            return ("sym", f"{name}_{self.next()[1]}")
        if self.peek() == ("op", "'"):
            while self.accept("'"):
                name += "'"
            return ("sym", name)
        return ("sym", name)

    def bracket(self, opening: str) -> Tree:
        if opening == "{":
            tree = self.items()
            self.expect("}")
            return tree
        if opening == "|":
            self.bars += 1
            tree = self.items()
            self.expect("|", "mid", "vert")
            self.bars -= 1
            return ("fn", "abs", tree)
        if opening in "([":
            if self.peek()[1] in (")", "]"):
                self.at += 1
                return ("tuple", opening, ")", ())
            bars, self.bars = self.bars, 0
            inside = self.items()
            closing = self.expect(")", "]")
            self.bars = bars
            if inside[0] == "list":
                return ("tuple", opening, closing, inside[1])
            if (opening, closing) in (("(", ")"), ("[", "]")):
                return inside
            raise NotUnderstood("brackets that do not match")
        if opening == "%":
            raise NotUnderstood("a percent sign without a number")
        raise NotUnderstood(f"unexpected {opening!r}")

    def braces(self) -> Tree:
        if self.peek() == ("brace", r"\}"):
            self.at += 1
            return ("set", ())
        condition = self.set_condition()
        if condition is not None:
            return condition
        inside = self.items()
        if self.peek() != ("brace", r"\}"):
            raise NotUnderstood("a set by a condition", latex=True)
        self.at += 1
        return ("set", inside[1] if inside[0] == "list" else (inside,))

    def set_condition(self) -> Tree | None:
        """The condition of ``{x | x > 3}``, of ``{x in R : x > 3}``; ``None`` where the set lists its elements."""
        ahead = 1
        if self.peek(1) == ("command", "in"):
            ahead = 3
            if self.peek(2) != ("command", "Re"):
                return None
        if self.peek()[0] != "word" or self.peek(ahead)[1] not in ("|", ":", "mid", "vert"):
            return None
        self.at += ahead + 1
        tree = self.items()
        if tree[0] not in ("rel", "in", "list") or self.peek() != ("brace", r"\}"):
            raise NotUnderstood("a set by a condition", latex=True)
        self.at += 1
        return ("list", tree[1], "or" if tree[2] == "or" else "and") if tree[0] == "list" else tree

    def matrix(self) -> Tree:
        rows: list[list[Tree]] = [[]]
        while True:
            kind, _ = self.peek()
            if kind == "end" and self.at < self.length:
                self.at += 1
                break
            if kind == "row":
                self.at += 1
                rows.append([])
            elif self.peek() == ("op", "&"):
                self.at += 1
            elif self.at >= self.length:
                raise NotUnderstood("unfinished matrix")
            elif self.peek() == ("command", "hline"):
                self.at += 1
            else:
                rows[-1].append(self.sum())
        rows = [row for row in rows if row]
        if not rows or len({len(row) for row in rows}) != 1:
            raise NotUnderstood("a ragged matrix")
        return ("matrix", tuple(tuple(row) for row in rows))

    def argument(self) -> Tree:
        """A braced group, or the one digit or token that LaTeX takes without braces (``\\frac12``)."""
        if self.accept("{"):
            tree = self.items()
            self.expect("}")
            return tree
        kind, value = self.peek()
        if kind == "num" and len(value) > 1 and value.isdigit():
            # \frac12: take one digit and leave the rest
            self.tokens[self.at] = ("num", value[1:])
            self.spaced[self.at] = False
            return ("num", Fraction(value[0]), None)
        if kind == "word" and len(value) > 1:
            self.tokens[self.at] = ("word", value[1:])
            return ("sym", value[0])
        return self.primary()

    def command(self, name: str) -> Tree:
        if name == "frac":
            above = self.argument()
            return ("div", above, self.argument())
        if name in _FUNCTIONS:
            return self.function(name)
        if name == "pi":
            return ("sym", "pi")
        if name == "infty":
            return ("sym", "oo")
        if name == "i" or name == "imath":
            return ("sym", "i")
        if name in ("emptyset", "varnothing"):
            return ("set", ())
        if name in _GREEK:
            return self.subscripted(_SAME_LETTER.get(name, name))
        if name == "top":
            return ("sym", "top")
        if name in ("ldots", "dots", "cdots"):
            return ("sym", "...")
        if name in ("binom", "dbinom", "tbinom"):
            above = self.argument()
            return ("fn", "binom", above, self.argument())
        if name in ("lfloor", "lceil", "lvert"):
            inside = self.sum()
            self.expect({"lfloor": "rfloor", "lceil": "rceil", "lvert": "rvert"}[name])
            return ("fn", {"lfloor": "floor", "lceil": "ceil", "lvert": "abs"}[name], inside)
        if name in _CURRENCIES:
            negative = self.accept("-")
            amount = self.power()
            if self.peek()[0] in ("word", "text"):
                scale = self.scale()
                if scale is not None:
                    amount = ("mul", amount, ("num", scale, None))
            return ("unit", ("neg", amount) if negative else amount, name)
        if name == "circ":
            raise NotUnderstood("a degree sign without a number")
        if name in ("mid", "vert"):
            return self.bracket("|")
        if name == "Re":
            return ("sym", "reals")
        known = name in _RELATIONS or name in _OPERATORS
        raise NotUnderstood(f"{'misplaced' if known else 'unknown'} command \\{name}", latex=not known)

    def function(self, name: str) -> Tree:
        if name == "sqrt":
            index = None
            if self.accept("["):
                index = self.sum()
                self.expect("]")
            inside = self.argument()
            return ("fn", "root", inside, index or ("num", Fraction(2), None))
        exponent = base = None
        for _ in range(2):
            if self.accept("^"):
                exponent = self.exponent()
            elif name in ("log", "lg") and self.accept("_"):
                base = self.argument()
        if self.peek() in (("op", "("), ("op", "{"), ("op", "[")):
            inside = self.bracket(self.next()[1])
        else:
            inside = self.function_argument()
        if name in _TRIGONOMETRIC:
            inside = _in_radians(inside)
        if name in ("max", "min", "gcd", "lcm"):
            raise NotUnderstood(f"{name} of several", latex=True)
        if name == "lg":
            base = base or ("num", Fraction(10), None)
        tree: Tree = ("fn", name, inside) if base is None else ("fn", "log", inside, base)
        if exponent is None:
            return tree
        if exponent == ("neg", ("num", Fraction(1), None)) and name in ("sin", "cos", "tan"):
            return ("fn", "arc" + name, inside)
        return ("pow", tree, exponent)

    def function_argument(self) -> Tree:
        """Without brackets a function takes the product that follows: ``\\sin 2x``."""
        tree = self.power()
        while True:
            kind, value = self.peek()
            if (kind in ("num", "word") and value not in _FUNCTIONS and value.lower() not in _CONNECTORS) or (
                kind == "command" and (value in _GREEK or value == "pi" or value == "frac")
            ):
                if kind == "word" and len(value) > 3:
                    return tree
                tree = ("mul", tree, self.power())
            else:
                return tree


_RADIANS_A_DEGREE = ("div", ("sym", "pi"), ("num", Fraction(180), None))


def _in_radians(tree: Tree) -> Tree:
    """Degrees inside a trigonometric function turned into radians."""
    if tree[0] == "unit" and tree[2] == "degree":
        return ("mul", tree[1], _RADIANS_A_DEGREE)
    if tree[0] in ("add", "mul", "div", "neg"):
        return (tree[0], *(_in_radians(part) for part in tree[1:]))
    return tree
