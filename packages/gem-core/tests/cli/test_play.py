"""`gem play`, through pipes and through a terminal."""

from __future__ import annotations

import codecs
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gem
from gem.cli import main
from gem.cli.play import parse_option
from gem.registry import unregister

HERE = Path(__file__).parent
IDS = {"toy:Count-v0": "Count", "toy:Silent-v0": "Silent", "toy:Two-v0": "Two", "toy:Failing-v0": "Failing"}


@pytest.fixture(autouse=True)
def _toys(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    for env_id, name in IDS.items():
        gem.register(
            gem.EnvSpec(
                id=env_id, entry_point=f"cli_toys:{name}", description=f"A toy: {name}.", multi_agent=name == "Two"
            )
        )
    yield
    for env_id in IDS:
        unregister(env_id)


@pytest.fixture
def play(monkeypatch, capsys):
    def run(text: str, *arguments: str, env_id: str = "toy:Count-v0", seed: int | None = 1) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        code = main(["play", env_id, *(["--seed", str(seed)] if seed is not None else []), *arguments])
        captured = capsys.readouterr()
        run.code, run.err = code, captured.err
        return captured.out

    return run


FIRST = 17  # of seed 1


def test_a_game_is_won_with_bare_moves(play):
    out = play(f"{FIRST + 1}\n{FIRST + 2}\n{FIRST + 3}\nn\n")
    assert play.code == 0
    assert out.startswith("toy:Count-v0  A toy: Count.\n")
    assert "seed 1\n" in out
    assert f"board: {FIRST + 3}" in out
    assert "turn 3 of 5  reward +1" in out
    assert "Solved after 3 turns, return 1." in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("arguments", "typed", "understood"),
    [
        ((), "5", "'5'"),
        ((), " 5 ", "'5'"),
        ((), "so \\boxed{6}", "'6'"),
        (("--no-box",), "5", "'nothing'"),
        ((), ":say 5", "'nothing'"),
        (("--option", "boxed=False"), "5", "'5'"),
        (("--option", "boxed=False", "--box"), "5", "'\\\\boxed{5}'"),
        ((), '"""\nfirst\n\\boxed{7}\n"""', "'7'"),
        ((), "first\\\n\\boxed{8}", "'8'"),
    ],
)
def test_what_is_typed_is_boxed_where_the_task_asks_for_boxes(play, arguments, typed, understood):
    assert f"not carried out: got {understood}" in play(typed + "\n", *arguments)


def test_undo_takes_turns_back_and_the_game_goes_on_as_if_they_had_not_been(play):
    out = play(f"{FIRST + 1}\n0\n:undo\n:undo 9\n:undo x\n{FIRST + 2}\n{FIRST + 3}\nn\n")
    assert "Back at turn 1." in out
    assert "There are 1 turns to take back." in out
    assert "Undo takes a number of turns." in out
    assert "Solved after 3 turns" in out


def test_undo_after_the_end(play):
    out = play(f"{FIRST + 1}\n{FIRST + 2}\n{FIRST + 3}\n:undo 1\n{FIRST + 3}\nn\n")
    assert out.count("Solved after 3 turns") == 2


def test_undo_where_state_cannot_be_had(play):
    assert "state cannot be had" in play("1\n:undo\n", "--option", "state=False")


def test_commands(play):
    out = play(":help\n:history\n:solve\n:random\n:history\n:board\n:restart 5\n:restart x\n:hist\n:undp\n:\n")
    assert "begins and ends a response of several lines" in out
    assert "No turn was played yet." in out
    assert f"hint: \\boxed{{{FIRST + 1}}}" in out
    assert re.search(r"  1\. \+0  \\boxed\{\d+\}  Turn 1: wrong", out)
    assert "seed 5" in out
    assert "A seed is a number" in out
    assert out.count("Return so far: 0") == 3
    assert "There is no command :undp; did you mean :undo?" in out
    assert "Left after 0 turns, return 0." in out


def test_what_an_environment_does_not_have(play):
    out = play(":random\n:solve\n", env_id="toy:Silent-v0")
    assert "no random actions" in out
    assert "no solver" in out


def test_after_the_end(play):
    out = play("1\n" * 5 + ":random\n:history\nperhaps\n\n:quit\n")
    assert "y begins another episode, n leaves" in out
    assert "Out of turns after 5 turns, return 0." in out
    assert "The episode is over" in out
    assert "seed 2" in out
    assert out.endswith("Left after 0 turns, return 0.\n")


def test_a_seed_is_drawn_and_shown_so_that_the_game_can_be_had_again(play):
    out = play(":board\n", seed=None)
    seed = int(re.search(r"seed (\d+)", out)[1])
    assert play(":board\n", seed=seed) == out


def test_images_are_placeholders_and_can_be_saved(play, tmp_path):
    target = tmp_path / "a.png"
    out = play(f":image 2\n:image 1 {target}\n:image\n", "--option", "image=True")
    assert "[image 1, png, 0.0 kB; :image 1 saves it]" in out
    assert "There are 1 images here" in out
    assert target.read_bytes() == b"\x89PNG\r\n\x1a\n"
    saved = Path(re.findall(r"Saved as (.*)", out)[-1])
    assert saved.suffix == ".png"
    saved.unlink()


@pytest.mark.parametrize("arguments", [(), ("--wrappers", "concat"), ("--wrappers", "latest")])
def test_what_stands_around_an_observation_is_shown_once(play, arguments):
    assert play(":quit\n", *arguments).count(f"board: {FIRST}") == 1


def test_transcript_holds_every_event(play, tmp_path):
    path = tmp_path / "t.jsonl"
    play("4\n:undo\n5\n", "--transcript", str(path))
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert [event["event"] for event in events] == ["reset", "step", "undo", "step"]
    assert events[0]["seed"] == 1
    assert events[3]["action"] == "\\boxed{5}"
    assert events[3]["turn"] == 1


def test_several_agents_others_act_at_random(play):
    out = play("hello\nagain\n", env_id="toy:Two-v0")
    assert "You play ann of ann, bob." in out
    assert re.search(r"bob: bob\d", out)
    assert re.search(r"ann hears: hello bob\d", out)
    assert "Solved after 4 turns, return 1." in out


def test_several_agents_all_typed_one_after_the_other_and_at_once(play):
    out = play("w\nx\ny\nz\n", "--agents", "all", env_id="toy:Two-v0")
    assert "bob hears: w\n" in out
    assert "Solved after 4 turns, return 2." in out
    out = play("w\nx\ny\nz\n", "--agents", "ann,bob", "--option", "mode=parallel", env_id="toy:Two-v0")
    assert "ann hears: w x\n" in out
    assert "Solved after 2 turns, return 2." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--agents", "carl"), "there is no agent 'carl'; the agents are ann, bob"),
        (("--option", "mode"), "--option takes NAME=VALUE, got 'mode'"),
        (("--option", "mood=1"), "'toy:Two-v0' has no option 'mood'"),
        (("--seed", "-1"), "--seed must not be negative"),
        (("--transcript", "/no/such/folder/t"), "gem: /no/such/folder/t: No such file"),
    ],
)
def test_bad_arguments_are_one_line(play, arguments, message):
    play("", *arguments, env_id="toy:Two-v0", seed=None)
    assert play.code == 2
    assert message in play.err
    assert play.err.count("\n") == 1


def test_agents_of_a_single_agent(play):
    play("", "--agents", "ann")
    assert "this one has a single agent" in play.err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=3", 3),
        ("a=None", None),
        ("a=true", True),
        ("a=(6, 6)", (6, 6)),
        ("a=word", "word"),
        ("a=b=c", "b=c"),
        ("a=", ""),
    ],
)
def test_option_values(text, value):
    assert parse_option(text) == ("a", value)


def test_text_that_would_steer_the_terminal_is_shown_harmlessly(play):
    out = play("\x1b[2J\ud800\x07\n")
    assert "\x1b" not in out.replace("> \x1b[2J", "")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("make", "failed in being made: RuntimeError: no server at localhost"),
        ("reset", "failed in reset: KeyError: 'no such row'"),
        ("step", "failed in step: ZeroDivisionError: division by zero"),
        (
            "shape",
            "failed in step: TypeError: step must return (observation, reward, terminated, truncated, info), got",
        ),
    ],
)
def test_an_environment_that_fails_is_blamed_in_one_line(play, monkeypatch, where, said):
    play("hello\n", "--option", f"where={where}", env_id="toy:Failing-v0")
    assert play.code == 2
    assert play.err.startswith(f"gem: toy:Failing-v0 {said}")
    assert play.err.endswith("; GEM_TRACEBACK=1 shows where\n")
    assert play.err.count("\n") == 1
    monkeypatch.setenv("GEM_TRACEBACK", "1")
    with pytest.raises(gem.GemError) as info:
        play("hello\n", "--option", f"where={where}", env_id="toy:Failing-v0")
    assert info.value.__cause__ is not None


# -- a terminal ------------------------------------------------------------------------------------------

_PROGRAM = """
import sys
sys.path.insert(0, {here!r})
import gem
from gem.cli import main
gem.register(gem.EnvSpec(id="toy:Count-v0", entry_point="cli_toys:Count"))
sys.exit(main(["play", "toy:Count-v0", "--seed", "1"]))
"""


class Terminal:
    """`gem play` with a pseudo-terminal for a person."""

    def __init__(self, **environ: str) -> None:
        self.master, slave = pty.openpty()
        base = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(here=str(HERE))],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**base, "TERM": "xterm", **environ},
            start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
        )
        os.close(slave)
        self.seen = ""
        self.read = 0
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end within a character

    def until(self, text: str) -> str:
        """What comes next, up to and with ``text``."""
        deadline = time.monotonic() + 120
        start = self.read
        while text not in self.seen[start:]:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += self.decoder.decode(os.read(self.master, 65536))
                except OSError:
                    break
        assert text in self.seen[start:], self.seen
        self.read = self.seen.index(text, start) + len(text)
        return self.seen[start : self.read]

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        return self.process.wait(120)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)


def test_a_person_plays_in_a_terminal_and_leaves_with_ctrl_d():
    with Terminal() as terminal:
        assert "\x1b[1mtoy:Count-v0\x1b[0m" in terminal.until("> ")
        terminal.type("18\n")
        terminal.until("board: 18")
        terminal.until("> ")
        terminal.type("\x04")
        terminal.until("after 1 turn, return 0.")
        assert terminal.end() == 0


def test_ctrl_c_leaves_with_a_summary_and_the_usual_code():
    with Terminal(NO_COLOR="1") as terminal:
        assert "\x1b[1m" not in terminal.until("> ")
        terminal.type("\x03")
        assert "Traceback" not in terminal.until("Left after 0 turns, return 0.")
        assert terminal.end() == 130
