"""Wrappers by name."""

from __future__ import annotations

import json

import pytest

import gem
from gem import wrappers
from gem.wrappers import apply_wrappers, get_wrapper_fns


def test_published_names(scripted, chatml):
    tokenizer = chatml()
    for name, kind in {
        "concat": wrappers.Concat,
        "concat_with_action": wrappers.Concat,
        "concat_chat": wrappers.ConcatChat,
        "concat_chat_on_reset": wrappers.ConcatChatOnReset,
        "episode_tracking": wrappers.EpisodeStatistics,
    }.items():
        (wrap,) = get_wrapper_fns(name, tokenizer=tokenizer)
        assert type(wrap(scripted())) is kind
    assert get_wrapper_fns("concat")[0](scripted()).include_action is False
    assert get_wrapper_fns("concat_with_action")[0](scripted()).include_action is True


def test_every_built_in_name_makes_a_wrapper(scripted, chatml):
    options = {"window": {"turns": 2}, "summary": {"summarise": max}, "turn_limit": {"max_turns": 2}}
    for name in wrappers.wrapper_names():
        if name in wrappers.names._BUILT_IN:
            env = apply_wrappers(scripted(), [{"name": name, **options.get(name, {})}], tokenizer=chatml())
            assert isinstance(env, gem.Wrapper)
            env.reset(seed=1)


def test_applied_inside_out_in_the_order_written(scripted):
    env = apply_wrappers(scripted(), "concat_with_action, episode_tracking")
    assert type(env) is wrappers.EpisodeStatistics
    assert type(env.env) is wrappers.Concat
    env = apply_wrappers(scripted(), ["concat", wrappers.EpisodeStatistics, {"name": "turn_limit", "max_turns": 3}])
    assert [type(env), type(env.env), type(env.env.env)] == [
        wrappers.TurnLimit,
        wrappers.EpisodeStatistics,
        wrappers.Concat,
    ]


@pytest.mark.parametrize("nothing", [None, "", (), []])
def test_no_wrappers(scripted, nothing):
    env = scripted()
    assert apply_wrappers(env, nothing) is env


def test_one_function_or_one_mapping(scripted):
    assert type(apply_wrappers(scripted(), wrappers.Latest)) is wrappers.Latest
    assert apply_wrappers(scripted(), {"name": "window", "turns": 3}).turns == 3


def test_names_with_options_travel_as_json(scripted):
    told = json.loads(json.dumps([{"name": "window", "turns": 3}, "episode_tracking"]))
    assert apply_wrappers(scripted(), told).env.turns == 3


def test_a_name_nobody_provides(scripted):
    with pytest.raises(ValueError, match="unknown wrapper 'concat_chatt'; did you mean 'concat_chat'"):
        get_wrapper_fns("concat_chatt")
    with pytest.raises(ValueError, match=r"unknown wrapper 'xyzzy'; there are .*concat.*window"):
        get_wrapper_fns("xyzzy")
    with pytest.raises(ValueError, match=r"needs its name: \{'name': ..., 'turns': 3\}"):
        get_wrapper_fns([{"turns": 3}])
    with pytest.raises(TypeError, match="a wrapper is a name, a mapping with a name, or a function; got 3"):
        get_wrapper_fns([3])
    with pytest.raises(TypeError, match="wrappers are names, mappings with a name, or functions; got 3"):
        get_wrapper_fns(3)


def test_tools_of_a_package_that_is_missing(installed):
    with pytest.raises(ValueError, match="'python_tool' comes with another package: pip install gem-tools"):
        get_wrapper_fns("python_tool")


def test_names_of_plugins(site, installed, scripted):
    source = """
        from gem import Wrapper

        class Shout(Wrapper):
            def __init__(self, env, mark="!"):
                super().__init__(env)
                self.mark = mark

            def step(self, action):
                return self.env.step(action + self.mark)
    """
    site.add("gem-shout", groups={"gem.wrappers": {"shout": "shout_wrapper:Shout"}}, modules={"shout_wrapper": source})
    installed()
    env = apply_wrappers(scripted(), ["shout", {"name": "shout", "mark": "?"}])
    env.reset()
    env.step("a")
    assert env.actions == ["a?!"]
    assert "shout" in wrappers.wrapper_names()


def test_a_broken_plugin_says_how_to_repair_it(site, installed):
    site.add("gem-broken", groups={"gem.wrappers": {"broken": "broken_wrapper:X"}}, modules={"broken_wrapper": "1/0"})
    installed()
    with pytest.raises(gem.PluginError, match=r"gem-broken is broken.*ZeroDivisionError.*pip install"):
        get_wrapper_fns("broken")


def test_a_wrapper_that_needs_a_tokenizer_and_got_none(scripted):
    with pytest.raises(TypeError, match="concat_chat needs a tokenizer"):
        apply_wrappers(scripted(), "concat_chat")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "turn_limit",
            "the wrapper 'turn_limit' needs the option 'max_turns': give {'name': 'turn_limit', 'max_turns'",
        ),
        ({"name": "turn_limit", "turns": 3}, r"the wrapper 'turn_limit' has no option 'turns' \(options: max_turns\)"),
        ({"name": "episode_tracking", "x": 3}, r"no option 'x' \(options: none\)"),
    ],
)
def test_wrong_options_are_named(given, message):
    with pytest.raises(TypeError, match=message):
        get_wrapper_fns(given)


def test_what_a_plugin_s_wrapper_refuses_is_named(site, installed, scripted):
    source = """
    import gem
    class Loud(gem.Wrapper):
        def __init__(self, env, mark="!"):
            super().__init__(env)
            if mark is None:
                raise TypeError("mark is a text")
    def passing(env, other=0, **options):
        return Loud(env, **options)
    """
    site.add(
        "gem-w", groups={"gem.wrappers": {"passing": "passing_wrapper:passing"}}, modules={"passing_wrapper": source}
    )
    installed()
    apply_wrappers(scripted(), {"name": "passing", "mark": "?"})
    with pytest.raises(TypeError, match=r"^the wrapper 'passing' has no option 'nope' \(options: other, env, mark\)$"):
        apply_wrappers(scripted(), {"name": "passing", "nope": 1})
    with pytest.raises(TypeError, match=r"^mark is a text$"):
        apply_wrappers(scripted(), {"name": "passing", "mark": None})


def test_a_wrapper_function_says_whose_options_it_takes(site, installed, scripted):
    source = """
    import gem
    from gem.wrappers import takes_options_of
    class Loud(gem.Wrapper):
        def __init__(self, env, mark, times=1):
            super().__init__(env)
            self.said = mark * times
    def tool(times=2, volume=11): ...
    @takes_options_of(tool, Loud)
    def loud(env, volume=3, **options):
        return Loud(env, **{"mark": "!", **options})
    """
    site.add("gem-w", groups={"gem.wrappers": {"loud": "loud_wrapper:loud"}}, modules={"loud_wrapper": source})
    installed()
    assert apply_wrappers(scripted(), {"name": "loud", "times": 3}).said == "!!!"
    with pytest.raises(TypeError, match=r"^the wrapper 'loud' has no option 'nope' \(options: volume, times, mark\)$"):
        get_wrapper_fns({"name": "loud", "nope": 1})
