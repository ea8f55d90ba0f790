"""Units of measurement and the words that stand after a number."""

from __future__ import annotations

import re

#: Unit words by every common spelling. One-letter units are units only inside ``\\text{}``.
_SPELLINGS = {
    "mm": "mm millimeter millimeters millimetre millimetres",
    "cm": "cm centimeter centimeters centimetre centimetres",
    "m": "m meter meters metre metres",
    "km": "km kilometer kilometers kilometre kilometres",
    "inch": "in inch inches",
    "ft": "ft foot feet",
    "yd": "yd yard yards",
    "mile": "mi mile miles",
    "mg": "mg milligram milligrams",
    "g": "g gram grams",
    "kg": "kg kilogram kilograms",
    "lb": "lb lbs pound pounds",
    "oz": "oz ounce ounces",
    "s": "s sec secs second seconds",
    "min": "min minute minutes mins",
    "h": "h hr hrs hour hours",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years yr yrs",
    "l": "L l liter liters litre litres",
    "ml": "mL ml milliliter milliliters",
    "gallon": "gallon gallons gal",
    "degree": "degree degrees deg",
    "radian": "rad radian radians",
    "dollar": "dollar dollars USD usd buck bucks",
    "euro": "euro euros EUR",
    "cent": "cent cents",
    "unit": "unit units",
    "%": "percent pct",
    "people": "people persons person",
    "n": "N newton newtons",
    "j": "J joule joules",
    "w": "W watt watts",
    "k": "K kelvin kelvins",
    "v": "V volt volts",
    "pa": "Pa pascal pascals",
    "mol": "mol mole moles",
    "hz": "Hz hertz",
}
UNITS = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_COMPOUND = {"mph": "mile/h", "kph": "km/h", "kmh": "km/h"}

#: Words that multiply the number before them.
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}

#: With one of these, words after a number change what is said: "5 or more", "5 if x > 0", "5 less than y".
NOT_UNITS = {
    *("if", "or", "and", "when", "for", "where", "than", "not", "no", "with", "mod", "less", "more", "least", "most"),
    *("to", "else", "otherwise", "but", "except", "unless", "is", "are", "plus", "minus", "times", "divided"),
    *("infinity", "inf", "base", "power", "only", "about", "approximately"),
}

_PART = re.compile(r"([A-Za-z%$]+)(?:\^\{?(-?\d+)\}?)?|([/*]|\^)")


def unit_of(words: str, *, known: bool = False) -> str | None:
    """The canonical unit that words name: ``"m s^-2"`` for ``meters per second squared``, ``m/s^2`` and the like.

    Words that are no unit of measurement ("apples", "people in the room") come back in the singular after a ``~``.
    ``None``: not a unit, because a word changes what the number says ("or more") or it is no word at all.

    Args:
        known: only units of measurement.
    """
    words = words.replace(",", " ").strip().rstrip(".")
    compound = _COMPOUND.get(words.lower())
    measured = _measured(compound or words)
    if measured is not None or known:
        return measured
    plain = words.replace("-", " ").split()
    if not plain or not all(re.fullmatch(r"[A-Za-z][A-Za-z'.]*|modulo|\w+", word) for word in plain):
        return None
    if plain[0].lower() == "modulo":
        return "modulo " + " ".join(plain[1:])
    if not all(word.replace("'", "").replace(".", "").isalpha() for word in plain):
        return None
    if any(word.lower() in NOT_UNITS for word in plain) or (len(plain) == 1 and len(plain[0]) < 3):
        return None
    return "~" + " ".join(UNITS.get(word) or _singular(word.lower()) for word in plain)


def _measured(words: str) -> str | None:
    powers: dict[str, int] = {}
    sign, pending, last = 1, 0, ""
    position = 0
    words = re.sub(r"\bper\b", "/", words)
    while position < len(words):
        if words[position] in " .(){}":
            position += 1
            continue
        match = _PART.match(words, position)
        if match is None:
            return None
        position = match.end()
        name, power, sign_mark = match.groups()
        if sign_mark is not None:
            if sign_mark == "/":
                sign = -1
            elif sign_mark == "^":
                return None
            continue
        lower = name.lower()
        if lower in ("square", "sq", "cubic", "cu"):
            pending = 2 if lower.startswith("sq") else 3
            continue
        if lower in ("squared", "cubed") and last:
            powers[last] *= 2 if lower == "squared" else 3
            continue
        unit = UNITS.get(name) or (UNITS.get(lower) if len(name) > 1 else None)
        if unit is None:
            return None
        powers[unit] = powers.get(unit, 0) + sign * (int(power) if power else pending or 1)
        pending, last = 0, unit
    if not powers or pending:
        return None
    return " ".join(f"{unit}^{power}" if power != 1 else unit for unit, power in sorted(powers.items()))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def agree(a: str, b: str) -> bool:
    """Whether two units are the same; "years old" and "years" are, and so are currencies' names and signs."""
    if a == b:
        return True
    if a.startswith("~") or b.startswith("~"):
        first, second = a.removeprefix("~").split(), b.removeprefix("~").split()
        shorter = min(len(first), len(second))
        return first[:shorter] == second[:shorter]
    return False
