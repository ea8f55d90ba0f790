"""What only environments of several agents have to keep."""

from __future__ import annotations

from typing import Any

from gem.testing.agents import is_multi_agent
from gem.testing.subject import Stop, Subject, describe

_NOBODY = "no_such_agent"


def agents(subject: Subject) -> None:
    """Actions are taken from exactly the agents whose turn it is."""
    with subject.fresh() as env:
        if not is_multi_agent(env):
            return
        subject.reset(env, seed=subject.best_seed)
        right = subject.script[0]
        some = next(iter(right))
        missing = {agent: action for agent, action in right.items() if agent != some}
        for what, actions, name in (
            ("an action of an unknown agent", {**right, _NOBODY: "x"}, _NOBODY),
            (f"no action for {some!r}", missing, some),
        ):
            _refused(subject, env, what, actions, name)


def _refused(subject: Subject, env: Any, what: str, actions: dict[str, Any], name: str) -> None:
    try:
        with subject.limited("step"):
            env.step(actions)
    except ValueError as error:
        if name not in str(error):
            subject.report("GEM802", f"the error for {what} does not name the agent: {describe(error)}")
    except Stop:
        raise
    except Exception as error:
        subject.report("GEM802", f"{what} raised {describe(error)}")
    else:
        subject.report("GEM802", f"{what} is accepted")
