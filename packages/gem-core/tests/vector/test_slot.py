from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from vector_toys import Awaiting, Counter, Pair

import gem
from gem.vector.slot import (
    Abandoned,
    AutoresetMode,
    EnvMaker,
    Slot,
    check_outcome,
    failure_outcome,
    is_multi_agent,
    reset_arguments,
)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_modes_by_any_spelling(mode: AutoresetMode) -> None:
    spellings = (mode, mode.value, mode.name, mode.name.lower(), mode.name.lower().replace("_", "-"))
    assert {AutoresetMode.parse(s) for s in spellings} == {mode}


def test_unknown_mode() -> None:
    with pytest.raises(ValueError, match="'same_step', 'next_step' or 'disabled', got 'always'"):
        AutoresetMode.parse("always")


def slot(mode: AutoresetMode = AutoresetMode.SAME_STEP, source: Any = Counter) -> Slot:
    made = Slot(EnvMaker("toy", source), 7, mode)
    made.build()
    return made


def test_abandoned_slot_does_nothing_more() -> None:
    old = slot()
    old.reset((1, None))
    new = old.abandon()
    outcome = old.step("truncate")
    assert "final_obs" not in outcome[4]  # no new episode in an environment that nobody uses
    with pytest.raises(Abandoned):
        old.step("raise")
    assert new.env is None
    assert new.step("ignored")[0].startswith("start")


def test_interrupt_from_the_keyboard_passes() -> None:
    class Interrupted(Counter):
        def step(self, action: str) -> tuple[object, float, bool, bool, dict[str, object]]:
            raise KeyboardInterrupt

    made = slot(source=Interrupted)
    made.reset()
    with pytest.raises(KeyboardInterrupt):
        made.step("go")


def test_a_reset_that_fails_after_an_episode_keeps_the_episode() -> None:
    class FailsLater(Counter):
        def reset(self, seed: int | None = None, options: dict[str, object] | None = None) -> object:
            if self.steps > 0:
                raise OSError("out of containers")
            return super().reset(seed, options)

    made = slot(source=FailsLater)
    made.reset()
    observation, reward, terminated, truncated, info = made.step("truncate")
    assert (observation, reward, terminated, truncated) == ("", 0.5, False, True)
    assert info["final_obs"].startswith("truncate 1")
    assert "out of containers" in info["error"]
    assert made.step("go")[0].startswith("start")


def test_replacement_that_cannot_be_made_is_reported_and_tried_again() -> None:
    attempts: list[int] = []

    def source() -> gem.Env:
        attempts.append(1)
        if len(attempts) in (2, 3):
            raise OSError("no room")
        return Counter()

    made = Slot(EnvMaker("toy", source), 0, AutoresetMode.SAME_STEP)
    made.build()
    made.reset()
    assert "no room" in made.step("raise")[4]["error"] or made.env is None
    assert "no room" in made.step("go")[4]["error"]
    assert made.step("go")[0].startswith("start")


def test_reset_gets_only_what_was_given() -> None:
    assert reset_arguments(None, None) == {}
    assert reset_arguments(0, {}) == {"seed": 0, "options": {}}

    class OldStyle(Counter):
        def reset(self, seed: int | None = None) -> object:  # type: ignore[override]
            return super().reset(seed)

    assert slot(source=OldStyle).reset((3, None))[0].startswith("start")


@pytest.mark.parametrize("begun", ["text", ("text",), ("text", None), ("text", {}, 0)])
def test_malformed_reset(begun: object) -> None:
    class Malformed(Counter):
        def reset(self, seed: int | None = None, options: dict[str, object] | None = None) -> object:
            return begun

    assert "reset must return (observation, info)" in slot(source=Malformed).reset()[4]["error"]


@given(st.one_of(st.none(), st.integers(), st.tuples(st.text(), st.floats()), st.tuples(*[st.none()] * 5)))
def test_malformed_outcomes_are_errors(outcome: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        check_outcome(outcome)


@given(st.text(min_size=1))
def test_error_is_one_line(message: str) -> None:
    error = failure_outcome(3, "game:X", "step", ValueError(message))[4]["error"]
    assert len(error.splitlines()) == 1
    assert error.startswith("environment 3 (game:X) failed in step: ValueError")


def test_multi_agent_by_class_or_specification() -> None:
    from gem.multiagent import SingleAgentView

    env = Counter()
    assert not is_multi_agent(env)
    env.spec = gem.EnvSpec(id="x:Y", entry_point="m:C", multi_agent=True)
    assert is_multi_agent(env)
    assert is_multi_agent(gem.Wrapper(Pair()))
    assert not is_multi_agent(SingleAgentView(Pair(), "a", lambda observation: "y"))


def test_a_wrapper_that_does_more_than_observe_is_not_passed_by() -> None:
    class Busy(gem.Wrapper):
        def step(self, action: str) -> Any:
            return self.env.step(action)

    assert slot(source=Awaiting).has_async_reset
    assert slot(source=lambda: gem.Wrapper(Awaiting())).has_async_reset
    assert not slot(source=lambda: Busy(Awaiting())).is_async
