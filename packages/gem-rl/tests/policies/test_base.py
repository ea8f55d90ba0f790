"""What all policies share: the text of observations, and drawing tokens."""

from __future__ import annotations

import math

import pytest
import torch

from gem_rl.policies.base import draw, text_of


def test_the_text_of_text_parts_and_messages() -> None:
    assert text_of("look") == "look"
    assert text_of([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]) == "a\nb"
    assert text_of([{"role": "user", "content": "first"}, {"role": "user", "content": "last"}]) == "last"


def test_images_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match="reads text only, the observation holds 'image'"):
        text_of([{"type": "text", "text": "a"}, {"type": "image", "image": "data:"}])


def test_draws_follow_the_distribution_and_say_its_logprobs() -> None:
    logits = torch.tensor([[math.log(0.1), math.log(0.9)]]).expand(4000, -1)
    ids, logprobs = draw(logits, 1.0, False, torch.Generator().manual_seed(0))
    assert 0.07 < float((ids == 0).float().mean()) < 0.13
    torch.testing.assert_close(logprobs.exp(), torch.where(ids == 0, 0.1, 0.9))


def test_temperature_sharpens() -> None:
    logits = torch.tensor([[math.log(0.2), math.log(0.8)]])
    _, logprob = draw(logits, 0.5, True, torch.Generator())
    assert float(logprob.exp()) == pytest.approx(0.64 / (0.64 + 0.04))


def test_greedy_takes_the_likeliest() -> None:
    ids, _ = draw(torch.tensor([[0.0, 3.0, 1.0]] * 5), 1.0, True, torch.Generator())
    assert ids.tolist() == [1] * 5
