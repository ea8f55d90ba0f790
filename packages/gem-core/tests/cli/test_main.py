"""The `gem` command itself: finding subcommands, one-line errors, exit codes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import gem
from gem import cli

HELLO = """
import argparse
help = "say hello"
def add_arguments(parser):
    parser.add_argument("name")
    parser.add_argument("--fail", choices=["value", "gem", "key", "type", "exit", "two lines"])
def run(args):
    import gem
    if args.fail:
        raise {"value": ValueError("bad value"), "gem": gem.GemError("bad gem"), "key": KeyError("a bug"),
               "type": TypeError("bad type"), "exit": SystemExit(7), "two lines": ValueError("one\\n  two")}[args.fail]
    print("hello", args.name)
    return 5
"""


@pytest.fixture
def hello(site, installed) -> Any:
    site.add("gem-hello", groups={"gem.commands": {"hello": "hello_command"}}, modules={"hello_command": HELLO})
    installed()
    return site


def test_every_subcommand_of_the_core_is_there_and_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for name in cli.COMMANDS:
        assert cli.main([name, "--help"]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"usage: gem {name}")
        assert len(out.splitlines()) > 4


def test_help_and_version(hello, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"], ["-h"], ["help"]):
        assert cli.main(arguments) == 0
        out = capsys.readouterr().out
        assert all(f"  {name} " in out for name in cli.COMMANDS)
        assert "hello       say hello\n" in out
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"gem-core {gem.__version__}\n"


def test_help_survives_broken_commands(site, installed, capsys: pytest.CaptureFixture[str]) -> None:
    site.add("gem-bad", groups={"gem.commands": {"bad": "absent_command"}})
    installed()
    assert cli.main(["--help"]) == 0
    assert "bad         broken: 'bad' of gem-bad is broken: ModuleNotFoundError" in capsys.readouterr().out
    assert cli.main(["bad"]) == 2
    assert capsys.readouterr().err.startswith("gem: 'bad' of gem-bad is broken: ModuleNotFoundError")


def test_help_imports_no_subcommand_of_a_plugin_either(hello, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    assert "say hello" in capsys.readouterr().out
    assert "hello_command" not in sys.modules


def test_help_of_a_command_that_is_an_object_or_computes_its_line(
    site, installed, capsys: pytest.CaptureFixture[str]
) -> None:
    site.add(
        "gem-more",
        groups={"gem.commands": {"object": "more_commands:Command", "computed": "computed_command"}},
        modules={
            "more_commands": "class Command:\n    help = 'an object'",
            "computed_command": "help = 'com' + 'puted'.lower()",
        },
    )
    installed()
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "object      an object\n" in out
    assert "computed    computed\n" in out


def test_help_imports_no_subcommand_of_the_core(site) -> None:
    code = """
        import sys
        from gem.cli import main
        main(["--help"])
        print([m for m in sys.modules if m.startswith("gem.cli.")])
    """
    assert site.python(code).stdout.endswith("\n[]\n")


def test_a_command_of_a_plugin(hello, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hello", "world"]) == 5
    assert capsys.readouterr().out == "hello world\n"


def test_two_plugins_with_one_command(hello, installed, capsys: pytest.CaptureFixture[str]) -> None:
    hello.add("gem-howdy", groups={"gem.commands": {"hello": "hello_command"}})
    installed()
    assert cli.main(["hello", "world"]) == 2
    assert "gem-hello and gem-howdy both provide 'hello' in gem.commands" in capsys.readouterr().err


def test_a_plugin_does_not_replace_a_command_of_the_core(site, installed, capsys: pytest.CaptureFixture[str]) -> None:
    site.add("gem-own", groups={"gem.commands": {"list": "hello_command"}}, modules={"hello_command": HELLO})
    installed()
    assert cli.main(["list"]) == 0
    assert "hello" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lsit"], "there is no subcommand 'lsit'; did you mean `gem list`?"),
        (["helo"], "there is no subcommand 'helo'; did you mean `gem hello`?"),
        (["zzzzz"], "there is no subcommand 'zzzzz'; `gem --help` lists what there is"),
        (["train", "x"], "no installed package provides `gem train`: pip install gem-rl"),
        (["search"], "no installed package provides `gem search`: pip install 'gem-tools[search]'"),
        (["--jsn"], "there is no option '--jsn' before the subcommand; see `gem --help`"),
        (["list", "--jsn"], "unrecognized arguments: --jsn; see `gem list --help`"),
        (["info"], "the following arguments are required: id; see `gem info --help`"),
        (["hello", "x", "--fail", "value"], "bad value"),
        (["hello", "x", "--fail", "type"], "bad type"),
        (["hello", "x", "--fail", "gem"], "bad gem"),
        (["hello", "x", "--fail", "two lines"], "one two"),
    ],
)
def test_errors_are_one_line(hello, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err == f"gem: {message}\n"
    assert captured.out == ""


def test_what_is_no_error_of_use_keeps_its_traceback(hello, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError):
        cli.main(["hello", "x", "--fail", "key"])
    assert cli.main(["hello", "x", "--fail", "exit"]) == 7
    monkeypatch.setenv("GEM_TRACEBACK", "1")
    with pytest.raises(ValueError, match="bad value"):
        cli.main(["hello", "x", "--fail", "value"])


def test_broken_plugins_do_not_warn_here(site, installed, capsys: pytest.CaptureFixture[str], recwarn: Any) -> None:
    site.add("gem-bad", groups={"gem.envs": {"bad": "absent_plugin"}})
    installed()
    assert cli.main(["list"]) == 0
    assert not [w for w in recwarn if issubclass(w.category, gem.PluginWarning)]
    assert "bad:*  broken: gem-bad is broken" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")
def test_ctrl_c_is_clean(site) -> None:
    waiting = "import time\ndef add_arguments(parser): pass\ndef run(args): print('on', flush=True); time.sleep(60)"
    site.add("gem-wait", groups={"gem.commands": {"wait": "wait_command"}}, modules={"wait_command": waiting})
    environment = {**os.environ, "PYTHONPATH": str(site.folder)}
    process = subprocess.Popen(
        [sys.executable, "-m", "gem", "wait"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "\ngem: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")
@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_reader_that_goes_away_is_no_error(site, lines: int) -> None:
    talking = f"help = ''\ndef add_arguments(parser): pass\ndef run(args):\n    for _ in range({lines}): print('line')"
    site.add("gem-talk", groups={"gem.commands": {"talk": "talk_command"}}, modules={"talk_command": talking})
    read, write = os.pipe()
    os.close(read)
    environment = {**os.environ, "PYTHONPATH": str(site.folder)}
    environment.pop("PYTHONUNBUFFERED", None)
    with os.fdopen(write, "w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "gem", "talk"],
            env=environment,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (141, "")


def test_the_command_is_installed(site) -> None:
    site.add_envs("gem-a", "toy:X-v0")
    found = json.loads(site.gem("list", "toy:", "--json").stdout)
    assert [entry["id"] for entry in found] == ["toy:X-v0"]


@settings(max_examples=50)
@given(st.lists(st.text(max_size=8), max_size=3), st.sampled_from([[], ["list"], ["info"], ["list", "--json"]]))
def test_no_command_line_shows_a_traceback(words: list[str], first: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        assert cli.main([*first, *words]) in ((0, 1, 2) if "list" in first else (0, 2))  # 1: nothing matches
    assert len(err.getvalue().splitlines()) <= 1
