"""The decoder: reading in pieces is reading at once."""

from __future__ import annotations

import pytest
import torch

from gem_rl.policies.decoder import Decoder


@pytest.fixture
def decoder() -> Decoder:
    torch.manual_seed(0)
    return Decoder(vocabulary=20, width=16, layers=2, heads=2, window=3)


def behind_padding(ids: list[int], start: int = 0, window: int = 3) -> torch.Tensor:
    return torch.tensor([([0] * (window - 1) + ids)[start:]])


IDS = [3, 7, 7, 1, 19, 4, 2]


def positions(start: int, end: int) -> torch.Tensor:
    return torch.arange(start, end)[None]


@pytest.mark.parametrize("cut", range(1, 7))
def test_a_cache_changes_nothing(decoder: Decoder, cut: int) -> None:
    whole, _ = decoder(behind_padding(IDS), positions(0, 7))
    first, cache = decoder(behind_padding(IDS[:cut]), positions(0, cut))
    second, cache = decoder(behind_padding(IDS, cut), positions(cut, 7), None, cache)
    torch.testing.assert_close(torch.cat([first, second], 1), whole)
    assert cache.valid_BS.shape == (1, 7)


def test_later_tokens_have_no_say(decoder: Decoder) -> None:
    whole, _ = decoder(behind_padding(IDS), positions(0, 7))
    other, _ = decoder(behind_padding([*IDS[:5], 9, 9]), positions(0, 7))
    torch.testing.assert_close(other[:, :5], whole[:, :5])
    assert not torch.allclose(other[:, 5:], whole[:, 5:])


def test_slots_that_are_not_valid_have_no_say(decoder: Decoder) -> None:
    """Padding in the middle of the cache, as rows of different lengths leave it."""
    wanted, _ = decoder(behind_padding(IDS), positions(0, 7))
    padded = behind_padding([*IDS[:4], 11, 11])
    valid = torch.tensor([[True] * 4 + [False] * 2])
    _, cache = decoder(padded, positions(0, 6), valid)
    rest, _ = decoder(behind_padding(IDS, 4), positions(4, 7), torch.ones(1, 3, dtype=torch.bool), cache)
    torch.testing.assert_close(rest, wanted[:, 4:])


def test_one_row_of_cache_is_shared_by_all(decoder: Decoder) -> None:
    _, cache = decoder(behind_padding(IDS[:4]), positions(0, 4))
    rows = torch.cat([behind_padding([*IDS[:4], 5, 6], 4), behind_padding([*IDS[:4], 8, 9], 4)])
    both, _ = decoder(rows, positions(4, 6).expand(2, -1), None, cache)
    for row, end in enumerate(([5, 6], [8, 9])):
        alone, _ = decoder(behind_padding([*IDS[:4], *end]), positions(0, 6))
        torch.testing.assert_close(both[row], alone[0, 4:])


def test_rows_can_be_chosen_and_repeated(decoder: Decoder) -> None:
    ids = torch.cat([behind_padding([1, 2]), behind_padding([3, 4])])
    _, cache = decoder(ids, positions(0, 2).expand(2, -1))
    chosen = cache.rows(torch.tensor([1, 1, 0]))
    assert torch.equal(chosen.keys_LBHSD[:, 0], chosen.keys_LBHSD[:, 1])
    assert torch.equal(chosen.keys_LBHSD[:, 2], cache.keys_LBHSD[:, 0])


def test_a_token_is_read_together_with_the_ones_before_it(decoder: Decoder) -> None:
    """The same token at the same place differs by what stood before it, even where attention sees neither."""
    first = torch.tensor([[3, 4, 5]])
    second = torch.tensor([[9, 4, 5]])
    states = [decoder(ids, positions(2, 3))[0] for ids in (first, second)]
    assert not torch.allclose(*states)
    lone = Decoder(vocabulary=20, width=16, layers=2, heads=2, window=1)
    torch.testing.assert_close(*(lone(ids[:, 2:], positions(2, 3))[0] for ids in (first, second)))


def test_a_width_that_does_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="width must be a multiple of twice the heads"):
        Decoder(10, width=30, heads=4)
