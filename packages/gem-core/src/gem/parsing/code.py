"""Code in a response: Markdown fences and ``<python>`` tags."""

from __future__ import annotations

import re
from typing import NamedTuple


class CodeBlock(NamedTuple):
    """A piece of code in a response."""

    #: Lower case; ``"python"`` for every spelling of it (``py``, ``python3``, ``Python``); ``""`` when not named.
    language: str
    #: Without the fences, blank lines around it and the indentation of the fence; never blank.
    code: str
    #: Where the block stands in the text, fences included.
    span: tuple[int, int]
    #: Whether it was closed properly; when not, it was recovered because it compiles (or is not Python).
    closed: bool
    #: Python that is neither closed nor compiles; only there when asked for.
    broken: bool = False


# Where a block may start: a tag, or a fence.
_OPENING = re.compile(r"<python>|`{3,}|^[ \t]*~{3,}", re.IGNORECASE | re.MULTILINE)
_BLANK_TO_END = re.compile(r"\s*\Z")
# A line that starts with a fence, or ends with one.
_FENCE_LINE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)|(?<=[^\n`])(?P<late>`{3,})[ \t\r]*$", re.MULTILINE
)
# An info string: a language, then nothing, attributes or a file name. Anything else is prose.
_INFO = re.compile(
    r"\s*(?:\{\s*\.?([\w+#.-]+)[^}]*\}|([\w+#.-]*))"
    r"(?:\s*$|\s*[:,{(\[=].*|\s+(?:[^\s=]+=|\S+\.\w+\s*$|[{\[(]).*)"
)
_PYTHON = re.compile(r"py(?:thon)?[\d.]*")
_INLINE = re.compile(r"\s*(?:python3?|py)[ \t]+(\S[^`\n]*)$", re.IGNORECASE)
_PYTHON_TAG = re.compile("<python>", re.IGNORECASE)
_PYTHON_END = re.compile(r"</python\s*>", re.IGNORECASE)
#: Languages whose text holds fences of its own.
_NESTING = frozenset({"markdown", "md", "mdx"})
#: How often one response may be searched further for the end of a string; bounds the work.
_ATTEMPTS = 8
#: Code longer than this is not parsed to see whether it compiles.
_MAX_RECOVERED = 200_000


def code_blocks(text: str, broken: bool = False) -> list[CodeBlock]:
    r"""The blocks of code in ``text``, in order: Markdown fences and ``<python>...</python>``.

    A fence is three or more backticks or tildes; the closing one is at least as long. Fences inside a
    triple-quoted Python string belong to the program. A missing closing fence, a missing opening one, and code
    that ends on the line of its fence are recovered when what is left compiles. With ``broken`` fenced Python that
    is not closed and does not compile is listed too, for whoever wants to say so to the model.

    >>> code_blocks("```py\nprint(1)\n```")[0][:2]
    ('python', 'print(1)')
    """
    return _CodeReader(text, broken).read()


class _CodeReader:
    """One pass over one text."""

    def __init__(self, text: str, broken: bool = False) -> None:
        self.text = text
        self.keep_broken = broken
        self.blocks: list[CodeBlock] = []
        self.attempts = _ATTEMPTS
        self.tags_close = True  # whether a </python> may still follow
        self.line_end = -1  # the end of the line last looked at; a line of a thousand fences is searched once

    def read(self) -> list[CodeBlock]:
        text = self.text
        position = 0
        if "```" not in text and "~~~" not in text and "<" not in text:
            return self.blocks
        while (opening := _OPENING.search(text, position)) is not None:
            if opening[0][0] == "<":
                position = self._read_tag(opening)
            else:
                position = self._read_fence(opening, position)
        return self.blocks

    def _add(self, language: str, code: str, start: int, end: int, closed: bool) -> None:
        if not code or code.isspace() or code == "...":
            return
        broken = not closed and language in ("python", "") and not _compiles(code)
        if not broken or (self.keep_broken and language == "python"):
            self.blocks.append(CodeBlock(language, code, (start, end), closed, broken))

    # -- <python> ----------------------------------------------------------------------------------------

    def _read_tag(self, opening: re.Match[str]) -> int:
        ending = _PYTHON_END.search(self.text, opening.end()) if self.tags_close else None
        if ending is not None:
            # the innermost one: those before it are talked about
            *_, opening = _PYTHON_TAG.finditer(self.text, opening.start(), ending.start())
            content = self.text[opening.end() : ending.start()]
            self._add("python", _only_fence(content) or _tidy(content), opening.start(), ending.end(), True)
            return ending.end()
        self.tags_close = False
        if self.attempts:
            self.attempts -= 1
            content = self.text[opening.end() :]
            code = _only_fence(content) or _tidy(content)
            if _is_program(code):  # else the tag may just be talked about
                self._add("python", code, opening.start(), len(self.text), False)
                return len(self.text)
        return opening.end()

    # -- fences ------------------------------------------------------------------------------------------

    def _read_fence(self, opening: re.Match[str], previous_end: int) -> int:
        """Read the block that starts here; return where to go on."""
        text = self.text
        fence = opening[0].lstrip(" \t")
        start, begin = opening.end() - len(fence), opening.end()
        if self.line_end < begin:
            self.line_end = text.find("\n", begin)
            if self.line_end < 0:
                self.line_end = len(text)
        line_end = self.line_end
        if fence[0] == "`" and text.find("`", begin, line_end) >= 0:
            return self._read_inline(start, fence, line_end)
        info = text[begin:line_end]
        label = _INFO.match(info)
        if label is None:
            return line_end  # prose behind a stray fence
        if not info.strip() and _BLANK_TO_END.match(text, line_end):
            # Nothing follows: this fence closes what stands before it, whose opening is missing.
            code = _tidy(text[previous_end:start])
            if _is_program(code):
                self._add("", code, previous_end, line_end, False)
            return len(text)
        language = (label[1] or label[2] or "").lower().strip(".")
        if _PYTHON.fullmatch(language):
            language = "python"
        language, content = _language_on_next_line(text, language, min(line_end + 1, len(text)))
        content_end, end, closed = self._find_end(content, fence, language)
        line_start = text.rfind("\n", previous_end, start) + 1
        indent = start - line_start if text[line_start:start].isspace() else 0
        self._add(language, _tidy(_unindent(text[content:content_end], indent)), start, end, closed)
        return end

    def _read_inline(self, start: int, fence: str, line_end: int) -> int:
        """A whole block on one line, or a row of backticks that opens nothing."""
        begin = start + len(fence)
        close = self.text.find(fence, begin, line_end)
        if close < 0:
            return line_end
        end = close + len(fence)
        code = _INLINE.match(self.text[begin:close])
        if code is not None:
            self._add("python", code[1].strip(), start, end, True)
        return end

    def _find_end(self, begin: int, fence: str, language: str) -> tuple[int, int, bool]:
        """Where the content ends, where reading goes on, and whether a closing fence stands between."""
        text = self.text
        may_quote = language in ("python", "")
        first: tuple[int, int, bool] | None = None  # the end that plain Markdown would take
        quote: str | None = None  # the triple quote that is open
        lexed = begin
        depth = 0
        for line in _FENCE_LINE.finditer(text, begin):
            found = self._end_at(line, begin, fence, language)
            if found is None:
                continue
            opens_another = found[0] == found[1]
            if may_quote and self.attempts:
                quote = _open_quote(text, lexed, found[0], quote)
                lexed = found[0]
                if quote is not None:
                    first = first or found
                    continue
            if language in _NESTING:
                depth += 1 if opens_another else -1
                if depth >= 0:
                    continue
            if first is None:
                return found
            self.attempts -= 1
            return found if _compiles(_tidy(text[begin : found[0]])) else first
        if first is not None:
            self.attempts -= 1
            return first
        return len(text), len(text), False

    def _end_at(self, line: re.Match[str], begin: int, fence: str, language: str) -> tuple[int, int, bool] | None:
        if line["late"] is not None:
            # `print(1)```: Python has no backticks, so this closes; elsewhere it may be anything
            line_start = self.text.rfind("\n", begin, line.start()) + 1
            head = self.text[max(line_start, begin) : line.start()]
            closes = language == "python" and line["late"] == fence and not set(head) & {"#", "`"}
            return (line.start(), line.end(), True) if closes else None
        if line["fence"][0] != fence[0] or len(line["fence"]) < len(fence):
            return None
        info = line["info"]
        if not info.strip():
            return line.start(), line.end(), True
        if "`" in info:
            return None
        if _INFO.match(info) is None:  # "``` And so it prints 1"
            return line.start(), line.end("fence"), True
        return line.start(), line.start(), False  # another block opens: this one was never closed


def _only_fence(content: str) -> str | None:
    """The code of the fence that ``content`` starts with, when it starts with one."""
    content = content.strip()
    opening = _OPENING.match(content)
    if opening is None or opening[0][0] == "<":
        return None
    reader = _CodeReader(content)
    reader._read_fence(opening, 0)
    return reader.blocks[0].code if reader.blocks else None


def _language_on_next_line(text: str, language: str, begin: int) -> tuple[str, int]:
    """A fence may have ``python`` alone on the line below it."""
    if language == "":
        end = text.find("\n", begin, begin + 16)
        if end >= 0 and text[begin:end].strip().lower() in ("python", "python3", "py"):
            return "python", end + 1
    return language, begin


_LEXEME = re.compile(
    r"""\#[^\n]*|'''|\"\"\"|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?""",
    re.DOTALL,
)
_QUOTED = {q: re.compile(rf"\\.|{q}", re.DOTALL) for q in ("'''", '"""')}


def _open_quote(text: str, begin: int, end: int, quote: str | None) -> str | None:
    """The triple quote that is open at ``end``, when ``quote`` is open at ``begin``."""
    position = begin
    while True:
        if quote is None:
            lexeme = _LEXEME.search(text, position, end)
            if lexeme is None:
                return None
            if lexeme[0] in _QUOTED:
                quote = lexeme[0]
            position = lexeme.end()
        else:
            lexeme = _QUOTED[quote].search(text, position, end)
            if lexeme is None:
                return quote
            if lexeme[0] == quote:
                quote = None
            position = lexeme.end()


def _tidy(code: str) -> str:
    """Without blank lines around it, trailing blanks, and indentation that all lines share."""
    first = code.find("\n")
    if first < 0 or not code[:first].isspace():
        # code on the line of its opening, as in `<python> print(1)</python>`
        head = code.lstrip(" \t") if first != 0 else code
        code = head
    lines = code.rstrip().split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    if not lines:
        return ""
    if lines[0][0] in " \t":
        import textwrap

        return textwrap.dedent("\n".join(lines))
    return "\n".join(lines)


def _unindent(code: str, columns: int) -> str:
    """Markdown takes the indentation of the fence from every line."""
    if columns == 0:
        return code
    return re.sub(rf"^[ \t]{{1,{min(columns, 1000)}}}", "", code, flags=re.MULTILINE)


# Escapes that do not matter to the grammar; unknown ones would make the compiler warn.
_ESCAPE = re.compile(r"\\([^\n'\"\\])")


def _parse_python(code: str) -> object | None:
    import ast

    if len(code) > _MAX_RECOVERED:
        return None
    try:
        return ast.parse(_ESCAPE.sub(r"\1", code))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _compiles(code: str) -> bool:
    """Whether ``code`` is a Python program."""
    return _parse_python(code) is not None


def _is_program(code: str) -> bool:
    """Whether ``code`` compiles and does something: a lone word is a valid expression, but no program."""
    import ast

    tree = _parse_python(code)
    return isinstance(tree, ast.Module) and any(
        not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Name | ast.Constant | ast.Tuple)) for s in tree.body
    )
