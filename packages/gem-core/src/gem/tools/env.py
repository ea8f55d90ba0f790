"""The wrapper that lets an agent call tools between two steps of an environment."""

from __future__ import annotations

import difflib
import json
import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from gem.env import Env, Wrapper
from gem.errors import GemError, ResetNeeded
from gem.parsing import blank_think
from gem.tools.call import Content, ToolCall, ToolContext, ToolResult
from gem.tools.limits import Overstayed, shorten_content, within
from gem.tools.loading import load_tool
from gem.tools.parsers import tool_calls
from gem.tools.schema import mend, problem
from gem.tools.tool import Tool
from gem.wording import message
from gem.wrappers.content import join

Info = dict[str, Any]
Outcome = tuple[Any, float, bool, bool, Info]

_LIMIT_REACHED = "You have used all your tool calls: give your final answer now."


class ToolEnv(Wrapper):
    """An environment whose agent may call tools.

    A response with calls goes to the tools, all of them in order, and its observation is what they answer; the
    environment inside is not stepped, even where the response holds an answer as well. A response without calls
    goes to the environment. A call that fails, or cannot be read, is answered with an error that the agent can
    learn from; no tool ends the episode.

    ``info`` of a step: ``tool_use_counter`` and ``tool_success_counter`` (calls of this episode so far, and those
    that succeeded), ``use_tool`` (whether the observation is a tool's answer), and, where it is, ``tool_type``,
    ``parsed_action`` (the response up to the end of the last call) and ``tool_calls`` (name, arguments, status and
    ``is_error`` of each). ``reset`` adds ``prev_ep_tool_use_counter`` and ``prev_ep_tool_success_counter``.
    ``info["metrics"]`` counts uses and errors of each tool.

    Args:
        env: the environment inside.
        tools: tools, or anything :func:`load_tool` takes. A tool that serves another environment already is
            spawned, not shared.
        tool_reward: reward of a call that was carried out, whatever came of it.
        tool_success_reward: added when it succeeded.
        tool_execute_error_reward: added when it failed, or could not be read.
        max_tool_uses: calls an episode, unreadable ones included; after that every response goes to the
            environment. ``None``: no limit.
        max_tool_seconds: time all calls of an episode may take together; then as if the calls were used up.
        max_result_chars: a longer answer keeps its head and its tail around a marker.
        call_timeout: seconds to wait for one call; the agent then reads that its outcome is unknown.
        instructions: append how to call the tools to the first observation. ``False``: give the schemas as
            ``info["tools"]`` instead, and results undressed, for chat templates that list tools. A string: append
            that.
        parse_think: also carry out calls inside ``<think>`` blocks.
    """

    state_excludes = ("env", "_init_arguments", "tools", "_routes")

    def __init__(
        self,
        env: Env,
        tools: Iterable[Any],
        tool_reward: float = 0.0,
        tool_success_reward: float = 0.0,
        max_tool_uses: int | None = 10,
        *,
        tool_execute_error_reward: float = 0.0,
        max_tool_seconds: float | None = None,
        max_result_chars: int = 16_384,
        call_timeout: float | None = None,
        instructions: bool | str = True,
        parse_think: bool = False,
    ) -> None:
        super().__init__(env)
        if isinstance(tools, str):
            tools = [name.strip() for name in tools.split(",") if name.strip()]
        self.tools = [tool if tool.claim() else tool.spawn() for tool in map(load_tool, tools)]
        self.tool_reward = tool_reward
        self.tool_success_reward = tool_success_reward
        self.tool_execute_error_reward = tool_execute_error_reward
        self.max_tool_uses = math.inf if max_tool_uses is None else max_tool_uses
        self.max_tool_seconds = max_tool_seconds
        self.max_result_chars = max_result_chars
        self.call_timeout = call_timeout
        self.parse_think = parse_think
        self._instructions = instructions
        self._routes: dict[str, tuple[Tool, dict[str, Any]]] | None = None
        self._begun = 0  # how many tools are in an episode
        self._running = False
        self.tool_use_counter = 0
        self.tool_success_counter = 0
        self.tool_seconds = 0.0
        self._metrics = self._no_uses()

    # -- what can be called ---------------------------------------------------------------------------

    def tool_schemas(self) -> list[dict[str, Any]]:
        """The tools as chat templates and model servers take them: ``{"type": "function", "function": {...}}``."""
        return [{"type": "function", "function": function} for _, function in self._functions().values()]

    def tool_instructions(self) -> str:
        """How to call the tools, as appended to the first observation."""
        if isinstance(self._instructions, str):
            return self._instructions
        texts, listed = [], []
        for tool in self.tools:
            text = tool.instructions()
            if text is None:
                listed += [
                    json.dumps({"type": "function", "function": f}, ensure_ascii=False) for f in tool.functions()
                ]
            elif text:
                texts.append(text)
        if listed:
            texts.append(
                "Functions you can call, as JSON schemas:\n<tools>\n" + "\n".join(listed) + "\n</tools>\n"
                "To call one, write its name and its arguments as one JSON object:\n"
                '<tool_call>\n{"name": "...", "arguments": {...}}\n</tool_call>\n'
                "The answer comes back inside <tool_response></tool_response>."
            )
        if len(texts) > 1:
            texts.insert(0, "Available tools:")
        return "\n".join(texts)

    def _functions(self) -> dict[str, tuple[Tool, dict[str, Any]]]:
        # Asked for late and once: a tool may have to connect before it knows its functions.
        if self._routes is None:
            routes: dict[str, tuple[Tool, dict[str, Any]]] = {}
            for tool in self.tools:
                for function in tool.functions():
                    if function["name"] in routes:
                        raise GemError(f"two tools are called {function['name']!r}: give one of them another name")
                    routes[function["name"]] = (tool, function)
            self._routes = routes
        return self._routes

    # -- episodes -------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any) -> tuple[Any, Info]:
        self._running = False
        self._end_episode()
        self._functions()
        previous = {
            "prev_ep_tool_use_counter": self.tool_use_counter,
            "prev_ep_tool_success_counter": self.tool_success_counter,
        }
        observation, info = super().reset(seed=seed, options=options, **kwargs)
        self.tool_use_counter = 0
        self.tool_success_counter = 0
        self.tool_seconds = 0.0
        self._metrics = self._no_uses()
        for tool in self.tools:
            self._begun += 1
            tool.begin_episode()
        self._running = True
        info = {**info, **previous, **self._counters(), "use_tool": False}
        if self._instructions is False:
            info["tools"] = self.tool_schemas()
        elif text := self.tool_instructions():
            observation = join((observation, "\n" + text))
        return observation, info

    def step(self, action: str) -> Outcome:
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, got {type(action).__name__}")
        if not self._running:
            raise ResetNeeded
        if not self._used_up():
            answers = [self._answer(tool, call) for tool, call in self._read(action)]
            if given := [answer for answer in answers if answer is not None]:
                return self._tool_outcome(action, given)
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            self._running = False
            self._end_episode()
        metrics = {**info.get("metrics", {}), **self._metrics}
        info = {**info, **self._counters(), "use_tool": False, "metrics": metrics}
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        self._running = False
        self._end_episode()
        for tool in self.tools:
            _quietly(tool, "close")
        super().close()

    def _end_episode(self) -> None:
        begun, self._begun = self.tools[: self._begun], 0
        for tool in begun:
            _quietly(tool, "end_episode")

    # -- calls ----------------------------------------------------------------------------------------

    def _read(self, response: str) -> list[tuple[Tool | None, ToolCall]]:
        """The calls of a response in order, each with its tool; a call inside another is part of that one."""
        text = response if self.parse_think else blank_think(response)
        routes = self._functions()
        readers: list[list[tuple[Tool | None, ToolCall]]] = []
        if routes:
            readers.append([(routes[c.name][0] if c.name in routes else None, c) for c in tool_calls(text)])
        # those that do not override it read the syntax that was just read for all
        own = [tool for tool in self.tools if type(tool).parse is not Tool.parse]
        readers += [[(tool, call) for call in tool.parse(text)] for tool in own]
        found = [(*call.span, reader, tool, call) for reader, calls in enumerate(readers) for tool, call in calls]
        found.sort(key=lambda item: (item[0], item[2]))
        kept: list[tuple[Tool | None, ToolCall]] = []
        last = (-1, -1, -1)
        for start, end, reader, owner, call in found:
            # one block may hold several calls: same reader, same place
            if start >= last[1] or (start, end, reader) == last:
                kept.append((owner, call))
                last = (start, end, reader)
        return kept

    def _answer(self, tool: Tool | None, call: ToolCall) -> _Answer | None:
        """Carry out one call, or say why not; ``None``: it was no call."""
        if self._used_up():
            if call.span[0] == call.span[1]:
                return None  # only a guess: a published-style tool says itself whether it was called
            return _Answer(tool, call, _error("not carried out: no tool calls are left"), counted=False)
        began = time.monotonic()
        arguments, refusal = self._examine(tool, call)
        if tool is None or refusal is not None:
            answer = _Answer(tool, call, _error(refusal or "not carried out"))
        else:
            result = self._call(tool, call, arguments)
            if result is None:
                return None
            answer = _Answer(tool, call, result, carried_out=True)
        self.tool_seconds += time.monotonic() - began
        answer.result = replace(answer.result, content=shorten_content(answer.result.content, self.max_result_chars))
        self._count(answer)
        return answer

    def _examine(self, tool: Tool | None, call: ToolCall) -> tuple[dict[str, Any], str | None]:
        """The arguments as the tool wants them, and why the call cannot be carried out."""
        routes = self._functions()
        if call.error is not None:
            return call.arguments, call.error
        if tool is None:
            near = difflib.get_close_matches(call.name[:100], list(routes), n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(routes)}"
            return call.arguments, f"there is no tool {call.name[:100]!r}; {hint}"
        route = routes.get(call.name)
        if route is None or route[0] is not tool:
            return call.arguments, None  # a published-style tool, which checks for itself
        schema = route[1]["parameters"]
        arguments = mend(call.arguments, schema)
        wrong = problem(arguments, schema)
        return arguments, None if wrong is None else f"{call.name}: {wrong}"

    def _call(self, tool: Tool, call: ToolCall, arguments: dict[str, Any]) -> ToolResult | None:
        timeout = self._time_left()
        context = ToolContext(call.name, timeout, self.env, call.raw)
        # A tool that keeps the limit itself answers better than a thread left behind: it is given a little longer.
        patience = None if timeout is None else timeout + min(1.0, timeout / 2)
        try:
            value = within(patience, lambda: tool.call(arguments, context))
        except Overstayed:
            return _error(f"{call.name} did not answer within {timeout:g} s; its outcome is unknown")
        except (Exception, SystemExit) as error:  # the agent learns of it; the episode goes on
            text = message(error)
            return _error(f"{type(error).__name__}: {text}" if text else type(error).__name__)
        return None if value is None else ToolResult.of(value)

    def _time_left(self) -> float | None:
        limits = [self.call_timeout] if self.call_timeout is not None else []
        if self.max_tool_seconds is not None:
            limits.append(max(self.max_tool_seconds - self.tool_seconds, 0.01))
        return min(limits, default=None)

    def _used_up(self) -> bool:
        if self.tool_use_counter >= self.max_tool_uses:
            return True
        return self.max_tool_seconds is not None and self.tool_seconds >= self.max_tool_seconds

    # -- what comes of them ---------------------------------------------------------------------------

    def _count(self, answer: _Answer) -> None:
        failed = answer.result.is_error
        self.tool_use_counter += 1
        self.tool_success_counter += not failed
        self._metrics["tool/uses"] += 1
        self._metrics["tool/successes"] += not failed
        if answer.tool is not None:
            self._metrics[f"tool/{_label(answer.tool)}/uses"] += 1
            self._metrics[f"tool/{_label(answer.tool)}/errors"] += failed

    def _no_uses(self) -> dict[str, float]:
        counts = [f"tool/{_label(tool)}/{what}" for tool in self.tools for what in ("uses", "errors")]
        return dict.fromkeys(["tool/uses", "tool/successes", *counts], 0.0)

    def _counters(self) -> Info:
        return {"tool_use_counter": self.tool_use_counter, "tool_success_counter": self.tool_success_counter}

    def _tool_outcome(self, action: str, answers: list[_Answer]) -> Outcome:
        pieces: list[Content] = []
        reward = 0.0
        for answer in answers:
            if pieces:
                pieces.append("\n")
            pieces.append(self._render(answer))
            if answer.carried_out:
                reward += self.tool_reward
            if answer.counted:
                reward += self.tool_execute_error_reward if answer.result.is_error else self.tool_success_reward
        if self._used_up():
            pieces.append(f"\n\n{_LIMIT_REACHED}")
        last = answers[-1]
        info: Info = {
            "parsed_action": last.result.metadata.get("parsed_action", action[: last.call.span[1]]),
            "tool_type": _label(last.tool) if last.tool is not None else "unknown",
            "tool_calls": [answer.summary() for answer in answers],
            **self._counters(),
            "use_tool": True,
            "metrics": dict(self._metrics),
        }
        return join(pieces), reward, False, False, info

    def _render(self, answer: _Answer) -> Content:
        tool = answer.tool or _SPEAKER
        if self._instructions is False and type(tool).render is Tool.render:
            return answer.result.content  # the chat template that lists the tools dresses their results too
        return tool.render(answer.result)

    # -- state ----------------------------------------------------------------------------------------

    def get_state(self) -> Any:
        """The state of the environment, the counters, and the state of each tool."""
        return {**super().get_state(), "tools": [tool.get_state() for tool in self.tools]}

    def set_state(self, state: Any) -> None:
        if not isinstance(state, dict) or len(state.get("tools", ())) != len(self.tools):
            raise TypeError(
                f"set_state takes what get_state of a ToolEnv with these tools returned, got {type(state).__name__}"
            )
        super().set_state({name: part for name, part in state.items() if name != "tools"})
        for tool, tool_state in zip(self.tools, state["tools"], strict=True):
            tool.set_state(tool_state)

    def _set_own_state(self, state: dict[str, Any]) -> None:
        # The tools of this instance may stand before their episode while those of the snapshot were in it.
        if self._begun > state["_begun"]:
            self._end_episode()
        begun = self._begun
        super()._set_own_state(state)
        for tool in self.tools[begun : self._begun]:
            tool.begin_episode()


@dataclass(slots=True)
class _Answer:
    """A call and what came of it."""

    tool: Tool | None
    call: ToolCall
    result: ToolResult
    #: Whether the tool was asked.
    carried_out: bool = False
    #: Whether it counts as a use.
    counted: bool = True

    def summary(self) -> Info:
        return {
            "name": self.call.name,
            "arguments": self.call.arguments,
            "status": self.call.status,
            "is_error": self.result.is_error,
        }


#: Answers calls that belong to no tool.
_SPEAKER = Tool()


def _error(message: str) -> ToolResult:
    return ToolResult(f"Error: {message}", is_error=True)


def _label(tool: Tool) -> str:
    return tool.tool_type or tool.name or type(tool).__name__


def _quietly(tool: Tool, method: str) -> None:
    """A tool that fails to clean up is reported and does not keep the others from it."""
    try:
        getattr(tool, method)()
    except Exception as error:
        warnings.warn(f"{method}() of {tool!r} failed: {error!r}", RuntimeWarning, stacklevel=3)
