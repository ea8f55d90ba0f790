"""From the policy settings of a run to a policy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from gem_rl.config import TrainConfig
from gem_rl.errors import ConfigError
from gem_rl.policies.base import Policy
from gem_rl.seeds import derive


def device(name: str) -> torch.device:
    """The device of a setting: ``auto`` is CUDA where there is one.

    Raises:
        ConfigError: CUDA is asked for and there is none, or torch knows no such device.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"unknown device {name!r}: choose cpu, cuda or auto") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError("no CUDA device here: use --device cpu (or auto), or install a CUDA build of torch")
    return found


def build_policy(config: TrainConfig, progress: Callable[[int, float], None] = lambda step, loss: None) -> Policy:
    """The policy of a run before its first step; a tiny one is warmed up, ``progress`` sees each step of that."""
    kind, _, path = config.policy.partition(":")
    place = device(config.device)
    if config.policy == "tiny":
        return _tiny(config, place, progress)
    if kind == "hf" and path:
        from gem_rl.policies.transformers import TransformersPolicy

        options = _options(TransformersPolicy, config.policy_options, config.policy)
        return TransformersPolicy.from_pretrained(
            path,
            max_tokens=config.max_tokens,
            seed=config.seed,
            device=place,
            temperature=config.temperature,
            **options,
        )
    raise ConfigError(f"unknown policy {config.policy!r}: use tiny, or hf:PATH with the path of a transformers model")


def restore_policy(config: TrainConfig, state: dict[str, Any]) -> Policy:
    """The policy of a checkpoint."""
    place = device(config.device)
    if state["kind"] == "tiny":
        from gem_rl.policies.tiny import TinyPolicy

        policy: Policy = TinyPolicy.restore(state, place)
        policy.temperature = config.temperature
        return policy
    policy = build_policy(config)
    policy.load(state)
    return policy


def _tiny(config: TrainConfig, place: torch.device, progress: Callable[[int, float], None]) -> Policy:
    from gem_rl.policies.tiny import TinyPolicy
    from gem_rl.policies.words import WordTokenizer
    from gem_rl.warmup import imitate, play_randomly

    options = _options(TinyPolicy, config.policy_options, "tiny")
    # a wrapper of the user's choice is taken to show the history; otherwise the policy remembers it
    options.setdefault("memory", not config.wrappers)
    transcripts = play_randomly(config)
    vocabulary = WordTokenizer.of(text for transcript in transcripts for text in transcript.texts()).vocabulary
    policy = TinyPolicy(
        vocabulary, max_tokens=config.max_tokens, seed=derive(config.seed, "weights"), device=place, **options
    )
    policy.temperature = config.temperature
    imitate(policy, policy.tokenizer.encode, transcripts, config, progress)
    return policy


def _options(cls: type, options: dict[str, Any], name: str) -> dict[str, Any]:
    """Check the policy's options by name."""
    function = getattr(cls, "from_pretrained", cls)
    given = {"self", "vocabulary", "path", "max_tokens", "seed", "device", "temperature"}
    known = [p for p in inspect.signature(function).parameters if p not in given]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise ConfigError(f"policy {name!r} has no option {unknown[0]!r} (options: {', '.join(known)})")
    return dict(options)
