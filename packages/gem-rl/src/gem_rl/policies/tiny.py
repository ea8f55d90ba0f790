"""The embedded default model: a transformer of thirty thousand parameters that reads and writes words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gem.rollout import Episode, Response
from gem_rl import losses
from gem_rl.policies.base import Packed, Policy, Scores, draw, text_of
from gem_rl.policies.decoder import Cache, Decoder
from gem_rl.policies.words import WordTokenizer


class TinyPolicy(Policy):
    """A :class:`Decoder` over the words of one environment, trained from scratch.

    Args:
        vocabulary: its words, see :class:`WordTokenizer`.
        width, layers, heads, window: size of the decoder.
        context: the most tokens of a whole conversation; an episode that outgrows it ends with reason ``"length"``.
        max_tokens: the most tokens of one response, the end token among them.
        memory: whether the prompt holds the conversation so far; switch it off under a wrapper that repeats it
            in every observation.
        seed: of the initial weights.
    """

    model: Decoder

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        width: int = 32,
        layers: int = 2,
        heads: int = 2,
        window: int = 3,
        context: int = 1024,
        max_tokens: int = 8,
        memory: bool = True,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(torch.device(device))
        shape = {"width": width, "layers": layers, "heads": heads, "window": window}
        self.settings = {**shape, "context": context, "memory": memory}
        self.tokenizer = WordTokenizer(vocabulary)
        with torch.random.fork_rng([]):  # initialisation draws from the global generator: put it back afterwards
            torch.manual_seed(seed)
            self.model = Decoder(len(self.tokenizer), **shape).to(self.device)
        self.context = context
        self.max_tokens = max_tokens
        self.memory = memory
        self.seed(seed)
        self._cached = _Cached({}, None)

    def eos(self) -> int:
        return self.tokenizer.end

    # -- responding -----------------------------------------------------------------------------------

    def prompt_ids(self, episode: Episode) -> list[int]:
        ids: list[int] = []
        if self.memory and episode.turns:
            last = episode.turns[-1]
            ids = [*(last.prompt_ids or ()), *(last.response_ids or ())]
        return ids + self.tokenizer.encode(text_of(episode.observation)) + [self.tokenizer.end]

    @torch.no_grad()
    def __call__(
        self,
        observations: Sequence[Any],
        *,
        episodes: Sequence[Episode],
        max_tokens: Sequence[int | None] | None = None,
    ) -> list[Response]:
        prompts = [self.prompt_ids(episode) for episode in episodes]
        rooms = [
            max(0, min(self.max_tokens, self.context - len(prompt), *([] if limit is None else [limit])))
            for prompt, limit in zip(prompts, max_tokens or [None] * len(prompts), strict=True)
        ]
        fitting = [row for row, room in enumerate(rooms) if room > 0]
        responses = [Response("", prompt, [], [], "length") for prompt in prompts]
        if fitting:
            drawn = self._generate(
                [prompts[row] for row in fitting], [rooms[row] for row in fitting], [episodes[row] for row in fitting]
            )
            for row, (ids, logprobs) in zip(fitting, drawn, strict=True):
                ended = bool(ids) and ids[-1] == self.tokenizer.end
                text = self.tokenizer.decode(ids[:-1] if ended else ids)
                responses[row] = Response(text, prompts[row], ids, logprobs, "stop" if ended else "length")
        return responses

    def _generate(
        self, prompts: list[list[int]], rooms: list[int], episodes: Sequence[Episode]
    ) -> list[tuple[list[int], list[float]]]:
        hidden_BC, cache = self._read(prompts, episodes)
        lengths_B = torch.tensor([len(prompt) for prompt in prompts], device=self.device)
        latest_BE = self._pad(prompts, [len(prompt) - 1 for prompt in prompts])[0]
        rooms_B = torch.tensor(rooms, device=self.device)
        running_B = torch.ones(len(prompts), dtype=torch.bool, device=self.device)
        ids, logprobs, counted = [], [], []
        for number in range(max(rooms)):
            ids_B, logprobs_B = draw(self.model.logits(hidden_BC), self.temperature, self.greedy, self.generator)
            ids.append(ids_B)
            logprobs.append(logprobs_B)
            counted.append(running_B)
            # the last token of a row is not read here: the next prompt brings it
            running_B = running_B & (ids_B != self.tokenizer.end) & (rooms_B > number + 1)
            if not bool(running_B.any()):
                break
            latest_BE = torch.cat([latest_BE[:, 1:], ids_B[:, None]], 1)
            hidden_B1C, cache = self.model(latest_BE, (lengths_B + number)[:, None], running_B[:, None], cache)
            hidden_BC = hidden_B1C[:, 0]
        counts = torch.stack(counted, 1).sum(1).tolist()
        ids_BR, logprobs_BR = torch.stack(ids, 1).tolist(), torch.stack(logprobs, 1).tolist()
        drawn = [(i[:n], p[:n]) for i, p, n in zip(ids_BR, logprobs_BR, counts, strict=True)]
        self._cached = _Cached(
            {id(e): (row, [*prompts[row], *drawn[row][0][:-1]]) for row, e in enumerate(episodes)}, cache
        )
        return drawn

    def _read(self, prompts: list[list[int]], episodes: Sequence[Episode]) -> tuple[Tensor, Cache]:
        """Hidden state at the end of every prompt, ``[B, width]``, reading only what the cache does not hold."""
        held, cache = self._cached.rows, self._cached.cache
        known = [held.get(id(episode), (0, [])) for episode in episodes]
        starts = [
            len(ids) if ids and len(ids) < len(prompt) and prompt[: len(ids)] == ids else 0
            for (_, ids), prompt in zip(known, prompts, strict=True)
        ]
        if not any(starts):
            # a batch of fresh episodes often opens with one and the same text: read each text once
            texts = {tuple(prompt): row for row, prompt in enumerate(prompts)}
            numbers = {text: number for number, text in enumerate(texts)}
            hidden_UC, cache = self._extend(list(map(list, texts)), [0] * len(texts), None)
            rows_B = torch.tensor([numbers[tuple(prompt)] for prompt in prompts], device=self.device)
            return hidden_UC[rows_B], cache.rows(rows_B)
        assert cache is not None
        past = cache.rows(torch.tensor([row for row, _ in known], device=self.device))
        past.valid_BS = past.valid_BS & torch.tensor(starts, device=self.device)[:, None].bool()
        return self._extend(prompts, starts, past)

    def _extend(self, texts: list[list[int]], starts: list[int], past: Cache | None) -> tuple[Tensor, Cache]:
        """Read each text from its start on; hidden state at its end, and the cache."""
        ids_BE, valid_BT = self._pad(texts, starts)
        steps_T = torch.arange(valid_BT.shape[1], device=self.device)
        positions_BT = torch.tensor(starts, device=self.device)[:, None] + steps_T
        hidden_BTC, cache = self.model(ids_BE, positions_BT, valid_BT, past)
        last_B = valid_BT.sum(1) - 1
        return hidden_BTC[torch.arange(len(texts), device=self.device), last_B], cache

    def _pad(self, texts: Sequence[list[int]], starts: Sequence[int]) -> tuple[Tensor, Tensor]:
        """The texts from their starts on, behind the tokens read together with them, and which are no padding."""
        before = [self.tokenizer.pad] * (self.model.window - 1)
        cut = [(before + text)[start:] for text, start in zip(texts, starts, strict=True)]
        longest = max(map(len, cut))
        lengths_B = torch.tensor([len(ids) - len(before) for ids in cut], device=self.device)
        valid_BT = torch.arange(longest - len(before), device=self.device) < lengths_B[:, None]
        padded = [ids + [self.tokenizer.pad] * (longest - len(ids)) for ids in cut]
        return torch.tensor(padded, device=self.device), valid_BT

    # -- learning -------------------------------------------------------------------------------------

    def score(self, sequences: Sequence[Packed], with_values: bool = False) -> Scores:
        self._cached = _Cached({}, None)  # the weights are about to change
        shared = _common_prefix([sequence.ids for sequence in sequences], [s.prompt_ends[0] for s in sequences])
        texts = [sequence.ids for sequence in sequences]
        cache = None
        if shared:
            _, cache = self._extend([texts[0][:shared]], [0], None)
        ids_BE, valid_BT = self._pad(texts, [shared] * len(texts))
        positions_BT = torch.arange(shared, shared + valid_BT.shape[1], device=self.device).expand(len(texts), -1)
        hidden_BTC, _ = self.model(ids_BE, positions_BT, None, cache)
        flat_NC = hidden_BTC.reshape(-1, hidden_BTC.shape[-1])
        stride = valid_BT.shape[1]
        tokens_K = torch.tensor(
            [row * stride + p - shared for row, s in enumerate(sequences) for p in s.responses], device=self.device
        )
        logits_KV = self.model.logits(flat_NC[tokens_K - 1]) / self.temperature
        values_M = None
        if with_values:
            ends_M = torch.tensor(
                [row * stride + p - shared for row, s in enumerate(sequences) for p in s.prompt_ends],
                device=self.device,
            )
            values_M = self.model.value(flat_NC[ends_M]).squeeze(-1)
        ids_K = ids_BE[:, self.model.window - 1 :].reshape(-1)[tokens_K]
        return Scores(losses.token_logprobs(logits_KV, ids_K), losses.entropy(logits_KV), values_M)

    # -- keeping --------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        return {
            "kind": "tiny",
            "settings": {**self.settings, "max_tokens": self.max_tokens},
            "vocabulary": self.tokenizer.vocabulary,
            "model": self.model.state_dict(),
        }

    def load(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self._cached = _Cached({}, None)

    @classmethod
    def restore(cls, state: dict[str, Any], device: torch.device | str = "cpu") -> TinyPolicy:
        """The policy that :meth:`save` saved."""
        policy = cls(state["vocabulary"], **state["settings"], device=device)
        policy.load(state)
        return policy


class _Cached:
    """What the last call left behind: for each episode its cache row and the tokens that row holds."""

    def __init__(self, rows: dict[int, tuple[int, list[int]]], cache: Cache | None) -> None:
        self.rows = rows
        self.cache = cache


def _common_prefix(texts: Sequence[list[int]], limits: Sequence[int]) -> int:
    """How many leading tokens all texts share, at most the smallest of ``limits``."""
    first = texts[0]
    shared = min(limits)
    for text in texts[1:]:
        if text[:shared] != first[:shared]:
            shared = next(n for n in range(shared) if text[n] != first[n])
    return shared
