"""The interface: :class:`Env`, and :class:`Wrapper` for environments around environments."""

from __future__ import annotations

import random

TYPE_CHECKING = False
if TYPE_CHECKING:  # annotations only: `import gem` must not pay for typing or numpy
    from types import TracebackType
    from typing import Any, Self

    import numpy as np

    from gem.spec import EnvSpec

    Observation = str | list[dict[str, Any]]
    Info = dict[str, Any]


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

    Randomness comes from :attr:`rng` (or :attr:`np_random`) only, so that the same seed and the same actions
    give the same episode in every process and thread. The global generators are never touched.
    """

    #: Set by :func:`gem.make`; ``None`` for an environment constructed directly.
    spec: EnvSpec | None = None

    _init_arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    _rng: random.Random | None = None
    _np_random: np.random.Generator | None = None
    _seed: int | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        if args or kwargs:
            self._init_arguments = (args, kwargs)  # what spawn() builds a sibling from
        return self

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
            TypeError: the seed is not an integer.
            ValueError: the seed is negative.
        """
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
            seed = seed.__index__()
        except AttributeError:
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

        The default copies every attribute, which suits environments that live in the process. Environments
        whose state lives elsewhere raise :class:`gem.StateNotSupported`.
        """
        import copy

        return copy.deepcopy({k: v for k, v in self.__dict__.items() if k not in ("spec", "_init_arguments")})

    def set_state(self, state: Any) -> None:
        """Return to a snapshot made by :meth:`get_state` of this or an equally configured instance."""
        import copy

        kept = {k: self.__dict__[k] for k in ("spec", "_init_arguments") if k in self.__dict__}
        self.__dict__.clear()
        self.__dict__.update(copy.deepcopy(state))
        self.__dict__.update(kept)

    def spawn(self, same_state: bool = False, **overrides: Any) -> Self:
        """A new instance with this one's constructor arguments, some of them replaced.

        Args:
            same_state: start the new instance from this one's current state.
        """
        args, kwargs = self._init_arguments
        sibling = type(self)(*args, **{**kwargs, **overrides})
        sibling.spec = self.spec
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


class Wrapper(Env):
    """An environment around another one.

    Override what changes; everything else (attributes too, read live) is the inner environment's. Extra
    ``reset`` keywords, such as ``idx=3`` for data sets, pass through.
    """

    def __init__(self, env: Env) -> None:
        self.env = env

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None, **kwargs: Any) -> tuple[Any, Info]:
        return self.env.reset(seed=seed, options=options, **kwargs)

    def step(self, action: str) -> tuple[Any, float, bool, bool, Info]:
        return self.env.step(action)

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
    def spec(self) -> EnvSpec | None:  # type: ignore[override]
        return self.env.spec

    @spec.setter
    def spec(self, value: EnvSpec | None) -> None:
        self.env.spec = value

    @property
    def unwrapped(self) -> Env:
        return self.env.unwrapped

    def get_state(self) -> Any:
        """The inner environment's state and this wrapper's own attributes."""
        import copy

        own = {k: v for k, v in self.__dict__.items() if k not in ("env", "_init_arguments")}
        return {"env": self.env.get_state(), "wrapper": copy.deepcopy(own)}

    def set_state(self, state: Any) -> None:
        import copy

        self.env.set_state(state["env"])
        self.__dict__.update(copy.deepcopy(state["wrapper"]))

    def spawn(self, same_state: bool = False, **overrides: Any) -> Self:
        """A new wrapper around a new inner environment; ``overrides`` go to the innermost one."""
        args, kwargs = self._init_arguments
        inner = self.env.spawn(**overrides)
        rest = {k: v for k, v in kwargs.items() if k != "env"}
        sibling = type(self)(inner, *args[1:], **rest)
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
