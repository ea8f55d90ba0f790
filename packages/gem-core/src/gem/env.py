"""The interface: :class:`Env`, and :class:`Wrapper` for environments around environments."""

from __future__ import annotations

import random

TYPE_CHECKING = False
if TYPE_CHECKING:  # annotations only: `import gem` must not pay for typing or numpy
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Self, TypeVar

    import numpy as np

    from gem.env_spec import EnvSpec

    Observation = str | list[dict[str, Any]]
    Info = dict[str, Any]
    Method = TypeVar("Method", bound=Callable[..., Any])


class Env:
    """A task an agent solves by reading observations and writing text.

    Subclasses implement :meth:`reset` (calling ``super().reset(seed=seed)`` first) and :meth:`step`.

    An *observation* is text, or a list of content parts for models that see
    (``{"type": "text", "text": ...}``, ``{"type": "image", "image": <data URI>}``).
    An *action* is the agent's whole response, any ``str``.

    ``info`` is a JSON-able ``dict``. Keys with a meaning everywhere:

    ==================  ==================================================================================
    ``prefix, suffix``  text that an observation wrapper places before / after the observation
    ``metrics``         name -> float, averaged by trainers and evaluators
    ``success``         bool, present when the episode has ended
    ``invalid_action``  why the action was not carried out; absent when it was
    ``error``           why the environment itself failed (set by vector execution)
    ==================  ==================================================================================

    A snapshot of the state (:meth:`get_state`) copies every attribute but those named in ``state_excludes``: what
    is fixed after construction and large, or cannot be copied (a data set, a tokenizer, a client). Extend it:
    ``state_excludes = (*Env.state_excludes, "dataset")``.

    Randomness comes from :attr:`rng` (or :attr:`np_random`) only, so that the same seed and the same actions
    give the same episode in every process and thread. The global generators are never touched.
    """

    #: Set by :func:`gem.make`; ``None`` for an environment constructed directly.
    spec: EnvSpec | None = None
    #: Names of attributes that are no state.
    state_excludes: tuple[str, ...] = ("spec", "_init_arguments")

    _init_arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    _rng: random.Random | None = None
    _np_random: np.random.Generator | None = None
    _seed: int | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        if args or kwargs:
            self._init_arguments = (args, kwargs)  # what spawn() builds a sibling from
        return self

    def __init__(self) -> None:
        # Without this a class that has no __init__ would take, and ignore, any option: `object` does so where
        # __new__ is overridden.
        super().__init__()

    # -- the four methods an agent loop calls ---------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Begin an episode.

        Args:
            seed: a non-negative integer (any size, numpy integers too) reseeds :attr:`rng`; ``None`` goes on
                with the generator as it stands (seeded by the operating system the first time).
            options: settings for this episode, documented by each environment.

        Returns:
            ``(observation, info)``.

        Raises:
            TypeError: the seed is not an integer, or the options are no dictionary.
            ValueError: the seed is negative.
        """
        if options is not None and not isinstance(options, dict):
            raise TypeError(f"reset options must be a dict, got {options!r}")
        if seed is not None:
            self.reseed(seed)
        return "", {}

    def step(self, action: str) -> tuple[Any, float, bool, bool, Info]:
        """Carry out one action.

        Args:
            action: the agent's response; any ``str`` is legal (nonsense costs reward, it does not raise).

        Returns:
            ``(observation, reward, terminated, truncated, info)``. ``terminated``: the task itself ended.
            ``truncated``: something outside the task, such as a turn limit, cut it off.

        Raises:
            TypeError: the action is not a ``str``.
            gem.ResetNeeded: the episode has ended or not begun.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement step(action)")

    def close(self) -> None:
        """Release what the environment holds. Safe to call twice, and before ``reset``."""

    def sample_random_action(self) -> str:
        """A random action that the environment can parse, drawn from :attr:`rng`."""
        raise NotImplementedError(f"{type(self).__name__} has no random actions")

    # -- randomness -----------------------------------------------------------------------------------

    def reseed(self, seed: int) -> None:
        """Reseed this instance's generators; what :meth:`reset` does with a seed."""
        try:
            if isinstance(seed, bool):
                raise TypeError
            seed = seed.__index__()  # numpy integers too
        except (AttributeError, TypeError):
            raise TypeError(f"seed must be an integer, got {seed!r}") from None
        if seed < 0:
            raise ValueError(f"seed must be non-negative, got {seed}")
        self._seed = seed
        self._np_random = None
        if self._rng is None:
            self._rng = random.Random(seed)
        else:
            self._rng.seed(seed)

    @property
    def rng(self) -> random.Random:
        """This instance's generator for scalar draws: five times faster than numpy's, and no import of numpy."""
        if self._rng is None:
            self._rng = random.Random()
        return self._rng

    @property
    def np_random(self) -> np.random.Generator:
        """This instance's numpy generator for array draws, seeded from the same seed as :attr:`rng`."""
        if self._np_random is None:
            import numpy as np

            self._np_random = np.random.default_rng(self._seed if self._seed is not None else self.rng.getrandbits(64))
        return self._np_random

    # -- state ----------------------------------------------------------------------------------------

    def get_state(self) -> Any:
        """A snapshot from which :meth:`set_state` restores this very moment, random generators included.

        The default copies every attribute but ``state_excludes``, which suits environments that live in the
        process. The snapshot stays as it is whatever the environment does afterwards.

        Raises:
            gem.StateNotSupported: the state lives elsewhere, or an attribute cannot be copied.
        """
        return self._own_state()

    def set_state(self, state: Any) -> None:
        """Return to a snapshot made by :meth:`get_state` of this or an equally configured instance.

        Raises:
            TypeError: ``state`` is no such snapshot.
        """
        if not isinstance(state, dict):
            raise TypeError(f"set_state takes what get_state returned, got {type(state).__name__}")
        self._set_own_state(state)

    def _own_state(self) -> dict[str, Any]:
        import copy

        excludes = self.state_excludes
        own = {name: value for name, value in self.__dict__.items() if name not in excludes}
        try:
            return copy.deepcopy(own)  # in one go: objects that two attributes share stay shared
        except Exception as error:
            from gem.errors import StateNotSupported

            for name, value in own.items():
                try:
                    copy.deepcopy(value)
                except Exception:
                    raise StateNotSupported(
                        f"{type(self).__name__}.{name} cannot be copied ({error}): name it in state_excludes if it is "
                        "fixed after construction, else override get_state and set_state"
                    ) from error
            raise

    def _set_own_state(self, state: dict[str, Any]) -> None:
        import copy

        excluded = {name: self.__dict__[name] for name in self.state_excludes if name in self.__dict__}
        restored = copy.deepcopy(state)
        self.__dict__.clear()
        self.__dict__.update(restored)
        self.__dict__.update(excluded)

    def spawn(self, same_state: bool = False, **overrides: Any) -> Self:
        """A new instance with this one's constructor arguments, some of them replaced.

        Args:
            same_state: start the new instance from this one's current state.
        """
        args, kwargs = self._init_arguments
        sibling = type(self)(*args, **{**kwargs, **overrides})
        spec = self.spec
        if spec is not None and overrides:
            spec = spec.replace(kwargs={**spec.kwargs, **overrides})
        sibling.spec = spec
        if same_state:
            sibling.set_state(self.get_state())
        return sibling

    # -- identity -------------------------------------------------------------------------------------

    @property
    def unwrapped(self) -> Env:
        """The innermost environment."""
        return self

    @property
    def env_id(self) -> str | None:
        """The id this instance was made by, or ``None``."""
        return self.spec.id if self.spec is not None else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.env_id}>" if self.spec is not None else f"<{type(self).__name__}>"


def observes(method: Method) -> Method:
    """Mark a wrapper's ``step`` or ``reset``: it calls the inner one once, with what it was given, and never blocks.

    What it does lies in the answer alone, which may therefore be awaited. A wrapper whose ``step`` and ``reset`` are
    both marked awaits where the environment inside does (``astep``, ``areset``); a method overridden in a subclass is
    not marked unless that says so as well.
    """
    method.observes = True  # type: ignore[attr-defined]
    return method


class Wrapper(Env):
    """An environment around another one.

    Override what changes; everything else (attributes too, read live) is the inner environment's. Extra
    ``reset`` keywords, such as ``idx=3`` for data sets, pass through. See :func:`observes` for environments that await.
    """

    state_excludes: tuple[str, ...] = ("env", "_init_arguments")

    def __init__(self, env: Env) -> None:
        self.env = env

    @observes
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any) -> tuple[Any, Info]:
        if options is not None:  # an environment whose reset takes a seed only can be wrapped too
            kwargs["options"] = options
        return self.env.reset(seed=seed, **kwargs)

    @observes
    def step(self, action: str) -> tuple[Any, float, bool, bool, Info]:
        return self.env.step(action)

    async def areset(
        self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> tuple[Any, Info]:
        """:meth:`reset` that awaits where the environment inside does; else it blocks."""
        from gem.awaiting import answered, awaits, observing

        given = kwargs if options is None else {**kwargs, "options": options}
        if not (observing(self) and awaits(self.env, "reset")):
            return self.reset(seed=seed, **given)
        inner: Any = self.env
        with answered(self, await inner.areset(seed=seed, **given)):
            return self.reset(seed=seed, **given)

    async def astep(self, action: str) -> tuple[Any, float, bool, bool, Info]:
        """:meth:`step` in the same way."""
        from gem.awaiting import answered, awaits, observing

        if not (observing(self) and awaits(self.env)):
            return self.step(action)
        inner: Any = self.env
        with answered(self, await inner.astep(action)):
            return self.step(action)

    def close(self) -> None:
        self.env.close()

    def sample_random_action(self) -> str:
        return self.env.sample_random_action()

    def reseed(self, seed: int) -> None:
        self.env.reseed(seed)

    @property
    def rng(self) -> random.Random:
        return self.env.rng

    @property
    def np_random(self) -> np.random.Generator:
        return self.env.np_random

    @property
    def spec(self) -> EnvSpec | None:
        return self.env.spec

    @spec.setter
    def spec(self, value: EnvSpec | None) -> None:
        self.env.spec = value

    @property
    def unwrapped(self) -> Env:
        return self.env.unwrapped

    def get_state(self) -> Any:
        """The inner environment's state and this wrapper's own attributes (but ``state_excludes``)."""
        return {"env": self.env.get_state(), "wrapper": self._own_state()}

    def set_state(self, state: Any) -> None:
        if not isinstance(state, dict) or state.keys() != {"env", "wrapper"}:
            raise TypeError(
                f"set_state takes what get_state of {type(self).__name__} returned, got {type(state).__name__}"
            )
        self.env.set_state(state["env"])
        self._set_own_state(state["wrapper"])

    def spawn(self, same_state: bool = False, **overrides: Any) -> Self:
        """A new wrapper around a new inner environment; ``overrides`` go to the innermost one."""
        args, kwargs = self._init_arguments

        def sibling_of(argument: Any) -> Any:
            return argument.spawn(**overrides) if isinstance(argument, Env) else argument

        sibling = type(self)(*map(sibling_of, args), **{name: sibling_of(value) for name, value in kwargs.items()})
        if same_state:
            sibling.set_state(self.get_state())
        return sibling

    def __getattr__(self, name: str) -> Any:
        # Only reached for names this object does not have. Private names and a half-built instance
        # (unpickling, copying) must not recurse into `env`.
        if name.startswith("_") or "env" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{self.env!r}>"
