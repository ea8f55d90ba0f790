from __future__ import annotations

import threading

import pytest
from vector_toys import Counter, Noted, Unmakeable

from gem.vector import make_vec


def test_everything_happens_in_the_callers_thread() -> None:
    with make_vec(Counter, num_envs=2) as vec:
        vec.reset(seed=0)
        assert {i["thread"] for i in vec.step(["go", "go"])[4]} == {threading.get_ident()}


def test_envs_are_at_hand() -> None:
    with make_vec(Counter, num_envs=2) as vec:
        vec.reset(seed=0)
        vec.envs[1].steps = 10
        assert vec.step(["go", "go"])[2].tolist() == [False, True]


@pytest.mark.parametrize("limit", ["step_timeout", "reset_timeout"])
def test_time_limits_are_refused(limit: str) -> None:
    with pytest.raises(ValueError, match="backend='thread' or 'process'"):
        make_vec(Counter, **{limit: 1.0})


def test_what_making_raises_comes_out_and_what_was_made_is_closed(tmp_path: object) -> None:
    notes = f"{tmp_path}/notes"
    with pytest.raises(LookupError, match="no such data set"):
        make_vec([lambda: Noted(notes), Unmakeable])
    with open(notes) as file:
        assert file.read().split() == ["made", "closed"]


def test_interrupt_from_the_keyboard_leaves_a_usable_vector() -> None:
    class Interrupted(Counter):
        def do_interrupt(self) -> None:
            raise KeyboardInterrupt

    with make_vec(Interrupted, num_envs=2) as vec:
        vec.reset(seed=0)
        with pytest.raises(KeyboardInterrupt):
            vec.step(["go", "interrupt"])
        vec.reset(seed=0)
        assert vec.step(["go", "go"])[1].tolist() == [0.5, 0.5]


def test_interrupt_from_the_keyboard_in_a_reset() -> None:
    class Interrupted(Counter):
        def reset(self, seed: int | None = None, options: dict[str, object] | None = None) -> object:
            if options == {"interrupt": True}:
                raise KeyboardInterrupt
            return super().reset(seed)

    with make_vec(Interrupted, num_envs=2) as vec:
        with pytest.raises(KeyboardInterrupt):
            vec.reset(options={"interrupt": True})
        vec.reset(seed=0)
        assert vec.step(["go", "go"])[1].tolist() == [0.5, 0.5]


def test_replaced_and_pending_environments_get_their_fast_path_back() -> None:
    with make_vec(Counter, num_envs=2, autoreset="next_step", limit=1) as vec:
        vec.reset(seed=0)
        for _ in range(3):
            assert vec.step(["go", "go"])[2].all()
            assert not vec.step(["go", "go"])[2].any()
        vec.step(["raise", "none"])
        assert [o.split()[0] for o in vec.step(["go", "go"])[0]] == ["start", "start"]
        assert [o.split()[0] for o in vec.step(["go", "go"])[0]] == ["go", "go"]
