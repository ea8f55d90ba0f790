"""Reading responses: boxes, thinking, tags, code."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import example, given, settings, strategies as st

from gem.parsing import blank_think, code_blocks, last_boxed, last_tag, strip_think, tag_blocks, think_spans

# -- boxes ---------------------------------------------------------------------------------------------------


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


# -- thinking ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>a</think>b", "b"),
        ("x<think>a</think>y<think>b</think>z", "xyz"),
        ("a</think>b", "b"),
        ("a</think>b<think>c</think>d", "bd"),
        ("x<think>never finished", "x"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("<think>they want <think> tags</think>d", "d"),
        ("<think>a</think>b</think>", "b"),
        ("<THINK>a</Think >b", "b"),
        ("<thinking>a</thinking>b", "b"),
        ("1 < 2, <b>plain</b>", "1 < 2, <b>plain</b>"),
        ("", ""),
    ],
)
def test_strip_think(text: str, said: str) -> None:
    assert strip_think(text) == said


pieces = st.lists(st.sampled_from(["<think>", "</think>", "a", "\n", "<", "```"]) | st.text(max_size=5), max_size=20)


@given(pieces.map("".join))
def test_thought_spans_are_in_order_and_blanking_keeps_positions(text: str) -> None:
    spans = think_spans(text)
    assert all(a < b for a, b in spans)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    blanked = blank_think(text)
    assert len(blanked) == len(text)
    assert strip_think(text) == "".join(c for i, c in enumerate(text) if not any(a <= i < b for a, b in spans))
    assert strip_think(blanked) == blanked


# -- tags ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<answer>Paris</answer> (format: <answer> your answer here </answer>)", "Paris"),
        ("<answer>Paris</answer>, that is <answer>...</answer>", "Paris"),
        ("<answer>Paris</answer> as <answer>[Your final answer]</answer>", "Paris"),
        ("<answer>I say <answer>Paris</answer></answer>", "Paris"),
        ("<answer> a <answer> Paris </answer>", "Paris"),
        ("<Answer>Paris</Answer>", "Paris"),
        ("<answer type='x'>Paris</answer >", "Paris"),
        ("<answer>Rome</answer> no: <answer>Paris</answer>", "Paris"),
        ("<answer>Paris</answer> and <answer>cut", "Paris"),
        ("<answer>your answer here</answer>", "your answer here"),
        ("<answer>The answer to life is 42</answer>", "The answer to life is 42"),
        ("<answer></answer>", ""),
        ("<answer>cut", None),
        ("</answer>Paris<answer>", None),
        ("<answers>Paris</answers>", None),
        ("", None),
    ],
)
def test_last_tag(text: str, content: str | None) -> None:
    assert last_tag(text, "answer") == content


def test_a_box_inside_a_tag() -> None:
    assert last_boxed(last_tag(r"<answer>\boxed{42}</answer>", "answer") or "") == "42"


def test_tag_blocks_have_spans_and_the_last_may_be_open() -> None:
    text = "a <s>x</s> b <S> y </s><s>z"
    blocks = tag_blocks(text, "s")
    assert [(b.content, b.closed) for b in blocks] == [("x", True), (" y ", True), ("z", False)]
    assert [text[slice(*b.span)] for b in blocks] == ["<s>x</s>", "<S> y </s>", "<s>z"]


def test_tag_names_are_not_patterns() -> None:
    assert tag_blocks("<axb>1</axb>", "a.b") == []
    assert last_tag("<a.b>1</a.b>", "a.b") == "1"


# -- code ----------------------------------------------------------------------------------------------------


def python_of(text: str) -> list[str]:
    return [b.code for b in code_blocks(text) if b.language == "python"]


@pytest.mark.parametrize(
    "opening",
    [
        "```py", "```python", "```python3", "```Python", "``` python", "```PY ", "~~~python", "````python",
        '```python title="a.py"', "```python title='x y' hl=[1]", "```{.python .numberLines}", "```{python}",
        "```python:main.py", "```python main.py", "```python {1,2}", "```python3.11", "```\npython",
    ],
)  # fmt: skip
def test_every_spelling_of_a_python_fence(opening: str) -> None:
    closing = re.match(r"[`~]+", opening)
    assert closing is not None
    for newline in ("\n", "\r\n"):
        text = f"{opening}\nprint(1)\n{closing[0]}".replace("\n", newline)
        assert [(b.language, b.code, b.span, b.closed) for b in code_blocks(text)] == [
            ("python", "print(1)", (0, len(text)), True)
        ]


def test_a_language_that_begins_alike_is_another() -> None:
    (block,) = code_blocks("```pythonic\nx\n```")
    assert (block.language, block.code) == ("pythonic", "x")


PROGRAM = "s='''\n```\ninner\n```\n'''\nprint(len(s))"
DOCUMENTED = 'def f():\n    """Use it:\n\n    ```python\n    f()\n    ```\n    """\n    return 1'


@pytest.mark.parametrize("program", [PROGRAM, DOCUMENTED, PROGRAM.replace("'''", '"""'), "# it's ''' odd\nx = '\\''"])
@pytest.mark.parametrize("label", ["python", ""])
def test_fences_inside_strings_belong_to_the_program(program: str, label: str) -> None:
    text = f"Here:\n```{label}\n{program}\n```\nDone.\n```python\ny = 2\n```"
    assert [b.code for b in code_blocks(text)] == [program, "y = 2"]


def test_longer_fences_hold_shorter_ones() -> None:
    program = 'print("""\n```\n""") # ```\n```'
    (block,) = code_blocks(f"````python\n{program}\n````")
    assert block.code == program
    (block,) = code_blocks("~~~~\n~~~\n```\n~~~~~")
    assert block.code == "~~~\n```"


def test_an_open_string_does_not_swallow_what_follows() -> None:
    text = "```python\ns = '''broken\n```\nSo it's wrong. Again:\n```python\nt = '''x'''\nprint(t)\n```"
    assert python_of(text) == ["s = '''broken", "t = '''x'''\nprint(t)"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nprint(1)", "print(1)"),
        ("```py\ndef f():\n    return 1\n\n", "def f():\n    return 1"),
        ("def f():\n  return 1\n```", "def f():\n  return 1"),
        ("<python>print(1)", "print(1)"),
        ("```python\nx = '\\d'", "x = '\\d'"),
    ],
)
def test_a_missing_fence_is_recovered_when_the_rest_compiles(text: str, code: str, recwarn: object) -> None:
    (block,) = code_blocks(text)
    assert (block.code, block.closed) == (code, False)
    assert not list(recwarn)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1", "```python", "```python\n", "```python\n\n```", "I think so\n```", "hello\n```",
        "```", "``````", "```python\nx = 1\nSo the answer is 5.", "<python>", "<python></python>", "`x`",
        "use `python` and ``` in text", "<python>...</python>", "```python\n\x00",
    ],
)  # fmt: skip
def test_never_an_empty_or_a_broken_recovered_program(text: str) -> None:
    assert code_blocks(text) == []


def test_broken_blocks_when_asked_for() -> None:
    text = "```python\nx = (\n```python\ny = 1\n```\n```python\nprint(1"
    blocks = code_blocks(text, broken=True)
    assert [(b.code, b.closed, b.broken) for b in blocks] == [
        ("x = (", False, True),
        ("y = 1", True, False),
        ("print(1", False, True),
    ]
    assert code_blocks("I mention <python> only", broken=True) == []
    assert code_blocks("```\nx = (", broken=True) == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Code: ```python\nprint(1)```\nText\n```python\nx=2\n```", ["print(1)", "x=2"]),
        ("```python\nprint(1)\n``` and so it prints 1.", ["print(1)"]),
        ("```python\nA=1\n```python\nB=1\n```", ["A=1", "B=1"]),
        ("stray\n```\n```python\nx=1\n```", ["x=1"]),
        ("```python print(1)```", ["print(1)"]),
        ("see ```x``` then ```python\nprint(2)\n```", ["print(2)"]),
        ("1. Do:\n   ```python\n   if 1:\n       x\n   ```", ["if 1:\n    x"]),
        ("```json\n{}\n```\n~~~py\n1+1\n~~~", ["1+1"]),
        ("<python>print(1)</python> and <PYTHON>\nprint(2)\n</Python>", ["print(1)", "print(2)"]),
        ("<python> print(1) </python>", ["print(1)"]),
        ("<python>\n  a = 1\n  b = 2\n</python>", ["a = 1\nb = 2"]),
        ("<python>\n```python\nprint(1)\n```\n</python>", ["print(1)"]),
        ("I write <python> before code: <python>print(1)</python>", ["print(1)"]),
        ("With <python> I mean\n```python\nprint(1)\n```", ["print(1)"]),
        ("```python\ns = '<python>'\n```", ["s = '<python>'"]),
        ("```markdown\n```python\nx\n```\n```\n```python\ny\n```", ["y"]),
        ("```python\nraise ValueError(\n```", ["raise ValueError("]),
    ],
)
def test_what_models_write(text: str, codes: list[str]) -> None:
    assert python_of(text) == codes


def test_spans_cut_the_blocks_out() -> None:
    text = "a\n```python\nx=1\n```\nb <python>y=2</python> c"
    assert [text[slice(*b.span)] for b in code_blocks(text)] == ["```python\nx=1\n```", "<python>y=2</python>"]


# -- anything ------------------------------------------------------------------------------------------------

fragments = st.sampled_from(
    [
        "```", "~~~", "````", "```python\n", "```\n", "\n", "'''", '"""', "'", "\\", "#", "x = 1\n", "<python>",
        "</python>",
        "<think>", "</think>", "<answer>", "</answer>", "\\boxed{", "\\boxed ", "\\fbox{", "{", "}", "\\{", "\\}", " ",
        "```py x", "`", "\r\n", "\t", "\x00", "\ud800", "7",
    ]
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(fragments | st.text(max_size=3), max_size=40).map("".join))
@example("<python>```python\n</python>")
@example("```\n  ```")
def test_nothing_raises_and_spans_are_in_order(text: str) -> None:
    box, tag = last_boxed(text), last_tag(text, "answer")
    assert box is None or box in text
    assert tag is None or tag in text
    strip_think(text)
    blocks = code_blocks(text)
    assert all(left.span[1] <= right.span[0] for left, right in itertools.pairwise(blocks))
    assert all(0 <= b.span[0] < b.span[1] <= len(text) and b.code.strip() for b in blocks)


UNITS = [
    "\\boxed{7}", "{", "\\boxed{", "\\boxed{{", "\\boxed ", "\\fbox{\\boxed ", "\\boxed{\\}", "<think>", "</think>",
    "```python\n", "```python\nx=1\n", "```python\ns='''\n```\n", "```python\n'''\n```\nx '''\n", "~~~\n", "`", "```a`",
    "<python>", "<python>x y\n", "<python>\n```\n", "``` x y\n", "print(1)```\n", "<answer", "<answer ", "<answer>",
    "\\", "'", "\n", " ", "```\n\n", "<python>1</python>", "```markdown\n", "\\boxed" + " " * 50,
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_megabytes_of_one_thing(unit: str) -> None:
    """Quadratic work would need minutes; the guard is generous and only there to fail rather than hang."""
    import time

    text = unit * (600_000 // len(unit))
    began = time.process_time()
    for read in (last_boxed, strip_think, code_blocks):
        read(text)
    last_tag(text, "answer")
    assert time.process_time() - began < 20


def test_degenerate_boxes() -> None:
    assert last_boxed("\\boxed{7}" * 20_000) == "7"
    nested = "(" * 400 + "1" + ")" * 400
    assert last_boxed("\\boxed{ " + nested + " }") == f" {nested} "
    assert last_boxed("{" * 2_000_000) is None
    assert last_boxed("\\boxed{" * 20_000 + "7" + "}" * 10_000) == "7"
    assert last_boxed("\\boxed{" + "{" * 500_000 + "}" * 400_000) is None
    assert last_boxed("\\boxed{3}" + "\\boxed{" * 100_000) == "3"
