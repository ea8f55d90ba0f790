"""Fences and tags of code, as models write them."""

from __future__ import annotations

import re

import pytest

from gem.parsing import code_blocks


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
