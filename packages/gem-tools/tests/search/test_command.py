"""``gem search``: build, query, serve, and what it says."""

from __future__ import annotations

import io
import json

import pytest

from gem.cli import main
from gem_tools.search import command
from gem_tools.search.command import Progress


def run(capsys, *arguments):
    code = main(["search", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_build_and_query(corpus, tmp_path, capsys):
    index = tmp_path / "index"
    code, out, err = run(capsys, "build", corpus, index)
    assert (code, err) == (0, "")
    assert out.startswith(f"{index}: 4 documents, ")
    code, out, err = run(capsys, "build", corpus, index)
    assert (code, err) == (2, f"gem: {index} holds an index already: use --replace or --extend, or another folder\n")
    assert run(capsys, "build", corpus, index, "--extend")[1].startswith(f"{index}: 8 documents")
    assert run(capsys, "build", corpus, index, "--replace", "--quiet")[1].startswith(f"{index}: 4 documents")
    code, out, err = run(capsys, "query", index, "capital", "of", "France", "--topk", 1)
    assert (code, out.count("capital"), err) == (0, 1, "")
    assert "  p  Paris\n" in out
    assert run(capsys, "query", index, "qwertyuiop") == (0, "no document was found\n", "")


def test_options_of_build(tmp_path, capsys):
    (tmp_path / "c.jsonl").write_text(json.dumps({"key": "k1", "head": "H", "said": "houses " * 10}) + "\n")
    arguments = ["--id-column", "key", "--title-column", "head", "--text-column", "said", "--words", 5]
    code, out, _ = run(capsys, "build", tmp_path / "c.jsonl", tmp_path / "i", *arguments, "--language", "none")
    assert (code, "2 documents" in out) == (0, True)
    assert "k1#1  H" in run(capsys, "query", tmp_path / "i", "houses", "--method", "bm25")[1]
    assert "no document" in run(capsys, "query", tmp_path / "i", "house")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("build", "nosuch.jsonl", "{tmp}/i"), "there is no file or folder nosuch.jsonl"),
        (("build", "{corpus}", "{tmp}/i", "--language", "klingon"), "language must be one of"),
        (("build", "{corpus}", "{tmp}/i", "--words", "-1"), "--words must be 0 or more, got -1"),
        (("build", "{corpus}", "{tmp}/i", "--replace", "--extend"), "not allowed with"),
        (("query", "{tmp}/none", "x"), "make one with `gem search build"),
        (("query", "{index}", "x", "--topk", "0"), "--topk must be at least 1"),
        (("query", "{index}", "x", "--method", "dense"), "has no vectors"),
        (("serve", "{tmp}/none"), "make one with `gem search build"),
        (("serve", "{index}", "--workers", "0"), "must be at least 1"),
        (("serve", "{index}", "--port", "65536"), "a port is a number from 0 to 65535, got 65536"),
        ((), "the following arguments are required"),
    ],
)
def test_wrong_use_is_one_line(arguments, message, corpus, index, tmp_path, capsys):
    filled = [a.format(corpus=corpus, index=index, tmp=tmp_path) for a in arguments]
    code, _, err = run(capsys, *filled)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_search_that_fails(capsys):
    code, _, err = run(capsys, "query", "http://127.0.0.1:9", "x")
    assert (code, err) == (1, "gem: the search server at http://127.0.0.1:9/retrieve cannot be reached\n")


def test_progress(monkeypatch):
    clock = iter([0.0, 0.1, 11.0, 12.0])
    monkeypatch.setattr(command.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    progress = Progress(stream)
    progress(10)
    progress(1100)
    progress(1200)
    progress.end()
    assert stream.getvalue() == "1,100 documents, 100 a second\n"


def test_progress_on_a_terminal(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    clock = iter([0.0, 1.0, 1.1])
    monkeypatch.setattr(command.time, "monotonic", lambda: next(clock))
    progress = Progress(stream)
    progress(10)
    progress(20)
    progress.end()
    assert stream.getvalue() == "\r\x1b[K10 documents, 10 a second\r\x1b[K"


def test_help_is_listed(capsys):
    assert main(["--help"]) == 0
    assert "search      build, query and serve a search index" in capsys.readouterr().out
