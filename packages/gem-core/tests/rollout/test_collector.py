"""Many episodes at once."""

from __future__ import annotations

import asyncio
import json
import threading
from functools import partial

import numpy as np
import pytest

import gem
from gem.plugins import manager
from gem.rollout import Collector, Episode, Response, TaskSpec

BACKENDS = ["sync", "thread"]


def counter(observations):
    """Says the number that the observation asks for."""
    return [observation.rsplit("Say ", 1)[1].rstrip(".") for observation in observations]


async def async_counter(observation):
    await asyncio.sleep(0)
    return counter([observation])[0]


def collect(collector, how, seeds, policy=None, **options):
    if how == "batch":
        return collector.collect(policy or counter, seeds)
    return asyncio.run(collector.collect_async(policy or async_counter, seeds, **options))


@pytest.fixture(params=["batch", "async"])
def how(request):
    return request.param


def numbers(episodes):
    return [(episode.task.seed, episode.total_reward, len(episode.turns)) for episode in episodes]


# -- what is played --------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("num_envs", [1, 3, 64])
def test_every_task_in_order_whatever_the_number_of_environments(count, how, backend, num_envs):
    expected = []
    for seed in range(20):
        env = count()
        env.reset(seed=seed)
        expected.append((seed, 1.0, env.length))
    with Collector("test:Count", num_envs=num_envs, backend=backend) as collector:
        rollouts = collect(collector, how, range(20))
    assert numbers(rollouts.episodes) == expected
    assert rollouts.errors == []
    assert rollouts.metrics["mean_return"] == 1.0
    assert rollouts.metrics["success_rate"] == 1.0
    assert rollouts.metrics["turns"] == sum(length for *_, length in expected)
    assert rollouts.metrics["turns_per_second"] > 0
    assert len({episode.episode_id for episode in rollouts.episodes}) == 20


def test_environments_are_kept_between_collections(count, how):
    with Collector("test:Count", num_envs=4) as collector:
        first = collect(collector, how, range(10))
        second = collect(collector, how, range(10))
    assert count.made == 4
    assert numbers(first.episodes) == numbers(second.episodes)
    assert first.episodes[0].episode_id != second.episodes[0].episode_id


def test_groups_start_alike(count, how):
    with Collector("test:Count", num_envs=3, group_size=4) as collector:
        rollouts = collect(collector, how, [5, 6])
        groups = rollouts.groups()
        assert [len(group) for group in groups.values()] == [4, 4]
        for group in groups.values():
            assert len({episode.turns[0].observation for episode in group}) == 1
            assert len({episode.task.seed for episode in group}) == 1
        assert list(groups) == [e.group_id for e in rollouts.episodes[::4]]
        assert not set(groups) & set(collect(collector, how, [5]).groups())


def test_tasks_with_options(count, how):
    tasks = [TaskSpec("test:Count", seed=1, options={"length": n}) for n in (4, 2)]
    with Collector("test:Count", num_envs=2) as collector:
        assert [len(e.turns) for e in collect(collector, how, tasks).episodes] == [4, 2]
        with pytest.raises(ValueError, match=r"this collector plays 'test:Count' .*not 'test:Other'"):
            collect(collector, how, [TaskSpec("test:Other", seed=1)])
        with pytest.raises(ValueError, match="use a collector for each environment"):
            collect(collector, how, [TaskSpec("test:Count", {"most": 9}, seed=1)])


def test_the_record_rebuilds_the_episode_elsewhere(count, how):
    with Collector("test:Count", num_envs=2, most=9, wrappers="concat_with_action") as collector:
        episode = collect(collector, how, [7]).episodes[0]
    record = Episode.from_dict(json.loads(json.dumps(episode.to_dict())))
    env = record.task.make()
    observation, _ = record.task.reset(env)
    for turn in record.turns:
        assert observation == turn.observation
        observation, reward, terminated, truncated, _ = env.step(turn.response)
        assert (reward, terminated, truncated) == (turn.reward, turn.terminated, turn.truncated)


def test_an_environment_from_a_task_a_spec_or_a_function(count, how):
    task = TaskSpec("test:Count", {"most": 1, "wrappers": "latest"})
    for source in (
        task,
        gem.EnvSpec(id="test:Own", entry_point=count, kwargs={"most": 1}),
        count,
        partial(count, most=1),
    ):
        with Collector(source, num_envs=2) as collector:
            assert collect(collector, how, [1, 2]).metrics["episodes"] == 2


def test_wrappers(count):
    seen = []

    def policy(observations):
        seen.extend(observations)
        return ["1"] * len(observations)

    with Collector("test:Count", num_envs=1) as collector:
        collector.collect(policy, [3])
    assert seen[0].endswith("Say 1.")  # the policy is asked
    with Collector("test:Count", num_envs=1, wrappers="messages") as collector:
        collector.collect(policy, [3])
        assert seen[-1][0]["role"] == "user"
        assert collector.task.kwargs == {"wrappers": "messages"}
    with Collector("test:Count", num_envs=1, wrappers=()) as collector:
        collector.collect(policy, [3])
        assert "Say" not in seen[-1]


def test_in_processes(count, how):
    with Collector(
        "test:Count", num_envs=3, backend="process", wrappers="messages", vector={"start_method": "fork"}, fail_seed=2
    ) as collector:
        tasks = [TaskSpec("test:Count", seed=seed, options={"length": 3}) for seed in range(6)]

        async def alone(observation):
            return str(len(observation) // 2 + 1)

        def batch(observations):
            return [str(len(observation) // 2 + 1) for observation in observations]

        rollouts = collect(collector, how, tasks, batch if how == "batch" else alone)
    assert numbers(rollouts.episodes) == [(seed, 1.0, 3) for seed in (0, 1, 3, 4, 5)]
    assert "fell off the table" in rollouts.errors[0].error
    assert len(rollouts.episodes[0].turns[2].observation) == 5


def test_no_tasks(count, how):
    with Collector("test:Count", num_envs=2) as collector:
        rollouts = collect(collector, how, [])
    assert rollouts.episodes == rollouts.errors == []
    assert rollouts.metrics["episodes"] == 0


def test_batches_are_as_large_as_they_can_be(count):
    sizes = []

    def policy(observations):
        sizes.append(len(observations))
        return counter(observations)

    with Collector("test:Count", num_envs=4) as collector:
        total = collector.collect(policy, range(12)).metrics["turns"]
    assert sum(sizes) == total
    assert max(sizes) == sizes[0] == 4
    assert all(size == 4 for size in sizes[: int(total) // 4 - 4])  # slots are refilled as they come free


# -- limits ----------------------------------------------------------------------------------------------


def test_turn_limit(count, how):
    with Collector("test:Count", num_envs=2, max_turns=2, most=9) as collector:
        episodes = collect(collector, how, range(8)).episodes
    assert max(len(episode.turns) for episode in episodes) == 2
    assert {episode.finish_reason for episode in episodes} == {"terminated", "truncated"}


def test_token_budgets_are_told_and_kept(count, how):
    told = []

    def answer(observation, limit):
        told.append(limit)
        return Response(counter([observation])[0], [0], [1] * min(3, limit))

    def batch(observations, max_tokens):
        return [answer(o, m) for o, m in zip(observations, max_tokens, strict=True)]

    async def alone(observation, max_tokens):
        return answer(observation, max_tokens)

    with Collector("test:Count", num_envs=1, max_response_tokens=4, max_episode_tokens=5) as collector:
        tasks = [TaskSpec("test:Count", seed=1, options={"length": 3})]
        rollouts = collect(collector, how, tasks, batch if how == "batch" else alone)
    assert told == [4, 2]
    (episode,) = rollouts.episodes
    assert episode.finish_reason == "length"
    assert rollouts.metrics["length_episodes"] == 1
    assert rollouts.metrics["response_tokens"] == 5


def test_a_prompt_without_room_ends_the_episode(count, how):
    def answer(observation):
        return Response("", finish_reason="length") if "Say 2" in observation else "1"

    async def alone(observation):
        return answer(observation)

    tasks = [TaskSpec("test:Count", seed=1, options={"length": 3})] * 3
    with Collector("test:Count", num_envs=2) as collector:
        policy = (lambda observations: [answer(o) for o in observations]) if how == "batch" else alone
        rollouts = collect(collector, how, tasks, policy)
    assert [(e.finish_reason, len(e.turns)) for e in rollouts.episodes] == [("length", 1)] * 3


def test_policies_that_want_the_episode(count, how):
    def batch(observations, episodes):
        return [str(len(episode.turns) + 1) for episode in episodes]

    async def alone(observation, *, episode, **others):
        assert others == {"max_tokens": None}
        return str(len(episode.turns) + 1)

    with Collector("test:Count", num_envs=3) as collector:
        rollouts = collect(collector, how, range(6), batch if how == "batch" else alone)
    assert rollouts.metrics["mean_return"] == 1.0


# -- what goes wrong -------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("fail_in", "words"), [("step", "fell off the table"), ("reset", "no data today")])
def test_an_episode_that_errors_is_dropped_and_counted(count, how, backend, fail_in, words):
    seeds = [s for s in range(12) if s != 3]
    with Collector("test:Count", num_envs=3, backend=backend, most=5) as collector:
        expected = numbers(collect(collector, how, seeds).episodes)
    # seed 3 has several turns, so that the failure in its second is reached
    with Collector("test:Count", num_envs=3, backend=backend, most=5, fail_seed=3, fail_in=fail_in) as collector:
        tasks = [TaskSpec("test:Count", seed=s, options={"length": 4} if s == 3 else None) for s in range(12)]
        rollouts = collect(collector, how, tasks)
    assert numbers(rollouts.episodes) == expected
    (failed,) = rollouts.errors
    assert failed.task.seed == 3
    assert words in failed.error
    assert "\n" not in failed.error
    assert rollouts.metrics["errors"] == 1
    assert rollouts.metrics["mean_return"] == 1.0


def test_all_episodes_error(count, how):
    with Collector("test:Count", num_envs=2, fail_seed=3, fail_in="reset") as collector:
        rollouts = collect(collector, how, [3] * 5)
    assert (len(rollouts.episodes), len(rollouts.errors)) == (0, 5)


def bad_policy(observations):
    return bad_policy.answer


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (None, r"policy 'bad_policy' must return a list of 2 str or gem.Response, one for each.*; got NoneType"),
        ("1", r"policy 'bad_policy' must return a list of 2 .*; got str"),
        (["1"], r"policy 'bad_policy' returned 1 responses to 2 observations: return one str or gem.Response for each"),
        ([None, "1"], r"policy 'bad_policy': a response must be a str or a gem.Response with text, got None"),
        (
            [Response("1", [0], [1], [0.1, 0.2])] * 2,
            r"policy 'bad_policy': a response has 2 logprobs for 1 response_ids",
        ),
        ([b"1", b"1"], r"policy 'bad_policy': a response must be a str or a gem.Response with text, got b'1'"),
    ],
)
def test_a_policy_that_returns_no_responses(count, answer, match):
    bad_policy.answer = answer
    with Collector("test:Count", num_envs=2) as collector:
        with pytest.raises((TypeError, ValueError), match=match) as caught:
            collector.collect(bad_policy, [1, 2, 3])
        assert "\n" not in str(caught.value)
        assert collector.collect(counter, [1, 2]).metrics["mean_return"] == 1.0  # the collector is none the worse


@pytest.mark.parametrize("answer", [None, b"1", ["1"]])
def test_an_asynchronous_policy_that_returns_no_response(count, answer):
    async def bad(observation):
        return answer

    with Collector("test:Count", num_envs=2) as collector:
        with pytest.raises(TypeError, match=r"policy '.*bad': a response must be a str or a gem.Response"):
            collect(collector, "async", [1, 2, 3], bad)
        assert collect(collector, "async", [1, 2]).metrics["mean_return"] == 1.0


def test_the_wrong_kind_of_policy(count):
    class Server:
        async def __call__(self, observations):
            return "1"

    with Collector("test:Count", num_envs=2) as collector:
        for policy, name in ((async_counter, "async_counter"), (Server(), "Server")):
            with pytest.raises(TypeError, match=rf"'{name}' is asynchronous: await collector.collect_async"):
                collector.collect(policy, [1])
        assert collect(collector, "async", [1], Server().__call__).metrics["episodes"] == 1
        with pytest.raises(TypeError, match=r"must be asynchronous .*collector.collect\(policy, seeds\)"):
            collect(collector, "async", [1], policy=lambda observation: "1")
        for how in ("batch", "async"):
            with pytest.raises(TypeError, match="a policy is a function from observations to responses, got 'counter'"):
                collect(collector, how, [1], policy="counter")
            with pytest.raises(TypeError, match=r"seeds are a sequence of seeds or tasks, such as range\(8\), got 32"):
                collect(collector, how, 32)


def test_a_policy_that_raises(count, how):
    class Broken(Exception):
        pass

    def batch(observations):
        raise Broken

    async def alone(observation):
        if "2" in observation:
            raise Broken
        return "1"

    threads = threading.active_count()
    with Collector("test:Count", num_envs=4, backend="thread") as collector:
        with pytest.raises(Broken):
            collect(collector, how, range(20), batch if how == "batch" else alone)
        assert collect(collector, how, range(5)).metrics["mean_return"] == 1.0
    wait_for_threads(threads)


def wait_for_threads(most):
    for thread in threading.enumerate():
        if thread.name.startswith("gem"):
            thread.join(10)
    assert not [t for t in threading.enumerate() if t.name.startswith("gem")]
    assert threading.active_count() <= most + 1  # asyncio's own pool is not ours


def test_arguments(count):
    for bad in ({"num_envs": 0}, {"group_size": 0}, {"max_turns": 0}, {"max_episode_tokens": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))} must be at least 1, got"):
            Collector("test:Count", **bad)
    with pytest.raises(TypeError, match="has no option 'mots'; did you mean 'most'"):
        Collector("test:Count", mots=3)
    with pytest.raises(gem.UnknownEnv):
        Collector("test:Cuont")
    with Collector("test:Count", num_envs=1) as collector, pytest.raises(ValueError, match="max_concurrency"):
        collect(collector, "async", [1], max_concurrency=0)


def test_tasks_that_are_none(count, how):
    with Collector("test:Count", num_envs=2, group_size=2) as collector:
        with pytest.raises(TypeError, match=r"a task is a seed or a gem.TaskSpec, got 1.5"):
            collect(collector, how, [1.5])
        with pytest.raises(ValueError, match="a group starts from one task: give the TaskSpec a seed"):
            collect(collector, how, [TaskSpec("test:Count")])
        assert collect(collector, how, [np.int64(3)]).episodes[0].task.seed == 3


def test_several_agents(count):
    class Pair(count):
        spec = gem.EnvSpec(id="test:Pair", entry_point="x:y", multi_agent=True)

    with pytest.raises(TypeError, match="has several agents: wrap it so that one agent's view"):
        Collector(Pair, num_envs=2)


def test_closing_twice_and_using_it_again(count, how):
    collector = Collector("test:Count", num_envs=2)
    collector.close()
    collector.close()
    assert collect(collector, how, [1, 2]).metrics["episodes"] == 2
    collector.close()


def test_one_collection_at_a_time(count):
    with Collector("test:Count", num_envs=1) as collector:

        def nested(observations):
            collector.collect(counter, [1])

        with pytest.raises(RuntimeError, match="is collecting already: use another Collector"):
            collector.collect(nested, [1])


# -- never waiting for the slowest -----------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_nobody_waits_for_a_slow_response(count, backend):
    """One response comes only when every other episode has ended: in step, that would be never."""
    others = 15

    async def run():
        ended, all_others = 0, asyncio.Event()

        async def policy(observation, episode):
            nonlocal ended
            if episode.task.seed == 0:
                await asyncio.wait_for(all_others.wait(), 60)
                return "wrong"
            answer = counter([observation])[0]
            if answer == "2":
                ended += 1
                if ended == others:
                    all_others.set()
                return "wrong"
            return answer

        tasks = [TaskSpec("test:Count", seed=s, options={"length": 3}) for s in range(others + 1)]
        with Collector("test:Count", num_envs=2, backend=backend) as collector:
            return await collector.collect_async(policy, tasks)

    assert asyncio.run(run()).metrics["episodes"] == others + 1


class Waiting(gem.Env):
    """Its step returns when ``release`` says so."""

    release = threading.Event()

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.mine = seed
        return str(seed), {}

    def step(self, action):
        if self.mine == 0:
            assert self.release.wait(60)
        return "done", 1.0, True, False, {}


def test_nobody_waits_for_a_slow_environment():
    """Nor does the event loop: it goes on while a step waits."""
    Waiting.release = threading.Event()
    answered = []

    async def policy(observation):
        answered.append(observation)
        if len(answered) == 8:  # all other episodes have been reached while the first step waits
            Waiting.release.set()
        return "go"

    with Collector(Waiting, num_envs=2, backend="thread") as collector:
        rollouts = collect(collector, "async", range(8), policy)
    assert rollouts.metrics["episodes"] == 8


def test_an_exception_does_not_wait_for_other_responses(count):
    async def run():
        asked = asyncio.Event()

        async def policy(observation, episode):
            if episode.task.seed == 0:
                asked.set()
                await asyncio.sleep(3600)
            await asked.wait()
            raise ZeroDivisionError

        with Collector("test:Count", num_envs=2) as collector, pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(collector.collect_async(policy, [0, 1]), 60)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_a_step_that_is_still_under_way_does_not_disturb_the_next_collection():
    Waiting.release = threading.Event()

    async def run():
        started = asyncio.Event()

        async def failing(observation):
            if observation == "0\n":
                asyncio.get_running_loop().call_later(0.02, started.set)  # by then its step has been sent
                return "go"
            await started.wait()
            raise ZeroDivisionError

        async def fine(observation):
            return "go"

        with Collector(Waiting, num_envs=2, backend="thread") as collector:
            with pytest.raises(ZeroDivisionError):
                await asyncio.wait_for(collector.collect_async(failing, [0, 1]), 60)
            try:
                return await collector.collect_async(fine, [1, 2, 3])
            finally:
                Waiting.release.set()

    assert asyncio.run(run()).metrics["episodes"] == 3


def test_policy_calls_at_once_are_limited(count):
    now, most = 0, 0

    async def policy(observation):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return counter([observation])[0]

    with Collector("test:Count", num_envs=8) as collector:
        collect(collector, "async", range(16), policy, max_concurrency=3)
    assert most == 3


def test_inside_a_running_loop_beside_other_work(count):
    async def run():
        with Collector("test:Count", num_envs=4) as one, Collector("test:Count", num_envs=4) as two:
            return await asyncio.gather(
                one.collect_async(async_counter, range(9)), two.collect_async(async_counter, range(9))
            )

    one, two = asyncio.run(run())
    assert numbers(one.episodes) == numbers(two.episodes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cancelled_collection_leaves_nothing_running(count, backend):
    async def forever(observation):
        await asyncio.sleep(3600)

    async def run():
        with Collector("test:Count", num_envs=4, backend=backend) as collector:
            task = asyncio.create_task(collector.collect_async(forever, range(9)))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert len(asyncio.all_tasks()) == 1
            return await collector.collect_async(async_counter, range(3))

    threads = threading.active_count()
    assert asyncio.run(run()).metrics["episodes"] == 3
    wait_for_threads(threads)


# -- observers -------------------------------------------------------------------------------------------


def test_observers_hear_of_every_episode_that_ended(count, how):
    heard = []

    class Observer:
        @gem.hookimpl
        def gem_episode_ended(self, record):
            assert record.done
            heard.append(record)

    observer = Observer()
    manager().hooks.register(observer)
    try:
        with Collector("test:Count", num_envs=3, fail_seed=2, fail_in="reset") as collector:
            rollouts = collect(collector, how, range(7))
    finally:
        manager().hooks.unregister(observer)
    assert sorted(e.task.seed for e in heard) == list(range(7))
    assert {id(e) for e in heard} == {id(e) for e in rollouts.episodes + rollouts.errors}


def test_an_observer_that_fails_costs_no_episode(count, how):
    class Broken:
        @gem.hookimpl
        def gem_episode_ended(self, record):
            raise OSError("disk full")

    observer = Broken()
    manager().hooks.register(observer)
    try:
        with (
            Collector("test:Count", num_envs=3) as collector,
            pytest.warns(match="failed in gem_episode_ended.*disk full"),
        ):
            assert collect(collector, how, range(7)).metrics["episodes"] == 7
    finally:
        manager().hooks.unregister(observer)
