"""Making an environment, and what its specification says."""

from __future__ import annotations

import json
import math

from gem.env_spec import EnvSpec
from gem.errors import MissingDependency
from gem.testing.agents import is_multi_agent
from gem.testing.subject import Stop, Subject, describe, missing_keywords

_NO_OPTION = "no_such_option"


def construction(subject: Subject) -> None:
    """It can be made, is an Env, refuses unknown options; its specification has a JSON form."""
    spec = subject.spec
    with subject.fresh() as env:
        multi = is_multi_agent(env)
    if spec is not None and spec.multi_agent != multi:
        subject.report(
            "GEM105", f"EnvSpec.multi_agent is {spec.multi_agent} but it is {'' if multi else 'not '}a MultiAgentEnv"
        )
    try:
        unexpected = subject.build(**{_NO_OPTION: 1})
    except (MissingDependency, Stop):
        raise
    except TypeError as error:
        if _NO_OPTION not in str(error):
            subject.report("GEM104", f"the error does not name the unknown option: {describe(error)}")
    except Exception as error:
        subject.report("GEM104", f"an unknown option raised {describe(error)}")
    else:
        subject.close(unexpected)
        subject.report("GEM104", "an unknown option is accepted silently")
    if spec is not None and isinstance(spec.entry_point, str):
        try:
            text = json.dumps(spec.to_dict(), allow_nan=True)
            same = EnvSpec.from_dict(json.loads(text)) == spec
        except (TypeError, ValueError) as error:
            subject.report("GEM107", f"the EnvSpec has no JSON form: {describe(error)}")
        else:
            if not same:
                subject.report("GEM107", "the EnvSpec read back from JSON differs; tuples in kwargs become lists")


def keywords(subject: Subject) -> None:
    """The parameters have the names that trainers call them by."""
    with subject.fresh() as env:
        name = "actions" if is_multi_agent(env) else "action"
        for function, names in ((env.reset, ("seed", "options")), (env.step, (name,))):
            missing = missing_keywords(function, *names)
            if missing:
                subject.report("GEM214", f"{function.__name__} has no parameter {missing[0]!r}")
                raise Stop


def advice(subject: Subject) -> None:
    """What a specification says for its users' sake."""
    spec = subject.spec
    if spec is None:
        return
    if not spec.description.strip():
        subject.report("GEM121", "the EnvSpec has no description")
    if not all(map(math.isfinite, spec.reward_range)):
        subject.report("GEM122", f"reward_range is {spec.reward_range}")
