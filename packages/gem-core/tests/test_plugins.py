"""Discovery: lazy, isolated, switchable; one broken plugin keeps nobody from working."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from typing import Any

import pytest

import gem
from gem.plugins import GROUPS, manager, repair

NOTHING = "from gem import EnvSpec, hookimpl\n"


def problems(namespace: str = "toy") -> list[str]:
    return [line for plugin in manager().env_plugins(namespace) for line in plugin.problems()]


# -- laziness -----------------------------------------------------------------------------------------


def test_only_the_plugins_of_the_namespace_are_imported(site, installed) -> None:
    a = site.add_envs("gem-a", "aa:X-v0", namespace="aa")
    b = site.add_envs("gem-b", "bb:X-v0", namespace="bb")
    installed()
    assert manager().namespaces() == ["aa", "bb"]
    assert a not in sys.modules
    gem.make("aa:X-v0")
    assert a in sys.modules
    assert f"{a}_envs" in sys.modules
    assert b not in sys.modules
    gem.spec("bb:X-v0")
    assert f"{b}_envs" not in sys.modules  # a specification costs no import of the class


def test_discovery_happens_once(site, installed, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_envs("gem-a", "toy:X-v0")
    installed()
    first = manager()
    gem.make("toy:X-v0")
    monkeypatch.setattr("gem.plugins.scan", lambda: pytest.fail("scanned twice"))
    gem.make("toy:X-v0")
    assert manager() is first


def test_threads_that_make_at_once_all_succeed(site, installed) -> None:
    site.add_envs("gem-slow", "toy:X-v0", body="import time; time.sleep(0.2)")
    installed()
    made: list[Any] = []

    def work() -> None:
        try:
            made.append(gem.make("toy:X-v0"))
        except BaseException as error:
            made.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [type(m).__name__ for m in made] == ["Toy"] * 8


def test_a_plugin_that_makes_while_it_is_imported_sees_an_unknown_id(site, installed) -> None:
    site.add_envs(
        "gem-eager", "toy:X-v0", body="import gem\ntry:\n    gem.make('toy:X-v0')\nexcept gem.UnknownEnv: pass"
    )
    installed()
    assert gem.make("toy:X-v0").env_id == "toy:X-v0"


def test_namespaces_can_be_shared_and_one_module_can_serve_several(site, installed) -> None:
    site.add_envs("gem-math", "math:A-v0", "eval:A-v0", namespace="math eval")
    site.add_envs("gem-qa", "eval:B-v0", namespace="eval")
    installed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [s.id for s in gem.specs("eval")] == ["eval:A-v0", "eval:B-v0"]
        assert [s.id for s in gem.specs()] == ["eval:A-v0", "eval:B-v0", "math:A-v0"]
    assert gem.spec("eval:B-v0").provider == "gem-qa"
    assert (gem.spec("math:A-v0").provider, gem.spec("math:A-v0").provider_version) == ("gem-math", "1.0")


# -- what can be wrong with a plugin ------------------------------------------------------------------

BROKEN = {
    "import error": "import no_such_module_here",
    "any error": "1 / 0",
    "several lines": "raise RuntimeError('one\\n  two')",
    "exit": "raise SystemExit(3)",
    "base exception": "class Stop(BaseException): pass\nraise Stop('now')",
    "syntax": "def (",
    "misspelt hook": NOTHING + "@hookimpl\ndef gem_env_spec(): return []",
    "wrong hook arguments": NOTHING + "@hookimpl\ndef gem_env_specs(nonsense): return []",
    "wrapper": NOTHING + "@hookimpl(wrapper=True)\ndef gem_env_specs(): return (yield)",
    "listing raises": NOTHING + "@hookimpl\ndef gem_env_specs(): raise KeyError('x')",
    "bad spec in the middle": NOTHING + "@hookimpl\ndef gem_env_specs(): yield EnvSpec(id='a b', entry_point='m:c')",
    "forgotten mark": NOTHING + "def gem_env_specs(): return []",
    "one and no list": NOTHING + "@hookimpl\ndef gem_env_specs(): return EnvSpec(id='toy:X-v0', entry_point='m:c')",
    "lists nothing iterable": NOTHING + "@hookimpl\ndef gem_env_specs(): return 3",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_breaks_only_itself(site, installed, source: str) -> None:
    site.add("gem-broken", groups={"gem.envs": {"toy": "broken_plugin"}}, modules={"broken_plugin": source})
    site.add_envs("gem-good", "toy:Good-v0")
    installed()
    with pytest.warns(gem.PluginWarning, match="gem-broken") as caught:
        made = [gem.make("toy:Good-v0").env_id for _ in range(2)]
    assert made == ["toy:Good-v0"] * 2
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    with pytest.raises(
        gem.PluginError, match=r"cannot look up 'toy:Lost-v0': gem-broken is broken: .*pip install"
    ) as info:
        gem.make("toy:Lost-v0")
    assert "\n" not in str(info.value)
    assert info.value.__cause__ is manager().env_plugins("toy")[0].error  # the real cause, with its traceback
    assert [s.id for s in gem.specs()] == ["toy:Good-v0"]


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ("forgotten mark", "broken_plugin implements no hook: mark its functions with @gem.hookimpl"),
        ("one and no list", "gem_env_specs must yield EnvSpecs, or return a list of them; got EnvSpec(id='toy:X-v0'"),
    ],
)
def test_what_is_wrong_with_hooks_is_said(site, installed, mistake: str, said: str) -> None:
    site.add("gem-broken", groups={"gem.envs": {"toy": "broken_plugin"}}, modules={"broken_plugin": BROKEN[mistake]})
    installed()
    with pytest.warns(gem.PluginWarning), pytest.raises(gem.PluginError, match=re.escape(said)):
        gem.make("toy:X-v0")


def test_an_entry_point_that_names_nothing(site, installed) -> None:
    site.add("gem-broken", groups={"gem.envs": {"toy": "no_such_plugin:attribute"}})
    installed()
    with pytest.warns(gem.PluginWarning), pytest.raises(gem.PluginError, match="No module named 'no_such_plugin'"):
        gem.make("toy:X-v0")


def test_ctrl_c_while_a_plugin_loads_is_not_swallowed(site, installed) -> None:
    site.add_envs(
        "gem-slow", "toy:X-v0", body="import builtins\nif not hasattr(builtins, 'gem_again'): raise KeyboardInterrupt"
    )
    installed()
    with pytest.raises(KeyboardInterrupt):
        gem.make("toy:X-v0")
    import builtins

    builtins.gem_again = True  # type: ignore[attr-defined]
    try:
        assert gem.make("toy:X-v0")  # and the plugin can be loaded afterwards
    finally:
        del builtins.gem_again  # type: ignore[attr-defined]


def test_bad_entries_leave_the_good_ones_usable(site, installed) -> None:
    site.add(
        "gem-mixed",
        groups={"gem.envs": {"toy": "mixed_plugin"}},
        modules={
            "mixed_plugin": NOTHING
            + """
@hookimpl
def gem_env_specs():
    yield EnvSpec(id="toy:Good-v0", entry_point="m:C")
    yield "toy:Text-v0"
    yield EnvSpec(id="other:Elsewhere-v0", entry_point="m:C")
    yield EnvSpec(id="toy:Twice-v0", entry_point="m:C")
    yield EnvSpec(id="toy:Twice-v0", entry_point="m:D")
    yield EnvSpec(id="toy:Twice-v0", entry_point="m:E")
    yield EnvSpec(id="toy:Same-v0", entry_point="m:C")
    yield EnvSpec(id="toy:Same-v0", entry_point="m:C")
"""
        },
    )
    installed()
    with pytest.warns(gem.PluginWarning, match=r"and 2 more; `gem doctor`") as caught:
        assert [s.id for s in gem.specs("toy")] == ["toy:Good-v0", "toy:Same-v0"]
    assert len(caught) == 1
    assert problems() == [
        "\"'toy:Text-v0'\": gem_env_specs gives gem.EnvSpec objects, nothing else",
        "'other:Elsewhere-v0': its namespace is none of those that gem-mixed declares (toy)",
        "'toy:Twice-v0': gem-mixed lists it twice, differently",
    ]
    with pytest.raises(gem.PluginError, match=r"gem-mixed lists 'toy:Twice-v0' wrongly: .* twice, differently"):
        gem.spec("toy:Twice-v0")


def test_two_distributions_that_claim_one_id(site, installed) -> None:
    site.add_envs("gem-one", "toy:Same-v0", "toy:One-v0")
    site.add_envs("gem-two", "toy:Same-v0", "toy:Two-v0")
    installed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody asked for that id
        assert gem.make("toy:One-v0").env_id == "toy:One-v0"
        assert gem.make("toy:Two-v0").env_id == "toy:Two-v0"
    with pytest.raises(gem.PluginError, match="gem-one and gem-two both provide 'toy:Same-v0': uninstall one"):
        gem.make("toy:Same-v0")
    assert manager().collisions() == {"toy:Same-v0": ["gem-one", "gem-two"]}
    assert [s.id for s in gem.specs()] == ["toy:One-v0", "toy:Two-v0"]


# -- composed ids -------------------------------------------------------------------------------------

COMPOSED = (
    NOTHING
    + """
@hookimpl
def gem_find_env_spec(env_id):
    if env_id == "toy:Wrong-v0":
        return EnvSpec(id="toy:Other-v0", entry_point="m:C")
    if env_id == "toy:Raises-v0":
        raise OSError("no list of names")
    if env_id.endswith("-x"):
        return EnvSpec(id=env_id, entry_point="m:C")
"""
)


def test_ids_that_are_composed_not_listed(site, installed) -> None:
    site.add("gem-open", groups={"gem.envs": {"toy": "open_plugin"}}, modules={"open_plugin": COMPOSED})
    installed()
    assert gem.spec("toy:anything-x").provider == "gem-open"
    with pytest.raises(gem.UnknownEnv):
        gem.spec("toy:anything-y")
    with pytest.raises(gem.PluginError, match=r"gem-open answers 'toy:Wrong-v0' with .* not its EnvSpec"):
        gem.spec("toy:Wrong-v0")
    with pytest.raises(gem.PluginError, match="gem-open failed to look up 'toy:Raises-v0': OSError: no list of names"):
        gem.spec("toy:Raises-v0")
    site.add("gem-rival", groups={"gem.envs": {"toy": "rival_plugin"}}, modules={"rival_plugin": COMPOSED})
    installed()
    with pytest.raises(gem.PluginError, match="gem-open and gem-rival both provide 'toy:anything-x'"):
        gem.spec("toy:anything-x")


# -- switches -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("only", "disabled", "left"),
    [
        ("", "", ["aa", "bb", "cc"]),
        ("gem-a", "", ["aa"]),
        ("Gem_A, cc", "", ["aa", "cc"]),
        ("*", "", ["aa", "bb", "cc"]),
        ("", "gem.a", ["bb", "cc"]),
        ("", "bb,cc", ["aa"]),
        ("", "*", []),
        ("bb", "*", ["bb"]),
        ("gem-a,gem-b", "bb", ["aa"]),
        (" , ", " ", ["aa", "bb", "cc"]),
    ],
)
def test_allow_and_deny_lists(
    site, installed, monkeypatch: pytest.MonkeyPatch, only: str, disabled: str, left: list[str]
) -> None:
    for letter in "abc":
        site.add_envs(f"gem-{letter}", namespace=2 * letter)
    monkeypatch.setenv("GEM_PLUGINS", only)
    monkeypatch.setenv("GEM_DISABLE_PLUGINS", disabled)
    installed()
    assert manager().namespaces() == left
    assert sorted(e.name for e in manager().disabled) == sorted({"aa", "bb", "cc"} - set(left))


def test_a_namespace_left_out_is_still_declared(site, installed, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_envs("gem-math", "math:A-v0", "eval:A-v0", namespace="math eval")
    monkeypatch.setenv("GEM_PLUGINS", "eval")
    installed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [s.id for s in gem.specs()] == ["eval:A-v0"]
    with pytest.raises(gem.UnknownEnv, match="gem-math, which provides 'math', is kept out by GEM_PLUGINS"):
        gem.make("math:A-v0")


def test_a_name_that_is_not_installed_is_warned_about_and_told_of(
    site, installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add_envs("gem-math", "math:A-v0", namespace="math")
    problem = "GEM_PLUGINS names 'maths', which is no installed distribution or entry point"
    monkeypatch.setenv("GEM_PLUGINS", "maths")
    installed()
    with pytest.warns(gem.PluginWarning, match=problem):
        assert manager().namespaces() == []
    with pytest.raises(gem.UnknownEnv, match=f"gem-math.* is kept out by .*; {problem}"):
        gem.make("math:A-v0")
    monkeypatch.setenv("GEM_PLUGINS", "math")
    monkeypatch.setenv("GEM_DISABLE_PLUGINS", "absent")  # what is to be kept out may well not be there
    installed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gem.make("math:A-v0").env_id == "math:A-v0"
    assert manager().unknown_names() == [
        "GEM_DISABLE_PLUGINS names 'absent', which is no installed distribution or entry point"
    ]


def test_trace(site) -> None:
    site.add_envs("gem-a", "toy:X-v0")
    site.add_envs("gem-b", namespace="other")
    code = "import gem; gem.make('toy:X-v0')"
    traced = site.python(code, GEM_TRACE_PLUGINS="1", GEM_DISABLE_PLUGINS="gem-b").stderr
    assert "toy: loaded gem_a_plugin of gem-a in" in traced
    assert "left out by GEM_PLUGINS or GEM_DISABLE_PLUGINS: <EntryPoint [gem.envs] other" in traced
    assert site.python(code).stderr == ""


# -- the other groups ---------------------------------------------------------------------------------


@pytest.mark.parametrize("group", sorted(set(GROUPS) - {"gem.envs", "gem.hooks"}))
def test_named_objects(site, installed, group: str) -> None:
    site.add(
        "gem-extra",
        groups={group: {"thing": "extra_module:value", "bad": "extra_module:absent", "exit": "exit_module"}},
        modules={"extra_module": "value = 42", "exit_module": "raise SystemExit"},
    )
    installed()
    assert manager().load_named(group, "thing") == 42
    assert manager().load_named(group, "nothing") is None
    assert manager().names(group) == ["bad", "exit", "thing"]
    for name in ("bad", "exit"):
        with pytest.raises(gem.PluginError, match=rf"'{name}' of gem-extra is broken: .*repair it: pip install"):
            manager().load_named(group, name)
    site.add("gem-rival", groups={group: {"thing": "extra_module:value"}})
    installed()
    with pytest.raises(gem.PluginError, match=f"gem-extra and gem-rival both provide 'thing' in {group}"):
        manager().load_named(group, "thing")


OBSERVER = NOTHING + "seen = []\n@hookimpl\ndef gem_env_made(spec, env): seen.append((spec.id, type(env).__name__))"


def test_observers_are_told(site, installed) -> None:
    site.add_envs("gem-a", "toy:X-v0")
    site.add("gem-watch", groups={"gem.hooks": {"watch": "watch_module"}}, modules={"watch_module": OBSERVER})
    installed()
    gem.make("toy:X-v0")
    assert sys.modules["watch_module"].seen == [("toy:X-v0", "Toy")]


def test_observers_that_fail_keep_nobody_from_working(site, installed) -> None:
    site.add_envs("gem-a", "toy:X-v0")
    site.add("gem-watch", groups={"gem.hooks": {"watch": "watch_module"}}, modules={"watch_module": OBSERVER})
    failing = NOTHING + "@hookimpl\ndef gem_env_made(env): raise OSError('disk full')"
    site.add("gem-fail", groups={"gem.hooks": {"fail": "fail_module"}}, modules={"fail_module": failing})
    site.add("gem-absent", groups={"gem.hooks": {"absent": "absent_module"}})
    installed()
    with pytest.warns(gem.PluginWarning) as caught:
        _ = [gem.make("toy:X-v0") for _ in range(2)]
    assert [str(w.message) for w in caught] == [
        "observer 'absent' of gem-absent is broken and is left out: "
        "ModuleNotFoundError: No module named 'absent_module'; "
        "repair it: pip install --upgrade --force-reinstall gem-absent",
        "observer gem.hooks:fail:fail_module failed in gem_env_made: OSError: disk full",
    ]
    assert len(sys.modules["watch_module"].seen) == 2


def test_repair_names_the_missing_module() -> None:
    entry_point = gem.entry_points.EntryPoint("gem.envs", "toy", "own.plugin", "gem-own", "1.0", "")
    own = "pip install --upgrade --force-reinstall gem-own"
    assert repair(entry_point, ModuleNotFoundError("x", name="own.plugin")) == own
    assert repair(entry_point, ModuleNotFoundError("x", name="other_lib.part")) == f"pip install other-lib, or {own}"
    assert repair(entry_point, RuntimeError()) == own


def test_importing_gem_survives_a_site_full_of_broken_plugins(site) -> None:
    for i in range(3):
        site.add(f"gem-b{i}", groups={"gem.envs": {f"ns{i}": f"b{i}"}}, modules={f"b{i}": "raise ImportError('nope')"})
    site.add_envs("gem-good", "toy:X-v0")
    done = site.python("import gem; print(gem.make('toy:X-v0'))")
    assert done.stdout == "<Toy toy:X-v0>\n"
    assert done.stderr == ""
