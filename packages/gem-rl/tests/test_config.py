"""Settings: what is refused, and how it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gem_rl.config import TrainConfig, defaults, preset, presets, read_toml
from gem_rl.errors import ConfigError

ENV = {"env": "toy:Guess-v0"}


def test_an_unknown_setting_suggests_a_near_one() -> None:
    with pytest.raises(ConfigError, match=r"run\.toml has no setting 'gama'; did you mean 'gamma'\?"):
        TrainConfig.from_dict({**ENV, "gama": 0.9}, "run.toml")


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("steps", "many", "a whole number"),
        ("steps", 1.5, "a whole number"),
        ("steps", True, "a whole number"),
        ("gamma", "high", "a number"),
        ("env_options", 3, "a table"),
        ("whiten", 1, "true or false"),
        ("max_turns", "x", "a whole number"),
    ],
)
def test_a_value_of_the_wrong_kind(name: str, value: Any, kind: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be {kind}, got {value!r}"):
        TrainConfig.from_dict({**ENV, name: value})


def test_whole_numbers_serve_as_numbers_and_none_where_allowed() -> None:
    config = TrainConfig.from_dict({**ENV, "gamma": 1, "max_turns": None, "value_clip": None})
    assert (config.gamma, config.max_turns, config.value_clip) == (1.0, None, None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"env": ""}, "no environment: give an id"),
        ({"algorithm": "a2c"}, "unknown algorithm 'a2c': choose one of"),
        ({"algorithm": "grpo", "group_size": 8, "gamma": 0.9}, "gamma is 1 by construction"),
        ({"algorithm": "grpo"}, "needs groups"),
        ({"episodes": 10, "group_size": 4}, "must be a multiple of group_size"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"lr": 0.0}, "lr must be positive"),
        ({"seed": -1}, "seed must not be negative"),
        ({"divide_by": "luck"}, "divide_by must be tokens or constant"),
    ],
)
def test_settings_that_cannot_work(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        TrainConfig.from_dict({**ENV, **changes})
    assert "\n" not in str(caught.value)


def test_the_divisor_follows_the_algorithm_unless_chosen() -> None:
    assert TrainConfig(**ENV).divide_by == "tokens"
    assert TrainConfig(**ENV, algorithm="dr-grpo", group_size=2).divide_by == "constant"
    assert TrainConfig(**ENV, algorithm="dr-grpo", group_size=2, divide_by="tokens").divide_by == "tokens"


def test_a_configuration_survives_the_round_trip() -> None:
    config = TrainConfig(**ENV, env_options={"count": 3}, gamma=0.9)
    assert TrainConfig.from_dict(config.to_dict()) == config


def test_every_preset_is_a_valid_configuration() -> None:
    assert "quickstart" in presets()
    for name in presets():
        TrainConfig.from_dict(preset(name))


def test_an_unknown_preset_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"unknown preset 'x': choose one of .*quickstart"):
        preset("x")


def test_toml_files(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text('env = "toy:Guess-v0"\nsteps = 3\n[env_options]\ncount = 2\n')
    bad.write_text("steps = = 3")
    assert read_toml(good) == {"env": "toy:Guess-v0", "steps": 3, "env_options": {"count": 2}}
    with pytest.raises(ConfigError, match="is not a TOML file"):
        read_toml(bad)
    with pytest.raises(ConfigError, match=r"cannot read the configuration .*absent"):
        read_toml(tmp_path / "absent.toml")


def test_defaults_name_every_setting() -> None:
    assert TrainConfig(**{**defaults(), **ENV}) == TrainConfig(**ENV)
