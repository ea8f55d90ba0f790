"""The same formula without what only changes its looks: spacing, sizes, fonts, Unicode spellings, digit grouping."""

from __future__ import annotations

import re
import unicodedata

_UNICODE = str.maketrans(
    {
        "−": "-",
        "–": "-",
        "×": r"\times ",
        "·": r"\cdot ",
        "⋅": r"\cdot ",
        "÷": r"\div ",
        "π": r"\pi ",
        "θ": r"\theta ",
        "∞": r"\infty ",
        "≤": r"\le ",
        "≥": r"\ge ",
        "≠": r"\ne ",
        "∪": r"\cup ",
        "∩": r"\cap ",
        "∈": r"\in ",
        "±": r"\pm ",
        "∅": r"\emptyset ",
        "°": r"^\circ ",
        "≈": r"\approx ",
        "√": " sqrt ",
        "⟨": r"\langle ",
        "⟩": r"\rangle ",
        "ℝ": r"\Re ",
        "…": r"\ldots ",
        "′": "'",
        "’": "'",
        "∣": "|",
        "€": r"\euro ",
        "£": r"\pound ",
        "¥": r"\yen ",
        "¢": r"\text{cents}",
        "⅓": r"\frac{1}{3}",
        "⅔": r"\frac{2}{3}",
        "⅕": r"\frac{1}{5}",
        "⅙": r"\frac{1}{6}",
        "⅛": r"\frac{1}{8}",
        "—": "-",
        "‐": "-",
        "‑": "-",
        "½": r"\frac{1}{2}",
        "¼": r"\frac{1}{4}",
        "¾": r"\frac{3}{4}",
        "\u00a0": " ",
        "\u200b": "",
        "“": '"',
        "”": '"',
        **{
            letter: rf"\{name} "
            for letter, name in zip(
                "αβγδεζηικλμνξρστφχψωΓΔΘΛΞΣΦΨΩ",
                [
                    "alpha",
                    "beta",
                    "gamma",
                    "delta",
                    "epsilon",
                    "zeta",
                    "eta",
                    "iota",
                    "kappa",
                    "lambda",
                    "mu",
                    "nu",
                    "xi",
                    "rho",
                    "sigma",
                    "tau",
                    "phi",
                    "chi",
                    "psi",
                    "omega",
                    "Gamma",
                    "Delta",
                    "Theta",
                    "Lambda",
                    "Xi",
                    "Sigma",
                    "Phi",
                    "Psi",
                    "Omega",
                ],
                strict=True,
            )
        },
    }
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")

#: Commands that change how a formula looks and not what it says.
_COSMETIC = re.compile(
    r"\\(?:displaystyle|textstyle|scriptstyle|limits|nolimits|quad|qquad|hspace\{[^}]*\}|hfill|newline|boldsymbol|mathbf"
    r"|vec|hat|overrightarrow|angle|measuredangle|triangle|mathbb|mathcal|mathit|bf|it|rm|bigl?|Bigl?|biggl?|Biggl?|bigr|Bigr|biggr|Biggr|middle|phantom\{[^}]*\}"
    r"|color\{[^}]*\}|underline|overline(?=\{?[A-Z]))(?![A-Za-z])"
)
_SPACES = re.compile(r"(?<!\\)\\[,;:> ]|~|\\enspace|\\thinspace")
_EXPLICIT_THOUSANDS = re.compile(r"(?<=\d)(?:,\\!|\{,\}|\\,|\\!)(?=\d{3}(?!\d))")
_WHOLLY_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mbox)\s*\{([^{}]*\d[^{}]*)\}")
_SPACED_THOUSANDS = re.compile(r"-?\d{1,3}(?: \d{3})+(?:\.\d+)?")
_CLOSING = re.compile(r"(?<!\\)\\\](?!\[)")
_SIZED = re.compile(r"\\(?:left|right)(?![a-z])\s*\.?")
_FRACTION_STYLE = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_PREAMBLE_WORDS = r"\s*(?:so\s+)?(?:the\s+)?(?:final\s+)?answer(?:\s+is\s*:?|\s*[:=])\s*"
_PREAMBLE = re.compile(rf"\\text(?:bf|rm)?\{{{_PREAMBLE_WORDS}\}}\s*|{_PREAMBLE_WORDS}", re.IGNORECASE)
_EMPTY_TEXT = re.compile(r"\\text(?:bf|rm)?\{[\s.,;:]*\}")
_REPEATING = re.compile(r"(\d*)\.(\d*)\\(?:overline|bar|dot)\s*(?:\{(\d{1,30})\}|(\d))")
_DOTS = r"(?:\s*\\(?:ldots|dots|cdots)(?![A-Za-z])|\s*\.\.\.+)"
_REPEATED = re.compile(rf"(\d*)\.(\d*?)(?:(\d)\3\3+|(\d{{2,15}}?)\4+){_DOTS}")
_CUT_OFF = re.compile(rf"(\d+\.\d+){_DOTS}")
_SCIENTIFIC = re.compile(r"(?<![A-Za-z\d.\\_{])(\d+(?:\.\d+)?)([eE])([+-]?)(\d+)(?!\w|\.\d)")
_MODULO = re.compile(
    r"\(?\s*\\(?:pmod|bmod|mod)\s*(?:\{\s*(\w+)\s*\}|(\w+))\s*\)?|\(\\(?:text|mathrm)\{\s*mod\s*\}\s*(\w+)\s*\)"
)
_HALF_DAY = re.compile(r"(?<![A-Za-z])([apAP])\.?\s?[mM](?![A-Za-z])\.?")
_CHOOSE = re.compile(r"\{([^{}]*)\\choose(?![A-Za-z])([^{}]*)\}")
_REALS = re.compile(r"\\mathbb\s*(?:\{\s*R\s*\}|R)|\\(?:R|Reals|real|reals)(?![A-Za-z])")


def _fraction_of_repeating(whole: str, before: str, period: str) -> str:
    below = (10 ** len(period) - 1) * 10 ** len(before)
    above = int((whole + before + period) or 0) - int((whole + before) or 0)
    return rf"\frac{{{above}}}{{{below}}}"


def _scientific(match: re.Match[str]) -> str:
    mantissa, letter, sign, exponent = match.groups()
    if letter == "e" and sign and len(exponent) == 1 and "." not in mantissa:
        return match[0]  # 2e-1 is twice e, less one
    return rf"{{{mantissa} \times 10^{{{sign.replace('+', '')}{exponent}}}}}"


def _plain(text: str) -> str:
    """Letters and signs beyond ASCII written as LaTeX writes them."""
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+", lambda m: f"^{{{m[0].translate(_SUPERSCRIPTS)}}}", text)
    text = re.sub(r"[₀₁₂₃₄₅₆₇₈₉]+", lambda m: f"_{{{m[0].translate(_SUBSCRIPTS)}}}", text)
    return unicodedata.normalize("NFKC", text.translate(_UNICODE))


def normalise(text: str) -> str:
    """The same formula without what only changes its looks."""
    text = text.strip()
    if not text.isascii():
        text = _plain(text)
    if text.startswith("$") and text.endswith("$") and len(text) > 1:
        text = text.strip("$")
    if "\\" in text:
        whole = _WHOLLY_TEXT.fullmatch(text.strip())
        if whole is not None:
            text = whole[1]
        if "text" in text:
            text = text.replace(r"\text{\$}", r"\$").replace(r"\text{:}", ":")
            text = _EMPTY_TEXT.sub(" ", text)
        text = text.replace(r"\$", "\\dollar ").replace("\\(", "").replace("\\)", "").replace("\\[", "")
        if "\\]" in text:
            text = _CLOSING.sub("", text)
        text = _EXPLICIT_THOUSANDS.sub("", text)
        text = text.replace(r"\!", "")
        text = _SPACES.sub(" ", text)
        if "\\mathbb" in text or "\\R" in text or "\\r" in text:
            text = _REALS.sub(r"\\Re ", text)
        if "\\overline" in text or "\\bar" in text or "\\dot" in text:
            text = _REPEATING.sub(lambda m: _fraction_of_repeating(m[1], m[2], m[3] or m[4]), text)
        text = _COSMETIC.sub("", text)
        if "\\left" in text or "\\right" in text:
            text = _SIZED.sub("", text)
        if "frac" in text:
            text = _FRACTION_STYLE.sub(r"\\frac", text)
        text = text.replace(r"\%", "%")
        if "\\langle" in text:
            text = text.replace("\\langle", "(").replace("\\rangle", ")")
        if "choose" in text:
            text = _CHOOSE.sub(r"\\binom{\1}{\2}", text)
        if "mod" in text:
            text = _MODULO.sub(lambda m: rf"\text{{modulo {m[1] or m[2] or m[3]}}}", text)
        text = text.strip()
        if text.startswith("\\approx"):
            text = text[len("\\approx") :]
    else:
        text = _EXPLICIT_THOUSANDS.sub("", text)
    if "." in text and ("..." in text or "dots" in text):
        text = _REPEATED.sub(lambda m: _fraction_of_repeating(m[1], m[2], m[3] or m[4]), text)
        text = _CUT_OFF.sub(r"\1", text)
    if "..." in text:
        text = re.sub(r"\.\.\.+", r"\\ldots ", text)
    if "answer" in text or "Answer" in text:
        text = _PREAMBLE.sub("", text, count=1) if _PREAMBLE.match(text) else text
    if "e" in text or "E" in text:
        text = _SCIENTIFIC.sub(_scientific, text)
    if "{:}" in text:
        text = text.replace("{:}", ":")
    if ":" in text:
        text = _HALF_DAY.sub(lambda m: f"{m[1].lower()}m", text)
    if " " in text and _SPACED_THOUSANDS.fullmatch(text.strip(" .")):
        text = text.replace(" ", "")
    if "$" in text:
        # a dollar sign next to a number is a unit; around the formula it was markup
        text = re.sub(r"\$\s*(?=-?[\d.])", r"\\dollar ", text)
        text = re.sub(r"(?<=\d)\s*\$$", r"\\dollar ", text).replace("$", "")
    while text and text[-1] in ".,;:?! \n\t":
        if text[-1] == "!":
            before = text.rstrip("!")
            if before and (before[-1].isalnum() or before[-1] in ")}]"):
                break  # a factorial
        text = text[:-1]
    return text.strip()
