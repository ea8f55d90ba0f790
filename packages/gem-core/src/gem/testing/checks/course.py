"""The course of an episode: its beginning, its end, and what an action may be."""

from __future__ import annotations

import contextlib
import math
from typing import Any

from gem.errors import ResetNeeded
from gem.testing.agents import is_multi_agent, rewards_of, with_action
from gem.testing.subject import Stop, Subject, describe
from gem.testing.trace import is_over

#: Responses that models do give, and worse.
TEXTS = {
    "the empty text": "",
    "a blank": " ",
    "line ends": "\n\r\n",
    "prose": "I am not sure what to do here.",
    "an empty box": "\\boxed{}",
    "a box of blanks": "\\boxed{   }",
    "an unclosed box": "so it must be \\boxed{3",
    "nested unclosed boxes": "\\boxed{" * 500,
    "nested closed boxes": "\\boxed{" * 200 + "1" + "}" * 200,
    "a box of braces": "\\boxed{" + "{" * 200 + "}" * 200 + "}",
    "a NUL character": "\x00\\boxed{\x00}",
    "a lone surrogate": "\ud800 \\boxed{\udfff}",
    "digits of another script": "\\boxed{٣}",
    "a superscript digit": "\\boxed{²} \\boxed{²  ³}",
    "a huge number": "\\boxed{" + "9" * 5000 + "}",
    "a negative number": "\\boxed{-1}",
    "a fraction": "\\boxed{1/0} \\boxed{nan} \\boxed{inf} \\boxed{1e999}",
    "an unfinished thinking block": "<think>perhaps \\boxed{1}",
    "a thinking block": "<think>perhaps \\boxed{1}</think> no",
    "LaTeX": "\\boxed{\\text{$\\frac{1}{2}$}}",
    "code": "```python\nraise SystemExit(3)\n```",
    "an unclosed fence": "```python\nprint(1)",
    "tags": "<answer></answer><search></search><tool_call>{</tool_call>",
    "format fields": "%s %d {0} {} {name!r} $HOME",
    "right-to-left marks": "\u202e\\boxed{\u200b1\u2066}",
    "a megabyte of prose": "word " * 200_000,
    "a megabyte of open boxes": "\\boxed{" * 150_000,
}


def random_episodes(subject: Subject) -> None:
    """Play at random; what comes back is examined by the way."""
    for seed in subject.seeds:
        try:
            subject.scout(seed)
        except Stop:
            raise
        except Exception as error:  # reported by Subject.step
            raise Stop from error


def limits(subject: Subject) -> None:
    """Summed reward within the range, an end at the turn limit at the latest."""
    limit = _turn_limit(subject)
    ends = [_limited_episode(subject, limit, seed, subject.scripts[seed]) for seed in subject.seeds]
    # An environment that goes on after bad moves reaches its limit this way, whatever random moves do.
    ends.append(_limited_episode(subject, limit, subject.seed, ["no move in here"]))
    if subject.spec is None or limit is None or limit < 2:
        return
    at_limit = [(truncated, success) for turn, truncated, success in ends if turn == limit]
    if len(at_limit) > 1 and not any(truncated or success for truncated, success in at_limit):
        subject.report(
            "GEM123", f"all {len(at_limit)} episodes that lasted {limit} turns ended as terminated, unsolved"
        )


def _turn_limit(subject: Subject) -> int | None:
    limit = subject.kwargs.get("max_turns")
    if limit is None and not subject.kwargs and subject.spec is not None:
        # What counts as a turn of several agents is up to the environment.
        limit = None if subject.spec.multi_agent else subject.spec.max_turns
    return limit if isinstance(limit, int) else None


def _limited_episode(subject: Subject, limit: int | None, seed: int, actions: list[Any]) -> tuple[int, bool, bool]:
    totals: dict[str, float] = {}
    turn = 0
    with subject.fresh() as env:
        multi = is_multi_agent(env)
        subject.reset(env, seed=seed)
        steps = subject.max_steps if limit is None else limit
        result: tuple[Any, ...] = ("", 0.0, False, False, {})
        while turn < steps:
            action = actions[turn % len(actions)]
            with contextlib.suppress(Exception):
                action = with_action(env, action) if multi and isinstance(action, str) else action
            try:
                result = subject.step(env, action)
            except Stop:
                raise
            except Exception:
                return turn, False, False
            turn += 1
            for agent, reward in rewards_of(result).items():
                totals[agent] = totals.get(agent, 0.0) + reward
            if is_over(result):
                break
        over = is_over(result)
    if limit is not None and turn == limit and not over:
        subject.report("GEM109", f"it goes on after {turn} turns, its limit")
    low, high = subject.spec.reward_range if subject.spec is not None else (float("-inf"), float("inf"))
    for total in totals.values():
        if over and math.isfinite(total) and not low - 1e-6 <= total <= high + 1e-6:
            subject.report("GEM108", f"an episode's rewards sum to {total:g}, outside [{low:g}, {high:g}]")
    info = result[4] if isinstance(result[4], dict) else {}
    truncated = result[3] if isinstance(result[3], bool) else False
    return turn if over else -1, truncated, info.get("success") is True


def step_before_reset(subject: Subject) -> None:
    with subject.fresh() as env:
        _needs_reset(subject, env, "GEM301", "step before the first reset", subject.script[0])


def step_after_end(subject: Subject) -> None:
    for seed in subject.seeds:
        with subject.fresh() as env:
            if _play_to_end(subject, env, seed, subject.scripts[seed]):
                _needs_reset(subject, env, "GEM302", "step after the end of an episode", subject.scripts[seed][0])
                return
    with subject.fresh() as env:  # no random episode ends: one without any move may
        if not is_multi_agent(env) and _play_to_end(subject, env, subject.seed, ["no move in here"] * 3):
            _needs_reset(subject, env, "GEM302", "step after the end of an episode", "no move in here")


def _play_to_end(subject: Subject, env: Any, seed: int, actions: list[Any]) -> bool:
    subject.reset(env, seed=seed)
    for action in actions:
        try:
            if is_over(subject.step(env, action)):
                return True
        except Stop:
            raise
        except Exception:
            return False
    return False


def _needs_reset(subject: Subject, env: Any, code: str, what: str, action: Any) -> None:
    try:
        with subject.limited("step"):
            env.step(action)
    except ResetNeeded:
        return
    except Stop:
        raise
    except Exception as error:
        subject.report(code, f"{what} raised {describe(error)}")
    else:
        subject.report(code, f"{what} raised nothing")


def readable_random_actions(subject: Subject) -> None:
    """A random action is not met with what a text without any move is met with.

    An invalid move is fine. The reason that a text without a move gets tells the two apart.
    """
    if not subject.reproducible:
        return
    for seed in subject.seeds:
        script = subject.scripts[seed]
        with subject.fresh() as env:
            if is_multi_agent(env) or not _has_random_actions(env):
                return
            subject.reset(env, seed=seed)
            reason, turn = None, 0
            for turn, action in enumerate(script):  # noqa: B007 - used after the loop
                result = subject.step(env, action)
                reason = result[4].get("invalid_action") if isinstance(result[4], dict) else None
                if isinstance(reason, str) or is_over(result):
                    break
        if not isinstance(reason, str):
            continue
        with subject.fresh() as env:
            subject.play(env, seed, script[:turn])
            unreadable = subject.step(env, "no move in here")
        if isinstance(unreadable[4], dict) and unreadable[4].get("invalid_action") == reason:
            subject.report("GEM306", f"the random action {action!r} is answered like a text without a move: {reason}")
            return


def _has_random_actions(env: Any) -> bool:
    try:
        env.sample_random_action()
    except NotImplementedError:
        return False
    except Exception:
        return True  # before a reset there may be nothing to draw from
    return True


def wrong_types(subject: Subject) -> None:
    """What is not a str raises TypeError and leaves the episode as it was."""
    with subject.fresh() as env:
        multi = is_multi_agent(env)
        subject.reset(env, seed=subject.best_seed)
        for wrong in (None, b"\\boxed{1}", 1, ["\\boxed{1}"]):
            action = with_action(env, wrong) if multi else wrong
            try:
                with subject.limited("step"):
                    env.step(action)
            except TypeError:
                continue
            except Stop:
                raise
            except Exception as error:
                subject.report("GEM303", f"step({wrong!r}) raised {describe(error)}")
                return
            subject.report("GEM303", f"step({wrong!r}) is accepted")
            return
        if subject.reproducible:
            rest = subject.go_on(env, subject.script)
            subject.compare(
                "GEM304", rest, "after actions that raised TypeError", expected=subject.reference[1:], first_turn=1
            )


def any_text(subject: Subject) -> None:
    """Any text is an action, as the first one and in the middle of an episode."""
    middle = subject.script[: max(0, len(subject.script) // 2)]
    for name, text in TEXTS.items():
        for earlier in ([], middle) if middle and len(text) < 100_000 else ([],):
            with subject.fresh() as env:
                subject.reset(env, seed=subject.best_seed)
                try:
                    over = any(is_over(subject.step(env, action)) for action in earlier)
                    if over:
                        continue
                    subject.step(env, with_action(env, text) if is_multi_agent(env) else text, name)
                except Stop:
                    raise
                except Exception:  # reported
                    return


def reset_options(subject: Subject) -> None:
    """Empty options are none."""
    with subject.fresh() as env:
        choices: tuple[dict[str, Any] | None, ...] = (None, {})
        for options in choices:
            trace = subject.play(env, subject.best_seed, subject.script, options=options)
            if subject.reproducible and subject.clean("GEM404"):
                subject.compare("GEM309", trace, f"with options={options}")
            elif "raised" in trace[0]:
                subject.report("GEM309", f"reset(options={options}) raised {trace[0]['raised']}")
