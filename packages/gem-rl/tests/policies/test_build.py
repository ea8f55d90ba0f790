"""From settings to a policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gem_rl.errors import ConfigError
from gem_rl.policies.build import build_policy, device, restore_policy

Make = Callable[..., Any]


def test_cuda_where_there_is_none_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=r"no CUDA device here: use --device cpu \(or auto\)"):
        device("cuda")
    assert device("auto").type == "cpu"


def test_auto_takes_cuda_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device("auto").type == "cuda"


def test_an_unknown_device_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown device 'abacus'"):
        device("abacus")


def test_an_unknown_policy_says_what_there_is(small: Make) -> None:
    with pytest.raises(ConfigError, match="unknown policy 'huge': use tiny, or hf:PATH"):
        build_policy(small(policy="huge"))


def test_an_unknown_option_lists_those_there_are(small: Make) -> None:
    with pytest.raises(ConfigError, match=r"policy 'tiny' has no option 'depth' \(options: width, layers"):
        build_policy(small(policy_options={"depth": 3}))


def test_restored_policies_keep_the_temperature(small: Make) -> None:
    config = small(temperature=0.7)
    assert restore_policy(config, build_policy(config).save()).temperature == 0.7


def test_history_comes_from_the_policy_unless_a_wrapper_shows_it(small: Make) -> None:
    assert build_policy(small()).memory is True
    assert build_policy(small(wrappers="concat_with_action")).memory is False
