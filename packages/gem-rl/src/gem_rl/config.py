"""The settings of a training run: one dataclass, read from a preset, a TOML file and the command line."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from importlib import resources
from pathlib import Path
from types import UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

from gem_rl.errors import ConfigError


def _setting(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(slots=True, kw_only=True)
class TrainConfig:
    """Every setting of a run. Raises :class:`ConfigError` where they contradict one another."""

    env: str = _setting("", "environment id")
    env_options: dict[str, Any] = field(default_factory=dict, metadata={"help": "options of the environment"})
    wrappers: str = _setting("", "wrapper names, comma-separated, applied inside out (default: what the policy needs)")
    policy: str = _setting("tiny", "tiny, or hf:PATH for a transformers causal LM")
    policy_options: dict[str, Any] = field(default_factory=dict, metadata={"help": "options of the policy"})
    max_tokens: int = _setting(8, "most tokens of one response")
    max_turns: int | None = _setting(None, "truncate episodes after this many turns, besides the environment's limit")
    temperature: float = _setting(1.0, "of sampling")

    algorithm: str = _setting("rebn", "reinforce, rebn, grpo, dr-grpo or ppo")
    gamma: float = _setting(1.0, "discount per turn, in (0, 1]")
    lam: float = _setting(0.95, "lambda of generalised advantage estimation (ppo)")
    bootstrap: bool = _setting(True, "value what lies beyond a truncated end; not where it is part of the task (ppo)")
    whiten: bool = _setting(False, "normalise advantages over the batch (ppo)")
    steps: int = _setting(200, "training steps: one batch of episodes each")
    episodes: int = _setting(64, "episodes a step, groups included")
    num_envs: int = _setting(0, "episodes played at once; 0: all of them")
    group_size: int = _setting(1, "episodes from each initial state (grpo, dr-grpo)")
    epochs: int = _setting(1, "updates with each batch; from 2 on the ratio is clipped")
    lr: float = _setting(1e-3, "learning rate of AdamW")
    weight_decay: float = _setting(0.0, "of AdamW")
    max_grad_norm: float = _setting(1.0, "gradients are scaled down to this norm")
    clip_low: float = _setting(0.2, "the ratio is clipped below 1 - this")
    clip_high: float = _setting(0.2, "the ratio is clipped above 1 + this")
    value_coef: float = _setting(0.5, "weight of the critic's loss (ppo)")
    value_clip: float | None = _setting(0.2, "range of the clipped critic loss (ppo)")
    entropy_coef: float = _setting(0.0, "weight of an entropy bonus")
    kl_coef: float = _setting(0.0, "weight of the KL (k3) to the policy after warm-up")
    importance_cap: float = _setting(2.0, "cap of the weights that correct a sampler of another engine")
    divide_by: str = _setting("", "divide token sums by tokens or constant; empty: as the algorithm has it")
    divisor: float | None = _setting(None, "the constant; by default episodes * max_tokens")
    micro_tokens: int = _setting(2048, "most padded tokens in one forward and backward pass")

    warmup_steps: int = _setting(120, "supervised steps on random actions, to teach the answer format (tiny only)")
    warmup_episodes: int = _setting(256, "episodes of random actions they learn from")
    warmup_lr: float = _setting(3e-3, "their learning rate")

    eval_episodes: int = _setting(200, "held-out episodes for the evaluation before and after")
    eval_greedy: bool = _setting(False, "evaluate the likeliest response instead of samples")
    checkpoint_every: int = _setting(20, "steps between checkpoints")
    seed: int = _setting(0, "of everything random")
    device: str = _setting("auto", "cpu, cuda or auto")
    threads: int = _setting(1, "CPU threads of torch; small products are fastest with 1; 0: torch's choice")

    def __post_init__(self) -> None:
        from gem_rl.algorithms import algorithm  # brings torch, which `gem train --help` needs no more than `gem list`

        if not self.env:
            raise ConfigError("no environment: give an id such as game:GuessTheNumber-v0-easy")
        chosen = algorithm(self.algorithm)
        chosen.check(self.gamma, self.group_size)
        for name in ("steps", "episodes", "group_size", "epochs", "max_tokens", "micro_tokens", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("warmup_steps", "eval_episodes", "num_envs", "threads", "seed"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")
        for name in ("lr", "temperature", "max_grad_norm", "importance_cap"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be positive, got {getattr(self, name)}")
        if self.episodes % self.group_size:
            raise ConfigError(f"episodes ({self.episodes}) must be a multiple of group_size ({self.group_size})")
        if self.divide_by not in ("", "tokens", "constant"):
            raise ConfigError(f"divide_by must be tokens or constant, got {self.divide_by!r}")
        if not self.divide_by:
            self.divide_by = chosen.divide_by

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], where: str = "the configuration") -> Self:
        """Check names and kinds (see :meth:`checked`), and build."""
        return cls(**cls.checked(settings, where))

    @classmethod
    def checked(cls, settings: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Some settings, each of its kind.

        Raises:
            ConfigError: an unknown setting (a near one is suggested), or a value of the wrong kind.
        """
        hints = get_type_hints(cls)
        out = {}
        for name, value in settings.items():
            if name not in hints:
                near = difflib.get_close_matches(name, hints, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "; `gem train --help` lists them"
                raise ConfigError(f"{where} has no setting {name!r}{hint}")
            out[name] = _checked(name, value, hints[name], where)
        return out


def _checked(name: str, value: Any, hint: Any, where: str) -> Any:
    origin = get_origin(hint)
    kinds: tuple[type, ...] = get_args(hint) if origin is UnionType else (origin or hint,)
    if isinstance(value, bool) and bool not in kinds:
        raise ConfigError(f"{where}: {name} must be {_kind(kinds)}, got {value!r}")
    if isinstance(value, int) and float in kinds:
        return float(value)
    if not isinstance(value, kinds):
        raise ConfigError(f"{where}: {name} must be {_kind(kinds)}, got {value!r}")
    return value


def _kind(kinds: tuple[type, ...]) -> str:
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", dict: "a table"}
    return " or ".join(names[kind] for kind in kinds if kind in names)


def defaults() -> dict[str, Any]:
    """Name -> default of every setting."""
    return {
        f.name: f.default if f.default is not MISSING else f.default_factory()  # type: ignore[misc]
        for f in fields(TrainConfig)
    }


def read_toml(path: str | Path) -> dict[str, Any]:
    """The settings in a TOML file. Raises :class:`ConfigError` where there is none or it is not TOML."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{str(path)!r} is not a TOML file: {error}") from None


def presets() -> dict[str, str]:
    """The presets that come with this package: name -> TOML text."""
    folder = resources.files("gem_rl") / "presets"
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda e: e.name)
        if entry.name.endswith(".toml")
    }


def preset(name: str) -> dict[str, Any]:
    """The settings of a preset. Raises :class:`ConfigError` that lists those there are."""
    found = presets()
    if name not in found:
        raise ConfigError(f"unknown preset {name!r}: choose one of {', '.join(found)}")
    return tomllib.loads(found[name])
