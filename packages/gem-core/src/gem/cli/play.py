"""Play an environment in this terminal: see what an agent sees, answer, watch rewards, take moves back."""

from __future__ import annotations

import argparse
import ast
import base64
import binascii
import contextlib
import json
import random
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from gem.cli.output import style
from gem.errors import GemError
from gem.vector.slot import check_agents, check_outcome, check_reset
from gem.wording import one_line

_HELP = r'''
  anything else      is your response; boxed for you where the task asks for boxes
  """                begins and ends a response of several lines (or end lines with \)
  :say TEXT          respond with exactly this text
  :random            respond with a random action
  :solve             a hint from the solver, where there is one
  :undo [N]          take back the last turn, or N turns
  :board             show what is asked once more
  :history           the turns of this episode
  :restart [SEED]    begin again, with the same seed or another
  :image [N] [FILE]  write image N to a file
  :help, :quit       this text; leave (Ctrl-D too); commands may be shortened'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "A response without \\boxed{} is put into a box when the task's opening text mentions \\boxed{}; --box and\n"
        "--no-box decide otherwise. Type :help while playing for the commands there are."
    )
    parser.add_argument("id", help="an environment id, such as game:GuessTheNumber-v0-easy")
    parser.add_argument("--seed", type=int, help="the first episode's seed; drawn and shown when not given")
    parser.add_argument(
        "--option", action="append", default=[], metavar="K=V", help="an option of the environment; may be repeated"
    )
    parser.add_argument("--wrappers", default="", help="wrapper names, separated by commas, applied inside out")
    parser.add_argument("--transcript", metavar="FILE", help="append every event to this file, one JSON object a line")
    parser.add_argument("--box", action=argparse.BooleanOptionalAction, help="box what you type, or never do")
    parser.add_argument(
        "--agents",
        metavar="NAMES",
        help="with several agents: those you play, separated by commas, or 'all'; the others\n"
        "act at random (default: the first)",
    )


def run(args: argparse.Namespace) -> int:
    from gem.cli import INTERRUPTED
    from gem.registry import make

    if args.seed is not None and args.seed < 0:
        raise ValueError(f"--seed must not be negative, got {args.seed}")
    options = dict(map(parse_option, args.option))
    with blaming(args.id, "being made", TypeError, ValueError):  # these are about options
        env = make(args.id, wrappers=args.wrappers, **options)
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.closing(env))
        transcript = stack.enter_context(open(args.transcript, "a", encoding="utf-8")) if args.transcript else None
        game = Game(env, chosen_agents(env, args.agents), args.box, transcript)
        seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1_000_000)
        try:
            Table(game, Keyboard()).play(seed)
        except KeyboardInterrupt:
            print()
            print(game.summary())
            return INTERRUPTED
    return 0


def parse_option(text: str) -> tuple[str, Any]:
    """``name=value`` with a Python or JSON value; anything else is text.

    Raises:
        ValueError: there is no ``=`` or no name.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"--option takes NAME=VALUE, got {text!r}")
    for read in (ast.literal_eval, json.loads):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError):
            return name, read(value)
    return name, value


@contextlib.contextmanager
def blaming(env_id: str, doing: str, *excepted: type[Exception]) -> Iterator[None]:
    """Say in one line whose fault it was when the environment fails.

    Raises:
        GemError: it did.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (GemError, *excepted)):
            raise
        raise GemError(f"{env_id} failed in {doing}: {one_line(error)}; GEM_TRACEBACK=1 shows where") from error


def chosen_agents(env: Any, names: str | None) -> list[str]:
    """The agents that the person plays; empty for an environment of one agent.

    Raises:
        ValueError: there is no such agent, or there are no agents to choose from.
    """
    if not getattr(env, "multi_agent", False):
        if names:
            raise ValueError("--agents is for environments of several agents; this one has a single agent")
        return []
    if names == "all":
        return list(env.possible_agents)
    chosen = [name.strip() for name in names.split(",")] if names else list(env.possible_agents[:1])
    for name in chosen:
        if name not in env.possible_agents:
            raise ValueError(f"there is no agent {name!r}; the agents are {', '.join(env.possible_agents)}")
    return chosen


# -- the game --------------------------------------------------------------------------------------------


@dataclass
class Move:
    """One turn that was played."""

    action: Any
    observation: Any
    reward: Any
    info: Any
    #: The environment's state before it; ``None`` where state cannot be had.
    before: Any
    #: What was on the table before it.
    shown: tuple[Any, Any]


@dataclass
class Game:
    """An environment, the episode under way, and what was played in it."""

    env: Any
    #: The agents that the person plays, where there are several.
    agents: list[str]
    #: Whether responses are boxed; ``None``: where the opening text mentions boxes.
    box: bool | None
    transcript: TextIO | None = None
    seed: int = 0
    observation: Any = ""
    info: Any = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    terminated: bool = False
    truncated: bool = False
    #: Whether the opening text mentioned boxes.
    boxes: bool = False

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    @property
    def total(self) -> float:
        return sum(self.earned(move.reward) for move in self.moves)

    def earned(self, reward: Any) -> float:
        """The person's share of a reward."""
        return float(sum(reward.get(a, 0.0) for a in self.agents) if isinstance(reward, dict) else reward)

    def begin(self, seed: int) -> None:
        self.seed = seed
        with blaming(self.env.env_id, "reset"):
            self.observation, self.info = check_reset(self.env.reset(seed=seed))
        self.moves.clear()
        self.terminated = self.truncated = False
        opening = json.dumps([self.observation, self.info], default=str, ensure_ascii=False)
        self.boxes = "boxed{" in opening
        self._note(event="reset", env_id=self.env.env_id, seed=seed, observation=self.observation, info=self.info)

    def boxed(self, text: str) -> str:
        """A response as it is sent: boxed where the rule says so."""
        box = self.boxes if self.box is None else self.box
        return f"\\boxed{{{text.strip()}}}" if box and "\\boxed{" not in text else text

    def turn_of(self) -> list[str]:
        """The agents of the person that must act now; one nameless one where there is a single agent."""
        if not self.agents:
            return [""]
        return [agent for agent in self.env.active_agents() if agent in self.agents]

    def step(self, actions: dict[str, str]) -> None:
        """Carry out the person's actions; the other agents whose turn it is act at random."""
        before = self._state()
        action: Any = actions.get("")
        if self.agents:
            action = {a: actions[a] if a in actions else self.sample(a) for a in self.env.active_agents()}
        shown = (self.observation, self.info)
        with blaming(self.env.env_id, "step"):
            outcome = (check_agents if self.agents else check_outcome)(self.env.step(action))
        self.observation, reward, terminated, truncated, self.info = outcome
        if isinstance(terminated, dict):
            truncated = not self.env.agents and any(truncated.values())
            terminated = not self.env.agents and not truncated
        self.terminated, self.truncated = bool(terminated), bool(truncated)
        self.moves.append(Move(action, self.observation, reward, self.info, before, shown))
        self._note(
            event="step",
            turn=len(self.moves),
            action=action,
            observation=self.observation,
            reward=reward,
            terminated=self.terminated,
            truncated=self.truncated,
            info=self.info,
        )

    def sample(self, agent: str = "") -> str:
        """A random action. Raises ``NotImplementedError`` where there is none."""
        action: str = self.env.sample_agent_action(agent) if agent else self.env.sample_random_action()
        return action

    def undo(self, count: int) -> str | None:
        """Take back turns; why it cannot be done, or ``None``."""
        if not 1 <= count <= len(self.moves):
            return f"there are {len(self.moves)} turns to take back"
        move = self.moves[-count]
        if move.before is None:
            return "this environment's state cannot be had, so no turn can be taken back"
        self.env.set_state(move.before)
        del self.moves[-count:]
        self.observation, self.info = move.shown
        self.terminated = self.truncated = False
        self._note(event="undo", turns=count)
        return None

    def _state(self) -> Any:
        try:
            return self.env.get_state()
        except Exception:  # not only StateNotSupported: a broken get_state must not end the game
            return None

    def summary(self) -> str:
        """How the episode stands, in one line."""
        turns = f"{len(self.moves)} turn{'' if len(self.moves) == 1 else 's'}, return {self.total:g}"
        if not self.over:
            return f"{style('Left', 'bold')} after {turns}."
        infos = [self.info.get(a, {}) for a in self.agents] if self.agents else [self.info]
        success = any(isinstance(info, dict) and info.get("success") is True for info in infos)
        word, colour = (
            ("Solved", "green") if success else ("Out of turns", "yellow") if self.truncated else ("Over", "red")
        )
        return f"{style(word, colour)} after {turns}."

    def _note(self, **event: Any) -> None:
        if self.transcript is not None:
            self.transcript.write(json.dumps(event, default=repr) + "\n")
            self.transcript.flush()


# -- the person ------------------------------------------------------------------------------------------


class Keyboard:
    """Standard input, line by line; with editing and history on a terminal."""

    def __init__(self) -> None:
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        if self.interactive:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401 - input() uses it from here on

    def line(self, prompt: str) -> str:
        """One line without its end. Raises ``EOFError`` at the end of the input."""
        if self.interactive:
            return input(prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        text = line.removesuffix("\n")
        print(f"{prompt}{text}")  # what was read belongs into the record of a piped game
        return text

    def response(self, prompt: str) -> str:
        """A response: one line, several between lines of three quotes, or several with a backslash at their end."""
        text = self.line(prompt)
        if text.strip() == '"""':
            lines = []
            while (line := self.line("... ")).strip() != '"""':
                lines.append(line)
            return "\n".join(lines)
        while text.endswith("\\"):
            text = text[:-1] + "\n" + self.line("... ")
        return text


class Table:
    """Shows the game to the person, and the person's responses and commands to the game."""

    def __init__(self, game: Game, keyboard: Keyboard) -> None:
        self.game = game
        self.keyboard = keyboard
        self.width = min(shutil.get_terminal_size().columns, 100)
        self.images: list[str] = []
        self.commands: dict[str, Callable[[str], None]] = {
            "help": lambda rest: print(_HELP),
            "undo": self.undo,
            "board": lambda rest: self.show(),
            "history": lambda rest: self.history(),
            "random": lambda rest: self.play_random(),
            "solve": lambda rest: self.solve(),
            "restart": self.restart,
            "image": self.save_image,
            "say": lambda rest: self.respond(rest, exactly=True),
        }

    def play(self, seed: int) -> None:
        """Episodes until the person leaves."""
        self.title()
        self.begin(seed)
        while True:
            try:
                if self.game.over:
                    again = self.keyboard.line("Play again? [Y/n] ").strip()
                    if again.lower() in ("n", "no", "q", "quit", ":q", ":quit", ":exit"):
                        return
                    if again.startswith(":"):
                        self.command(again)
                    elif again.lower() in ("", "y", "yes"):
                        self.begin(self.game.seed + 1)
                    else:
                        print("y begins another episode, n leaves; commands work too.")
                elif not self.take_turn():
                    break
            except EOFError:
                print()
                break
        if not self.game.over:
            print(self.game.summary())

    def take_turn(self) -> bool:
        """One prompt for every agent that must act; whether the person stays."""
        if not self.game.turn_of():
            self.step({})  # only others act
            return True
        prompt = f"{self.game.turn_of()[0]}> " if self.game.agents else "> "
        text = self.keyboard.response(prompt)
        if text.strip() in (":quit", ":q", ":exit"):
            return False
        if text.startswith(":"):
            self.command(text)
        elif text.strip():
            self.respond(text)
        return True

    def command(self, text: str) -> None:
        name, _, rest = text[1:].partition(" ")
        name = name.strip()
        starts = [command for command in self.commands if name and command.startswith(name)]
        if name not in self.commands and starts:
            name = starts[0]
        if name not in self.commands:
            import difflib

            near = difflib.get_close_matches(name, self.commands, n=1)
            print(f"There is no command :{name}" + (f"; did you mean :{near[0]}?" if near else "; see :help"))
        elif self.game.over and name in ("random", "solve", "say"):
            print("The episode is over: :restart, :undo, or Enter for another one")
        else:
            self.commands[name](rest.strip() if name != "say" else rest)

    # -- turns ----------------------------------------------------------------------------------------

    def begin(self, seed: int) -> None:
        self.game.begin(seed)
        print(style(f"seed {seed}", "dim"))
        self.show()

    def respond(self, text: str, *, exactly: bool = False) -> None:
        """Send a response; where several agents of the person act at once, ask for the others' first."""
        waiting = self.game.turn_of()
        actions = {waiting[0]: text if exactly else self.game.boxed(text)}
        for agent in waiting[1:]:
            self.show_of(agent)
            actions[agent] = self.game.boxed(self.keyboard.response(f"{agent}> "))
        self.step(actions)

    def play_random(self) -> None:
        try:
            actions = {agent: self.game.sample(agent) for agent in self.game.turn_of()}
        except NotImplementedError:
            print("This environment has no random actions.")
            return
        for agent, action in actions.items():
            print(style(f"{agent}> {action}" if agent else f"> {action}", "dim"))
        self.step(actions)

    def step(self, actions: dict[str, str]) -> None:
        game = self.game
        game.step(actions)
        move = game.moves[-1]
        for agent, action in move.action.items() if game.agents else ():
            if agent not in game.agents:
                print(style(f"{agent}: {textwrap.shorten(action, self.width - len(agent) - 2)}", "dim"))
        reward = game.earned(move.reward)
        colour = "green" if reward > 0 else "red" if reward < 0 else "dim"
        limit = game.env.spec.max_turns if game.env.spec is not None else None
        limit = getattr(game.env.unwrapped, "max_turns", limit)
        of = f" of {limit}" if isinstance(limit, int) else ""
        print(f"{style(f'turn {len(game.moves)}{of}', 'dim')}  {style(f'reward {reward:+g}', colour)}")
        if game.over or game.turn_of():  # while only others act, there is nothing to decide on
            self.show()
        if game.over:
            print(game.summary())

    def undo(self, rest: str) -> None:
        count = _number(rest or "1")
        problem = "undo takes a number of turns" if count is None else self.game.undo(count)
        print(problem[0].upper() + problem[1:] + "." if problem else f"Back at turn {len(self.game.moves)}.")
        if not problem:
            self.show()

    def restart(self, rest: str) -> None:
        seed = _number(rest) if rest else self.game.seed
        if seed is None:
            print("A seed is a number that is not negative.")
        else:
            self.begin(seed)

    def solve(self) -> None:
        solver = getattr(self.game.env, "solve", None)
        try:
            if solver is None:
                raise NotImplementedError
            print(style(f"hint: {solver()}", "yellow"))
        except NotImplementedError:
            print("This environment has no solver.")
        except Exception as error:  # a hint that fails must not end the game
            print(f"The solver failed: {one_line(error)}")

    # -- showing --------------------------------------------------------------------------------------

    def title(self) -> None:
        spec = self.game.env.spec
        name = self.game.env.env_id or type(self.game.env).__name__
        print(style(name, "bold") + (f"  {spec.description}" if spec is not None and spec.description else ""))
        if self.game.agents:
            print(f"You play {', '.join(self.game.agents)} of {', '.join(self.game.env.possible_agents)}.")
        print(style(":help shows the commands, Ctrl-D leaves", "dim"))

    def show(self) -> None:
        """What the person sees now: prefix, observation, suffix."""
        self.images = []
        if not self.game.agents:
            self._show(self.game.observation, self.game.info)
            return
        waiting = [] if self.game.over else self.game.turn_of()
        for agent in waiting[:1] or self.game.agents:
            self.show_of(agent)

    def show_of(self, agent: str) -> None:
        if agent in self.game.observation:
            print(style(f"[{agent}]", "bold"))
            self._show(self.game.observation[agent], self.game.info.get(agent, {}))

    def _show(self, observation: Any, info: Any) -> None:
        print()
        around = info if isinstance(info, dict) else {}
        prefix, text, suffix = map(self.text, (around.get("prefix"), observation, around.get("suffix")))
        if prefix.strip() and not text.startswith(prefix):  # a wrapper may have put it there already
            print(self.wrapped(prefix))
        if text.strip():
            print(self.wrapped(text))
        if suffix.strip() and not text.endswith(suffix):
            print(style(self.wrapped(suffix), "bold"))
        reason = self.text(around.get("invalid_action"))
        if reason and reason not in self.text_shown(observation):
            print(style(self.wrapped(f"not carried out: {reason}"), "yellow"))
        print()

    def text(self, content: Any) -> str:
        """Content as printable text; images become placeholders that ``:image`` refers to."""
        if content is None:
            return ""
        if isinstance(content, str):
            return _printable(content)
        parts = []
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict) and part.get("type") == "image":
                self.images.append(str(part.get("image")))
                parts.append(
                    f"[image {len(self.images)}, {_size_of(self.images[-1])}; :image {len(self.images)} saves it]"
                )
            else:
                parts.append(_printable(str(part.get("text", part) if isinstance(part, dict) else part)))
        return "\n".join(parts)

    @staticmethod
    def text_shown(observation: Any) -> str:
        """The text of an observation, as far as a person has read it by now."""
        if isinstance(observation, list):
            return "\n".join(str(part.get("text", "")) for part in observation if isinstance(part, dict))
        return str(observation)

    def wrapped(self, text: str) -> str:
        """Lines that are too long wrapped at words; boards and other short lines as they are."""
        lines = []
        for line in text.strip("\n").split("\n"):
            indent = line[: len(line) - len(line.lstrip())]
            lines += (
                textwrap.wrap(line, self.width, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False)
                if len(line) > self.width
                else [line]
            )
        return "\n".join(lines)

    def history(self) -> None:
        if not self.game.moves:
            print("No turn was played yet.")
        for turn, move in enumerate(self.game.moves, start=1):
            action = move.action if isinstance(move.action, str) else json.dumps(move.action, ensure_ascii=False)
            action = textwrap.shorten(_printable(action), max(20, self.width // 3), placeholder="...")
            seen = move.observation if isinstance(move.observation, str) else json.dumps(move.observation, default=str)
            room = max(20, self.width - len(action) - 20)
            seen = textwrap.shorten(_printable(seen), room, placeholder="...")
            print(f"{turn:3}. {self.game.earned(move.reward):+g}  {action}  {style(seen, 'dim')}")
        print(f"Return so far: {self.game.total:g}")

    def save_image(self, rest: str) -> None:
        name, _, path = rest.partition(" ")
        number = _number(name or "1")
        if number is None or not 1 <= number <= len(self.images):
            print(f"There are {len(self.images)} images here; :image N saves one.")
            return
        uri = self.images[number - 1]
        try:
            kind, data = _decoded(uri)
            if path.strip():
                target = Path(path.strip()).expanduser()
                target.write_bytes(data)
            else:
                with tempfile.NamedTemporaryFile(prefix="gem-", suffix=f".{kind}", delete=False) as file:
                    file.write(data)
                target = Path(file.name)
        except (OSError, ValueError) as error:
            print(f"The image cannot be saved: {error}")
            return
        print(f"Saved as {target}")


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _printable(text: str) -> str:
    """Text that cannot steer the terminal, nor fail to be encoded."""
    safe = "".join(c if c == "\n" or c == "\t" or c.isprintable() else "\ufffd" for c in text)
    encoding = sys.stdout.encoding or "utf-8"
    return safe.encode(encoding, "replace").decode(encoding)


def _decoded(uri: str) -> tuple[str, bytes]:
    """The file ending and the bytes of a data URI."""
    head, comma, body = uri.partition(",")
    if not head.startswith("data:image/") or not comma:
        raise ValueError(f"it is at {textwrap.shorten(uri, 80)}")
    kind = head.removeprefix("data:image/").partition(";")[0]
    try:
        data = base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise ValueError(f"its data is broken ({error})") from None
    return ("".join(c for c in kind.partition("+")[0] if c.isalnum()) or "img"), data


def _size_of(uri: str) -> str:
    try:
        kind, data = _decoded(uri)
    except ValueError:
        return textwrap.shorten(uri, 60)
    return f"{kind}, {len(data) / 1000:.1f} kB"
