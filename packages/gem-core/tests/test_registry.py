"""make, register, spec and specs: what they return, and errors that say what to do."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import gem
from gem import registry
from gem.env import Env, Wrapper


class Toy(Env):
    """Counts."""

    def __init__(self, limit: int = 3, label: str = "a") -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        if label == "boom":
            len(3)  # type: ignore[arg-type]  # a mistake inside the constructor
        self.limit, self.label = limit, label
        self.closed = False

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "", 0.0, True, False, {}

    def close(self) -> None:
        self.closed = True


class Child(Toy):
    """Passes options on, and has one of its own."""

    def __init__(self, extra: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.extra = extra


class Needy(Env):
    def __init__(self, must: int, *, also: str) -> None:
        self.must, self.also = must, also

    def step(self, action: str) -> Any:
        return None


class Helper(Env):
    """Calls something else with a keyword that exists here, wrongly."""

    def __init__(self, limit: int = 3) -> None:
        Toy(limit=limit, unheard_of=1)  # type: ignore[call-arg]


class Forgetful(Env):
    """Calls something else without what it needs."""

    def __init__(self, also: str = "x") -> None:
        Needy(also=also)  # type: ignore[call-arg]


class Greedy(Env):
    """Consumes its keywords itself."""

    def __init__(self, **kwargs: Any) -> None:
        self.given = kwargs

    def step(self, action: str) -> Any:
        return None


@pytest.fixture(autouse=True)
def clean(installed) -> Iterator[None]:
    before = dict(registry._local)
    yield
    registry._local.clear()
    registry._local.update(before)


@pytest.fixture
def toy() -> str:
    gem.register("toy:Toy-v0", Toy, limit=5)
    return "toy:Toy-v0"


# -- making -------------------------------------------------------------------------------------------


def test_make_by_position_and_by_keyword(toy: str) -> None:
    assert gem.make(toy).limit == 5
    assert gem.make(env_id=toy, limit=2).limit == 2
    assert gem.make(gem.spec(toy), label="b").label == "b"


def test_the_spec_of_an_environment_makes_it_again(toy: str) -> None:
    env = gem.make(toy, label="b")
    assert env.env_id == toy
    assert env.spec.kwargs == {"limit": 5, "label": "b"}
    assert gem.make(env.spec).label == "b"
    assert gem.spec(toy).kwargs == {"limit": 5}
    assert gem.make(toy).spec == gem.spec(toy)


def test_make_of_a_local_environment_discovers_nothing(site) -> None:
    done = site.python(
        "import sys, gem; gem.register('toy', gem.Env); gem.make('toy'); assert 'gem.plugins' not in sys.modules"
    )
    assert done.returncode == 0, done.stderr


def test_an_unknown_option_is_named_with_those_there_are(toy: str) -> None:
    with pytest.raises(TypeError) as info:
        gem.make(toy, limt=3)
    assert str(info.value) == "'toy:Toy-v0' has no option 'limt'; did you mean 'limit'? (options: limit, label)"


def test_an_unknown_option_through_classes_that_pass_keywords_on() -> None:
    gem.register("toy:Child-v0", Child)
    with pytest.raises(TypeError) as info:
        gem.make("toy:Child-v0", labl="x")
    assert (
        str(info.value) == "'toy:Child-v0' has no option 'labl'; did you mean 'label'? (options: extra, limit, label)"
    )
    assert gem.make("toy:Child-v0", label="x", extra=1).label == "x"


def test_an_unknown_option_through_a_function() -> None:
    gem.register("toy:F-v0", lambda **kwargs: Wrapper(Toy(**kwargs)))
    with pytest.raises(
        TypeError, match=r"'toy:F-v0' has no option 'labl'; did you mean 'label'\? \(options: limit, label\)"
    ):
        gem.make("toy:F-v0", labl="x")
    gem.register("toy:G-v0", lambda limit=1: Toy(limit))
    with pytest.raises(TypeError, match=r"'toy:G-v0' has no option 'labl' \(options: limit\)"):
        gem.make("toy:G-v0", labl="x")


def test_an_environment_without_options() -> None:
    class Bare(Env):
        pass

    gem.register("toy:Bare-v0", Bare)
    with pytest.raises(TypeError, match=r"'toy:Bare-v0' has no option 'x' \(options: none\)"):
        gem.make("toy:Bare-v0", x=1)


def test_a_missing_option_is_named() -> None:
    gem.register("toy:Needy-v0", Needy)
    with pytest.raises(TypeError, match=r"'toy:Needy-v0' needs the option 'must' \(options: must, also\)"):
        gem.make("toy:Needy-v0", also="x")
    with pytest.raises(TypeError, match=r"'toy:Needy-v0' needs the option 'also'"):
        gem.make("toy:Needy-v0", must=1)


def test_other_errors_of_a_constructor_are_left_as_they_are(toy: str) -> None:
    with pytest.raises(TypeError, match=r"object of type 'int' has no len\(\)"):
        gem.make(toy, label="boom")
    with pytest.raises(ValueError, match="limit must be at least 1, got 0"):
        gem.make(toy, limit=0)
    with pytest.raises(TypeError, match="'<' not supported"):
        gem.make(toy, limit="x")
    gem.register("toy:Helper-v0", Helper)
    with pytest.raises(TypeError, match=r"Toy.__init__\(\) got an unexpected keyword argument 'unheard_of'"):
        gem.make("toy:Helper-v0", limit=4)
    gem.register("toy:Forgetful-v0", Forgetful)
    with pytest.raises(TypeError, match=r"Needy.__init__\(\) missing 1 required positional argument: 'must'"):
        gem.make("toy:Forgetful-v0")
    gem.register("toy:Greedy-v0", Greedy)
    assert gem.make("toy:Greedy-v0", anything=1).given == {"anything": 1}


@settings(max_examples=60)
@given(
    st.from_regex(r"[a-z]\w{0,8}", fullmatch=True).filter(lambda n: n not in ("limit", "label", "env_id", "wrappers"))
)
def test_whatever_option_does_not_exist_is_named(name: str) -> None:
    spec = gem.EnvSpec(id="toy:Toy-v0", entry_point=Toy)
    with pytest.raises(TypeError, match=rf"has no option '{name}'.*\(options: limit, label\)"):
        gem.make(spec, **{name: 1})


def test_what_is_no_environment_is_refused() -> None:
    gem.register("toy:None-v0", lambda: None)
    with pytest.raises(TypeError, match=r"'toy:None-v0': .* made None, which has no reset and step"):
        gem.make("toy:None-v0")


def test_wrapping_that_fails_closes_the_environment() -> None:
    made: list[Toy] = []

    def factory() -> Toy:
        made.append(Toy())
        return made[0]

    def refuse(env: Env) -> Env:
        raise RuntimeError("no")

    gem.register("toy:W-v0", factory)
    with pytest.raises(RuntimeError, match="no"):
        gem.make("toy:W-v0", wrappers=[refuse])
    assert made[0].closed
    assert isinstance(gem.make("toy:W-v0", wrappers=[Wrapper]), Wrapper)


def test_a_deprecated_id_says_what_to_use(toy: str) -> None:
    gem.register(gem.spec(toy).replace(id="toy:Old-v0", deprecated_for="toy:Toy-v0"))
    with pytest.warns(DeprecationWarning, match="'toy:Old-v0' is deprecated: use 'toy:Toy-v0'") as caught:
        gem.make("toy:Old-v0")
    assert caught[0].filename == __file__


# -- ids that are not there ---------------------------------------------------------------------------


def test_near_ids_are_suggested(site, installed) -> None:
    site.add_envs("gem-g", "toy:Guess-v0-easy", "toy:Guess-v0-hard", "toy:Other-v0")
    installed()
    gem.register("toy:Guess-v0-mine", Toy)
    with pytest.raises(
        gem.UnknownEnv, match="unknown environment 'toy:Guess-v0-hrd'; did you mean 'toy:Guess-v0-hard'"
    ):
        gem.make("toy:Guess-v0-hrd")
    with pytest.raises(gem.UnknownEnv, match="did you mean 'toy:Guess-v0-mine'"):
        gem.make("toy:Guess-v0-min")
    with pytest.raises(gem.UnknownEnv, match="did you mean 'toy:Guess-v0-easy'"):
        gem.make("Guess-v0-easy")  # no namespace
    with pytest.raises(gem.UnknownEnv, match="did you mean 'toy:Guess-v0-easy'"):
        gem.make("tyo:Guess-v0-easy")  # a misspelt one
    with pytest.raises(gem.UnknownEnv, match="`gem list toy:` shows the 4 there are"):
        gem.make("toy:zzzzzz")
    with pytest.raises(gem.UnknownEnv, match="`gem list` shows what is installed"):
        gem.make("zzzzzz:zzzzz")


@pytest.mark.parametrize(("namespace", "target"), sorted(registry.KNOWN_PROVIDERS.items()))
def test_a_missing_package_is_named(namespace: str, target: str) -> None:
    with pytest.raises(gem.UnknownEnv) as info:
        gem.make(f"{namespace}:Any-v0")
    assert str(info.value) == f"no installed package provides {namespace!r} environments: pip install {target}"


@pytest.mark.parametrize("env_id", [None, 3, b"toy:Toy-v0", ["toy:Toy-v0"]])
def test_an_id_of_another_type(env_id: Any) -> None:
    with pytest.raises(TypeError, match="an environment id is a str"):
        gem.make(env_id)


@settings(max_examples=60)
@given(st.text(max_size=30))
def test_any_text_that_is_no_id_is_one_line_of_error(text: str) -> None:
    with pytest.raises(gem.UnknownEnv) as info:
        gem.spec(text)
    assert len(str(info.value).splitlines()) == 1


# -- entry points -------------------------------------------------------------------------------------

SOURCES = {
    "good_module": "import gem\nclass C(gem.Env):\n    class D(gem.Env): pass",
    "needs_more": "import some_absent_library.part",
    "fails": "raise OSError('disk')",
}


@pytest.mark.parametrize(
    ("entry_point", "kind", "message"),
    [
        ("absent_module:C", gem.PluginError, "there is no module 'absent_module'; repair it: pip install .*gem-x"),
        ("good_module:Nothing", gem.PluginError, "module 'good_module' has no 'Nothing'; repair it: .*gem-x"),
        (
            "needs_more:C",
            gem.MissingDependency,
            r"needs the module 'some_absent_library', which is not installed: pip install 'gem-x\[more\]'",
        ),
        ("fails:C", gem.PluginError, "importing 'fails' failed: OSError: disk; repair it: .*gem-x"),
    ],
)
def test_a_class_that_cannot_be_had(site, installed, entry_point: str, kind: type[Exception], message: str) -> None:
    site.add("gem-x", modules=SOURCES)
    installed()
    spec = gem.EnvSpec(id="toy:X-v0", entry_point=entry_point, provider="gem-x", extra="more")
    with pytest.raises(kind, match=message) as info:
        gem.make(spec)
    assert isinstance(info.value, ImportError)
    if kind is gem.MissingDependency:
        with pytest.raises(kind, match=r"pip install some-absent-library$"):
            gem.make(spec.replace(extra=None))
    else:
        with pytest.raises(kind, match="correct the entry point it was registered with"):
            gem.make(spec.replace(provider=None))


def test_an_entry_point_may_name_something_nested(site, installed) -> None:
    site.add("gem-x", modules=SOURCES)
    installed()
    assert type(gem.make(gem.EnvSpec(id="toy:X-v0", entry_point="good_module:C.D"))).__name__ == "D"


# -- registering --------------------------------------------------------------------------------------


def test_register_and_unregister(toy: str) -> None:
    with pytest.raises(ValueError, match="registered already; pass override=True"):
        gem.register(toy, Toy)
    gem.register(toy, Toy, override=True, limit=9)
    assert gem.make(toy).limit == 9
    registry.unregister(toy)
    with pytest.raises(gem.UnknownEnv):
        gem.make(toy)
    with pytest.raises(gem.UnknownEnv, match=r"was not registered with gem.register"):
        registry.unregister(toy)
    with pytest.raises(TypeError, match="needs an entry point"):
        gem.register("toy:X-v0")
    with pytest.raises(ValueError, match="is no environment id"):
        gem.register("toy:X v0", Toy)
    with pytest.raises(TypeError, match="takes no entry point or options"):
        gem.register(gem.EnvSpec(id="toy:X-v0", entry_point=Toy), limit=3)


def test_what_this_process_registers_comes_first(site, installed) -> None:
    site.add_envs("gem-g", "toy:X-v0")
    installed()
    gem.register("toy:X-v0", Toy, limit=8)
    assert gem.make("toy:X-v0").limit == 8
    assert [s.provider for s in gem.specs("toy")] == [None]


def test_print_envs(toy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from gem import registry

    monkeypatch.setattr(registry, "_local", {toy: registry._local[toy]})  # without those of other test files
    gem.print_envs()
    assert capsys.readouterr().out.split() == [toy, "this", "process"]
    gem.print_envs("nothing")
    assert capsys.readouterr().err == "no environment matches 'nothing'\n"


def test_options_of_a_class() -> None:
    empty = inspect.Parameter.empty
    assert registry.options(Child) == {"extra": 0, "limit": 3, "label": "a"}
    assert registry.options(Needy) == {"must": empty, "also": empty}
    assert registry.options(lambda a, *args, b=2, **kwargs: None) == {"a": empty, "b": 2}
    assert registry.options(Env) == {}
