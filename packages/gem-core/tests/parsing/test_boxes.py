"""Boxes of every spelling, complete and not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from gem.parsing import boxes, last_boxed, strip_think


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"We get $\boxed{\frac{3}{4}}$.", r"\frac{3}{4}"),
        ("so \\boxed{840}, let me explain.\n\n**Final Answer**\n\\boxed{840}", "840"),
        (r"First \boxed{3} ... wait, it is \boxed{5}.", "5"),
        (r"\boxed {7}", "7"),
        ("\\boxed\n {7}", "7"),
        (r"\boxed 7", "7"),
        (r"it is \boxed -12.5.", "-12.5"),
        (r"\boxed7", "7"),
        (r"\boxed\frac{1}{2}", r"\frac{1}{2}"),
        (r"\boxed C", "C"),
        (r"\fbox{7}", "7"),
        (r"\boxed{3} or \fbox{9}", "9"),
        (r"\fbox{9} or \boxed{3}", "3"),
        (r"\boxed{5} so \boxed{6", "5"),
        (r"\boxed{5} so \boxed{\boxed{6", "5"),
        (r"\boxed{5} so \boxed{\frac{6}{7}", "5"),
        (r"\boxed{a \boxed{b} c}", "b"),
        (r"\boxed{a \boxed b}", r"a \boxed b"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed{\{}", r"\{"),
        (r"\boxed{[0, \infty\}}", r"[0, \infty\}"),
        (r"\boxed{a \\{b}}", r"a \\{b}"),
        (r"\boxed{7} \)", "7"),
        (r"\boxed{}", ""),
        ("\\boxed{two\nlines}", "two\nlines"),
    ],
)
def test_last_box(text: str, content: str) -> None:
    assert last_boxed(text) == content


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        r"\boxed",
        r"\boxed{\frac{1}{2}",
        r"I put it in \boxed format, as asked",
        r"\boxedx{3}",
        r"\boxedA",
        r"\boxed{7\}",
        r"boxed{7}",
        "{" * 1000,
    ],
)
def test_no_box(text: str) -> None:
    assert last_boxed(text) is None


def test_a_guess_while_thinking_is_the_callers_decision() -> None:
    text = r"<think>maybe \boxed{7}</think> I am not sure."
    assert last_boxed(text) == "7"
    assert last_boxed(strip_think(text)) is None
    assert last_boxed(strip_think(r"<think>\boxed{3}</think> \boxed{7}")) == "7"


def balanced(depth: int = 3) -> st.SearchStrategy[str]:
    plain = st.text(st.characters(exclude_characters="{}\\"), max_size=8)
    if depth == 0:
        return plain
    inner = balanced(depth - 1).map(lambda s: "{" + s + "}")
    return st.lists(st.one_of(plain, inner, st.sampled_from([r"\{", r"\}", r"\\", r"\frac"])), max_size=4).map("".join)


@given(st.text(), balanced(), st.text(st.characters(exclude_characters="\\")))
def test_whatever_is_boxed_comes_back(before: str, content: str, after: str) -> None:
    assert last_boxed(before + "\\boxed{" + content + "}" + after) == content


def plainly(text: str) -> str | None:
    """The same as ``last_boxed`` for boxes with braces, one character after the other, in quadratic time."""
    for box in reversed(list(re.finditer(r"\\(?:boxed|fbox)\s*\{", text))):
        depth, position = 1, box.end()
        while position < len(text):
            if text[position] == "\\":
                position += 2
                continue
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            if depth == 0:
                return text[box.end() : position]
            position += 1
    return None


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from([r"\boxed{", r"\boxed {", r"\fbox{", "{", "}", "}", r"\{", r"\}", "\\", " ", "a", r"\frac"]),
        max_size=14,
    ).map("".join)
)
@example(r"\boxed{a}\fbox{\}\boxed{")
def test_every_path_agrees_with_the_plain_reading(text: str) -> None:
    assert last_boxed(text) == plainly(text)


def test_degenerate_boxes() -> None:
    assert last_boxed("\\boxed{7}" * 20_000) == "7"
    nested = "(" * 400 + "1" + ")" * 400
    assert last_boxed("\\boxed{ " + nested + " }") == f" {nested} "
    assert last_boxed("{" * 2_000_000) is None
    assert last_boxed("\\boxed{" * 20_000 + "7" + "}" * 10_000) == "7"
    assert last_boxed("\\boxed{" + "{" * 500_000 + "}" * 400_000) is None
    assert last_boxed("\\boxed{3}" + "\\boxed{" * 100_000) == "3"


class Watched(str):
    """A text that counts the characters that searches pass over."""

    passed = 0

    def find(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        end = len(self) if end is None else end
        found = super().find(sub, start, end)
        self.passed += (end if found < 0 else found) - start
        return found

    def rfind(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        end = len(self) if end is None else end
        found = super().rfind(sub, start, end)
        self.passed += end - max(start, found)
        return found


class WatchedBraces:
    """The pattern that walks through braces, which counts them too."""

    def __init__(self, text: Watched) -> None:
        self.text = text

    def finditer(self, *where: Any) -> Any:
        for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(*where):
            self.text.passed += 1
            yield match


@pytest.mark.parametrize(
    "unit",
    [
        "\\boxed{",
        "\\boxed{}}",
        "\\boxed {",
        "\\boxed{{}",
        "\\boxed{\\{}",
        "\\fbox{\\boxed{ ",
        "\\boxed ",
        "\\boxed\\frac{",
        "{",
        "\\fbox{7\\}",
    ],
)
def test_work_grows_with_the_length_alone(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(count: int) -> int:
        text = Watched("\\boxed{3}" + unit * count)
        monkeypatch.setattr(boxes, "_BRACES", WatchedBraces(text))
        last_boxed(text)
        return text.passed

    assert work(4000) <= 4.1 * work(1000)
    assert work(1000) <= 20 * len(unit) * 1000
