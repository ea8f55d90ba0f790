"""Wrappers by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any

from gem.env import Env

#: From an environment to a wrapped one.
WrapperFn = Callable[[Env], Env]
#: A name, a name with options (``{"name": "window", "turns": 4}``), or a function.
WrapperLike = str | Mapping[str, Any] | WrapperFn

#: name -> (module:class, options)
_BUILT_IN: dict[str, tuple[str, dict[str, Any]]] = {
    "latest": ("gem.wrappers.latest:Latest", {}),
    "concat": ("gem.wrappers.concat:Concat", {"include_action": False}),
    "concat_with_action": ("gem.wrappers.concat:Concat", {"include_action": True}),
    "concat_chat": ("gem.wrappers.chat:ConcatChat", {}),
    "concat_chat_on_reset": ("gem.wrappers.chat:ConcatChatOnReset", {}),
    "messages": ("gem.wrappers.messages:ChatMessages", {}),
    "window": ("gem.wrappers.window:Window", {}),
    "summary": ("gem.wrappers.summary:Summary", {}),
    "episode_tracking": ("gem.wrappers.statistics:EpisodeStatistics", {}),
    "turn_limit": ("gem.wrappers.turn_limit:TurnLimit", {}),
    "reward_scale": ("gem.wrappers.reward:RewardScale", {}),
    "reward_clip": ("gem.wrappers.reward:RewardClip", {}),
}
_WITH_TOKENIZER = ("concat_chat", "concat_chat_on_reset")

#: Published names that another distribution brings.
_ELSEWHERE = {
    "python_tool": "gem-tools",
    "python_tool_no_int_reward": "gem-tools",
    "python_tool_no_int_reward_last_line_error": "gem-tools",
    "search_tool": "gem-tools",
    "search_tool_no_int_reward": "gem-tools",
}


def wrapper_names() -> list[str]:
    """Every name there is: built in, and from installed plugins (entry-point group ``gem.wrappers``)."""
    from gem.plugins import manager

    return sorted({*_BUILT_IN, *manager().names("gem.wrappers")})


def get_wrapper_fns(
    wrappers: str | WrapperLike | Iterable[WrapperLike] | None, tokenizer: Any = None
) -> list[WrapperFn]:
    """The functions that wrap an environment, to be applied in this order, innermost first.

    >>> [fn.func.__name__ for fn in get_wrapper_fns("concat_with_action,episode_tracking")]
    ['Concat', 'EpisodeStatistics']

    Args:
        wrappers: one comma-separated string of names, or a sequence of names, of names with options
            (``{"name": "turn_limit", "max_turns": 8}``) and of functions.
        tokenizer: given to the wrappers that need one.

    Raises:
        ValueError: a name nothing provides; the message says the near ones or what to install.
        TypeError: an option that the wrapper does not have, or one that it needs and was not given.
    """
    return [_resolve(wrapper, tokenizer) for wrapper in listed(wrappers)]


def listed(wrappers: str | WrapperLike | Iterable[WrapperLike] | None) -> list[WrapperLike]:
    """What :func:`get_wrapper_fns` takes, as a list with one entry a wrapper."""
    if wrappers is None:
        return []
    if isinstance(wrappers, str):
        return [name.strip() for name in wrappers.split(",") if name.strip()]
    if isinstance(wrappers, Mapping) or callable(wrappers):
        return [wrappers]
    try:
        return list(wrappers)
    except TypeError:
        raise TypeError(f"wrappers are names, mappings with a name, or functions; got {wrappers!r}") from None


def apply_wrappers(env: Env, wrappers: str | WrapperLike | Iterable[WrapperLike] | None, tokenizer: Any = None) -> Env:
    """``env`` inside these wrappers; see :func:`get_wrapper_fns`."""
    for wrap in get_wrapper_fns(wrappers, tokenizer):
        env = wrap(env)
    return env


def _resolve(wrapper: WrapperLike, tokenizer: Any) -> WrapperFn:
    options: dict[str, Any] = {}
    if isinstance(wrapper, Mapping):
        options = dict(wrapper)
        try:
            wrapper = options.pop("name")
        except KeyError:
            raise ValueError(f"a wrapper with options needs its name: {{'name': ..., {str(options)[1:]}") from None
    if not isinstance(wrapper, str):
        if callable(wrapper):
            return wrapper
        raise TypeError(f"a wrapper is a name, a mapping with a name, or a function; got {wrapper!r}")
    if wrapper in _BUILT_IN:
        target, defaults = _BUILT_IN[wrapper]
        module, _, attribute = target.partition(":")
        if wrapper in _WITH_TOKENIZER and tokenizer is not None:
            options.setdefault("tokenizer", tokenizer)
        found: Any = getattr(import_module(module), attribute)
        options = {**defaults, **options}
        _check_options(wrapper, found, options)
        return partial(found, **options)
    from gem.plugins import manager

    found = manager().load_named("gem.wrappers", wrapper)
    if found is None:
        raise ValueError(_unknown(wrapper))
    _check_options(wrapper, found, options)
    return partial(_wrapped, wrapper, found, options) if options else found


def _wrapped(name: str, wrapper: Callable[..., Env], options: dict[str, Any], env: Env) -> Env:
    """``env`` in a plugin's wrapper, which may find out for itself that it was given an option it does not have."""
    try:
        return wrapper(env, **options)
    except TypeError as error:
        from gem import registry

        own = dict(list(registry.options(wrapper).items())[1:])  # the first is the environment
        explanation = registry.explain_options(f"the wrapper {name!r}", options, own, error)
        if explanation is None:
            raise
        raise TypeError(explanation) from error


def takes_options_of(*classes: Callable[..., Any]) -> Callable[[Callable[..., Env]], Callable[..., Env]]:
    """Say of a wrapper function which options its ``**options`` stand for: those of ``classes``.

    Help and error messages list them then, and one that does not exist is refused by name.
    """

    def tell(wrapper: Callable[..., Env]) -> Callable[..., Env]:
        signature = inspect.signature(wrapper)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        there = {p.name: p for p in own}
        for c in classes:
            for p in inspect.signature(c).parameters.values():
                # what it is without one is the function's own affair
                there.setdefault(p.name, p.replace(kind=p.KEYWORD_ONLY, default=...))
        wrapper.__signature__ = signature.replace(parameters=list(there.values()))  # type: ignore[attr-defined]
        return wrapper

    return tell


def _check_options(name: str, wrapper: Callable[..., Env], given: Mapping[str, Any]) -> None:
    """``TypeError`` for an option the wrapper does not have, or needs and was not given."""
    there = _options(wrapper)
    if there is None:
        return
    for option in given:
        if option not in there:
            raise TypeError(f"the wrapper {name!r} has no option {option!r} (options: {', '.join(there) or 'none'})")
    for option, needed in there.items():
        if needed and option not in given:
            raise TypeError(
                f"the wrapper {name!r} needs the option {option!r}: give {{'name': {name!r}, {option!r}: ...}}"
            )


@cache
def _options(wrapper: Callable[..., Env]) -> dict[str, bool] | None:
    """The options of a wrapper -> whether it needs them; ``None`` where any may be given, or nobody can tell."""
    try:
        _, *parameters = inspect.signature(wrapper).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters):
        return None
    return {p.name: p.default is p.empty for p in parameters}


def _unknown(name: str) -> str:
    import difflib

    if name in _ELSEWHERE:
        return f"the wrapper {name!r} comes with another package: pip install {_ELSEWHERE[name]}"
    near = difflib.get_close_matches(name, [*wrapper_names(), *_ELSEWHERE], n=3, cutoff=0.6)
    if near:
        return f"unknown wrapper {name!r}; did you mean {' or '.join(map(repr, near))}?"
    return f"unknown wrapper {name!r}; there are {', '.join(wrapper_names())}"
