"""A small decoder-only transformer with a key-value cache that takes rows of different lengths without sorting them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(slots=True)
class Cache:
    """Keys and values of earlier tokens. Axes: ``L`` layers, ``B`` rows, ``H`` heads, ``S`` slots, ``D`` head width.

    Positions are rotated into the keys, so the slots of a row need neither order nor be all in use.
    """

    keys_LBHSD: Tensor
    values_LBHSD: Tensor
    #: Which slots hold a token.
    valid_BS: Tensor

    def rows(self, index_B: Tensor) -> Self:
        """The cache of some rows, repeated and reordered as ``index_B`` says."""
        return type(self)(self.keys_LBHSD[:, index_B], self.values_LBHSD[:, index_B], self.valid_BS[index_B])


class Decoder(nn.Module):
    """Pre-norm transformer, rotary positions, tied embedding, and a scalar head for a critic.

    Each token is read together with the few before it (one embedding table for each place), so that "than 5" after
    "higher" is not the same word as "5": what the first layer of a larger model spends attention heads on.

    Args:
        vocabulary: number of tokens.
        width, layers, heads: its size; 32, 2 and 2 make 25 thousand parameters, and ``32 * window * vocabulary`` for
            the words.
        window: how many tokens are read together.
    """

    def __init__(self, vocabulary: int, width: int = 32, layers: int = 2, heads: int = 2, window: int = 3) -> None:
        super().__init__()
        if width % (2 * heads):
            raise ValueError(f"width must be a multiple of twice the heads, got width {width} and {heads} heads")
        self.window = window
        self.embedding = nn.Embedding(vocabulary, width)
        self.earlier = nn.ModuleList(nn.Embedding(vocabulary, width) for _ in range(window - 1))
        self.blocks = nn.ModuleList(_Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.value = nn.Linear(width, 1)
        for table in (self.embedding, *self.earlier):
            nn.init.normal_(table.weight, std=width**-0.5)
        nn.init.zeros_(self.value.weight)
        nn.init.zeros_(self.value.bias)
        self.rotations = width // heads // 2

    def forward(
        self, ids_BE: Tensor, positions_BT: Tensor, valid_BT: Tensor | None = None, cache: Cache | None = None
    ) -> tuple[Tensor, Cache]:
        """Hidden states ``[B, T, width]`` of new tokens, and the cache that includes them.

        Args:
            ids_BE: the new tokens behind the ``window - 1`` before them, padding where the text begins;
                ``E = T + window - 1``.
            positions_BT: position of each token in its row's text.
            valid_BT: false at padding; ``None``: no padding, or padding at the end whose states nobody reads.
            cache: what came before; of one row, it is shared by all rows.
        """
        B, T = positions_BT.shape
        causal_TT = torch.ones(T, T, dtype=torch.bool, device=ids_BE.device).tril()
        if valid_BT is None and cache is not None and len(cache.valid_BS) == 1:
            before_TS = cache.valid_BS.expand(T, -1)
            mask = torch.cat([before_TS, causal_TT], 1)[None, None]
            valid_BT = torch.ones_like(positions_BT, dtype=torch.bool)
        elif valid_BT is None and cache is None:
            mask = None  # plain causal attention has a faster kernel
            valid_BT = torch.ones_like(positions_BT, dtype=torch.bool)
        else:
            if valid_BT is None:
                valid_BT = torch.ones_like(positions_BT, dtype=torch.bool)
            mask = (causal_TT & valid_BT[:, None, :]) | torch.eye(T, dtype=torch.bool, device=ids_BE.device)
            if cache is not None:
                before_BTS = cache.valid_BS[:, None, :].expand(B, T, -1)
                mask = torch.cat([before_BTS, mask], 2)
            mask = mask[:, None]
        frequencies = 1000.0 ** -(torch.arange(self.rotations, device=ids_BE.device) / self.rotations)
        angles = positions_BT[:, None, :, None] * frequencies
        rotation = (angles.cos(), angles.sin())
        x_BTC = self.embedding(ids_BE[:, self.window - 1 :])
        for back, table in enumerate(self.earlier, 1):
            x_BTC = x_BTC + table(ids_BE[:, self.window - 1 - back : ids_BE.shape[1] - back])
        keys, values = [], []
        for number, block in enumerate(self.blocks):
            past = None if cache is None else (cache.keys_LBHSD[number], cache.values_LBHSD[number])
            x_BTC, key, value = block(x_BTC, rotation, mask, past)
            keys.append(key)
            values.append(value)
        before_BS = valid_BT if cache is None else torch.cat([cache.valid_BS.expand(B, -1), valid_BT], 1)
        return self.norm(x_BTC), Cache(torch.stack(keys), torch.stack(values), before_BS)

    def logits(self, hidden: Tensor) -> Tensor:
        """Next-token logits, ``[..., V]``, of hidden states ``[..., width]``."""
        return F.linear(hidden, self.embedding.weight)


class _Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm_feed = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(
        self,
        x_BTC: Tensor,
        rotation: tuple[Tensor, Tensor],
        mask: Tensor | None,
        past: tuple[Tensor, Tensor] | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        B, T, C = x_BTC.shape
        qkv = self.qkv(self.norm_attention(x_BTC)).view(B, T, 3, self.heads, C // self.heads)
        q_BHTD, k_BHTD, v_BHTD = qkv.permute(2, 0, 3, 1, 4)
        q_BHTD, k_BHTD = _rotate(q_BHTD, rotation), _rotate(k_BHTD, rotation)
        if past is not None:
            k_BHTD = torch.cat([past[0].expand(B, -1, -1, -1), k_BHTD], 2)
            v_BHTD = torch.cat([past[1].expand(B, -1, -1, -1), v_BHTD], 2)
        mixed = F.scaled_dot_product_attention(q_BHTD, k_BHTD, v_BHTD, attn_mask=mask, is_causal=mask is None)
        x_BTC = x_BTC + self.out(mixed.transpose(1, 2).reshape(B, T, C))
        return x_BTC + self.down(F.relu(self.up(self.norm_feed(x_BTC)))), k_BHTD, v_BHTD


def _rotate(x_BHTD: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary position embedding: Su et al., *RoFormer* (arXiv:2104.09864)."""
    cos, sin = rotation
    a, b = x_BHTD.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
