from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from vector_toys import Counter

import gem
from gem.rollout.records import TaskSpec
from gem.vector import AutoresetMode, EnvMaker, VectorConfig, VectorEnv, make_vec


@pytest.fixture(autouse=True)
def toy() -> Iterator[gem.EnvSpec]:
    """A registered id."""
    from gem.registry import unregister

    yield gem.register("vector-test:Toy", Counter, limit=5)
    unregister("vector-test:Toy")


def test_one_id_repeated() -> None:
    with make_vec("vector-test:Toy", num_envs=np.int64(3)) as vec:
        assert vec.env_ids == ["vector-test:Toy"] * 3
        assert [env.env_id for env in vec.envs] == ["vector-test:Toy"] * 3
        assert repr(vec) == "<SyncVectorEnv 3 x vector-test:Toy>"


def test_one_id_alone() -> None:
    with make_vec("vector-test:Toy") as vec:
        assert vec.num_envs == 1


def test_every_kind_of_source(toy: gem.EnvSpec) -> None:
    task = TaskSpec("vector-test:Toy", {"limit": 9}, seed=77)
    with make_vec(["vector-test:Toy", toy, task, Counter, lambda: Counter(limit=7)]) as vec:
        assert [env.limit for env in vec.envs] == [5, 5, 9, 3, 7]
        first = vec.reset()[0][2]
        assert vec.reset(seed=77, indices=[2]) != first  # an integer counts up from the first environment
        assert vec.reset(seed=[77], indices=[2])[0] == [first]


def test_wrappers_and_options_that_a_task_brings() -> None:
    task = TaskSpec("vector-test:Toy", {"wrappers": "concat,episode_tracking"}, seed=3, options={"colour": "red"})
    with make_vec([task, "vector-test:Toy"], wrappers=[gem.Wrapper]) as vec:
        assert [type(e).__name__ for e in (vec.envs[0], vec.envs[0].env)] == ["Wrapper", "EpisodeStatistics"]
        assert type(vec.envs[1].env) is Counter
        _, infos = vec.reset()
        assert [info["options"] for info in infos] == [{"colour": "red"}, {}]
        assert vec.reset()[1][0]["options"] == {}  # of the first reset only
    with make_vec("vector-test:Toy", vec_kwargs=[{"wrappers": "concat"}]) as vec:
        assert type(vec.envs[0]).__name__ == "Concat"


@pytest.mark.parametrize("wrappers", ["episode_tracking , concat", [{"name": "episode_tracking"}, "concat"]])
def test_several_wrappers_in_every_spelling(wrappers: Any) -> None:
    with make_vec("vector-test:Toy", wrappers=wrappers) as vec:
        assert [type(e).__name__ for e in (vec.envs[0], vec.envs[0].env)] == ["Concat", "EpisodeStatistics"]
    with make_vec("vector-test:Toy", wrappers={"name": "window", "turns": 2}) as vec:
        assert type(vec.envs[0]).__name__ == "Window"


def test_the_published_call() -> None:
    with make_vec(
        ["vector-test:Toy"] * 2, vec_kwargs=[{"limit": 1, "label": "a"}, {"label": "b"}], async_mode=True, limit=2
    ) as vec:
        assert type(vec).__name__ == "ThreadVectorEnv"
        assert [(env.limit, env.label) for env in vec.envs] == [(2, "a"), (2, "b")]
    given = [{"limit": 1}]
    make_vec("vector-test:Toy", vec_kwargs=given, label="x").close()
    assert given == [{"limit": 1}]


def test_wrappers_apply_inside_out() -> None:
    class Outer(gem.Wrapper):
        pass

    with make_vec("vector-test:Toy", num_envs=2, wrappers=[gem.Wrapper, Outer]) as vec:
        assert type(vec.envs[0]) is Outer
        assert type(vec.envs[0].env) is gem.Wrapper
    with make_vec(Counter, wrappers=[Outer]) as vec:
        assert type(vec.envs[0]) is Outer
    with make_vec("vector-test:Toy", wrappers="concat") as vec:
        vec.reset(seed=0)
        assert "start" in vec.step(["go"])[0][0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"env_ids": []}, ValueError, "at least one environment"),
        ({"env_ids": "vector-test:Toy", "num_envs": 0}, ValueError, "num_envs must be at least 1"),
        ({"env_ids": "vector-test:Toy", "num_envs": "4"}, TypeError, "num_envs must be a whole number, got '4'"),
        ({"env_ids": ["vector-test:Toy"] * 2, "num_envs": 2}, ValueError, "but 2 were given"),
        ({"env_ids": "vector-test:Toy", "vec_kwargs": [{}, {}]}, ValueError, "2 vec_kwargs for 1"),
        ({"env_ids": "vector-test:Toy", "backend": "tread"}, ValueError, "there are process, sync, thread"),
        ({"env_ids": "vector-test:Toy", "backend": "sync", "async_mode": True}, ValueError, "contradicts"),
        ({"env_ids": "vector-test:Toy", "autoreset": "often"}, ValueError, "autoreset must be"),
        ({"env_ids": "vector-test:Toy", "step_timeout": 0}, ValueError, "step_timeout must be a positive"),
        ({"env_ids": "vector-test:Toy", "num_workers": 0}, ValueError, "num_workers must be at least 1"),
        ({"env_ids": "vector-test:Toy", "max_trun": 3}, TypeError, "no option 'max_trun'"),
        ({"env_ids": "vector-test:Toi"}, gem.UnknownEnv, "did you mean 'vector-test:Toy'"),
        ({"env_ids": [3]}, TypeError, "an id, an EnvSpec, a TaskSpec or a callable, got 3"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_vec(**arguments)


class Custom(VectorEnv):
    """The least a backend of one's own must be."""

    def __init__(self, makers: Sequence[EnvMaker], config: VectorConfig) -> None:
        super().__init__(makers, config)
        self.config = config
        self.made = [maker.make() for maker in makers]
        self.outcomes: list[Any] = []

    def _submit(self, method: str, requests: list[Any], patient: bool = False) -> dict[int, Any]:
        for index, argument in requests:
            env = self.made[index]
            if method == "step":
                self.outcomes.append((index, env.step(argument)))
            else:
                observation, info = env.reset(seed=argument[0])
                self.outcomes.append((index, (observation, 0.0, False, False, info)))
        return {}

    def _poll(self, timeout: float | None) -> list[Any]:
        outcomes, self.outcomes = self.outcomes, []
        return outcomes

    def _close(self, timeout: float) -> None:
        self.closed_within = timeout


def test_a_backend_of_ones_own() -> None:
    with make_vec("vector-test:Toy", num_envs=2, backend=Custom, seed=1, autoreset="next_step", num_workers=4) as vec:
        assert isinstance(vec, Custom)
        assert vec.config == VectorConfig(autoreset=AutoresetMode.NEXT_STEP, seeds=(1, 2), num_workers=4)
        vec.reset()
        assert vec.step({1: "go"})[0][0].startswith("go 1")
    assert vec.closed_within == 5.0


def test_a_backend_from_a_plugin(site: Any, installed: Any) -> None:
    source = "from gem.vector.sync import SyncVectorEnv\nclass Far(SyncVectorEnv):\n    pass\n"
    site.add("gem-far", groups={"gem.backends": {"far": "gem_far:Far"}}, modules={"gem_far": source})
    installed()
    with make_vec(Counter, backend="far") as vec:
        assert type(vec).__name__ == "Far"
    with pytest.raises(ValueError, match="there are far, process, sync, thread"):
        make_vec(Counter, backend="near")
    with pytest.raises(ValueError, match="pip install gem-ray"):
        make_vec(Counter, backend="ray")
