"""Any causal language model of the transformers library, whole or by LoRA."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gem.errors import MissingDependency
from gem.rollout import Episode, Response, TokenPrompts
from gem_rl import losses
from gem_rl.errors import ConfigError
from gem_rl.policies.base import Packed, Policy, Scores, draw

#: Layers that LoRA adapts unless told otherwise: the projections of all common decoders, by PEFT's own name for them.
LORA_TARGETS = "all-linear"


class TransformersPolicy(Policy):
    """A causal LM that answers through its tokenizer's chat template.

    Prompts are made by :class:`gem.rollout.TokenPrompts`: where the template allows, a prompt is the previous prompt,
    the response exactly as it was sampled, and the tokens the template puts after it. Without a template, observations
    and responses follow one another as plain text.

    Args:
        model: a ``transformers`` causal LM, or one wrapped by PEFT.
        tokenizer: its tokenizer.
        system: a system message; only with a template.
        keep_responses: go on from the ids as sampled even where the template would rewrite earlier turns.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        *,
        max_tokens: int = 256,
        temperature: float = 1.0,
        system: str | None = None,
        keep_responses: bool = False,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(torch.device(device))
        self.model = model.to(self.device)
        self.tokenizer = tokenizer
        chat = bool(getattr(tokenizer, "chat_template", None))
        self.prompts = TokenPrompts(tokenizer, chat=chat, keep_responses=keep_responses and chat)
        self.wrappers = "concat_with_action"
        if chat:
            # suffixes stay in the conversation: a prompt that dropped them would not extend the one before
            self.wrappers = [{"name": "messages", "keep_suffix": True, **({"system": system} if system else {})}]
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.context = int(getattr(model.config, "max_position_embeddings", None) or 1 << 30)
        if not hasattr(model, "value"):
            # where the critic looks; a part of the model, so that it is saved and optimised with it
            width = int(model.config.get_text_config().hidden_size)
            model.value = nn.Linear(width, 1, device=self.device)
            nn.init.zeros_(model.value.weight)
            nn.init.zeros_(model.value.bias)
        self.ends = _ends(model, tokenizer)
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        accepted = inspect.signature(base.forward).parameters
        #: What the model calls its key-value cache: transformers renamed it.
        self._cache = "cache" if "cache" in accepted else "past_key_values"
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}
        self.model.eval()  # dropout would make the learner's log-probabilities differ from the sampler's
        self.seed(seed)

    @classmethod
    def from_pretrained(
        cls,
        path: str,
        *,
        dtype: str = "auto",
        lora_rank: int = 0,
        lora_alpha: float | None = None,
        lora_targets: str = LORA_TARGETS,
        max_tokens: int = 256,
        temperature: float = 1.0,
        system: str | None = None,
        keep_responses: bool = False,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> TransformersPolicy:
        """Load a model and its tokenizer from a folder or the hub.

        Args:
            dtype: ``auto`` takes the checkpoint's; or a torch name such as ``float32``.
            lora_rank: train adapters of this rank instead of the model; 0 trains all of it.
            lora_alpha: their scale; twice the rank by default.
            lora_targets: names of the layers to adapt, comma-separated.

        Raises:
            gem.MissingDependency: transformers, or for LoRA peft, is not installed.
            ConfigError: there is no such model.
        """
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ModuleNotFoundError as error:
            raise MissingDependency(
                f"policy hf:{path} needs {error.name}: pip install 'gem-rl[transformers]'"
            ) from error
        try:
            tokenizer = AutoTokenizer.from_pretrained(path)
            model = AutoModelForCausalLM.from_pretrained(path, dtype=dtype)
        except (OSError, ValueError) as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ConfigError(f"cannot load the model hf:{path}: {first}") from error
        if lora_rank:
            with torch.random.fork_rng([]):
                torch.manual_seed(seed)
                model = _adapted(model, lora_rank, lora_alpha, lora_targets)
        return cls(
            model,
            tokenizer,
            max_tokens=max_tokens,
            temperature=temperature,
            system=system,
            keep_responses=keep_responses,
            seed=seed,
            device=device,
        )

    def eos(self) -> int:
        return self.ends[0]

    # -- responding -----------------------------------------------------------------------------------

    def prompt_ids(self, episode: Episode) -> list[int]:
        return self.prompts(episode)

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
            drawn = self._generate([prompts[row] for row in fitting], [rooms[row] for row in fitting])
            for row, (ids, logprobs) in zip(fitting, drawn, strict=True):
                ended = bool(ids) and ids[-1] in self.ends
                text = self.tokenizer.decode(ids[:-1] if ended else ids, skip_special_tokens=True)
                responses[row] = Response(text, prompts[row], ids, logprobs, "stop" if ended else "length")
        return responses

    def _generate(self, prompts: list[list[int]], rooms: list[int]) -> list[tuple[list[int], list[float]]]:
        ids_BT, mask_BT = self._pad(prompts, left=True)
        rooms_B = torch.tensor(rooms, device=self.device)
        ends_E = torch.tensor(self.ends, device=self.device)
        running_B = torch.ones(len(prompts), dtype=torch.bool, device=self.device)
        positions_BT = (mask_BT.cumsum(1) - 1).clamp(min=0)
        next_BT, cache = ids_BT, None
        ids, logprobs, counted = [], [], []
        for number in range(max(rooms)):
            out = self.model(
                input_ids=next_BT,
                attention_mask=mask_BT,
                position_ids=positions_BT,
                use_cache=True,
                **{self._cache: cache},
                **self._last_only,
            )
            cache = out[self._cache]
            ids_B, logprobs_B = draw(out.logits[:, -1], self.temperature, self.greedy, self.generator)
            ids.append(ids_B)
            logprobs.append(logprobs_B)
            counted.append(running_B)
            running_B = running_B & ~torch.isin(ids_B, ends_E) & (rooms_B > number + 1)
            if not bool(running_B.any()):
                break
            next_BT = ids_B[:, None]
            mask_BT = torch.cat([mask_BT, mask_BT.new_ones(len(prompts), 1)], 1)
            positions_BT = positions_BT[:, -1:] + 1
        counts = torch.stack(counted, 1).sum(1).tolist()
        ids_BR, logprobs_BR = torch.stack(ids, 1).tolist(), torch.stack(logprobs, 1).tolist()
        return [(i[:n], p[:n]) for i, p, n in zip(ids_BR, logprobs_BR, counts, strict=True)]

    def _pad(self, texts: Sequence[list[int]], left: bool = False) -> tuple[Tensor, Tensor]:
        """Token ids and the mask of real ones; padding is token 0, which the mask hides."""
        longest = max(map(len, texts))
        rows, masks = [], []
        for text in texts:
            gap = longest - len(text)
            rows.append([0] * gap + text if left else text + [0] * gap)
            masks.append([0] * gap + [1] * len(text) if left else [1] * len(text) + [0] * gap)
        return torch.tensor(rows, device=self.device), torch.tensor(masks, device=self.device)

    # -- learning -------------------------------------------------------------------------------------

    def score(self, sequences: Sequence[Packed], with_values: bool = False) -> Scores:
        ids_BT, mask_BT = self._pad([sequence.ids for sequence in sequences])
        out = self.model(input_ids=ids_BT, attention_mask=mask_BT, use_cache=False, output_hidden_states=with_values)
        stride = ids_BT.shape[1]
        tokens_K = self._places([s.responses for s in sequences], stride)
        logits_KV = out.logits.reshape(-1, out.logits.shape[-1])[tokens_K - 1].float() / self.temperature
        values_M = None
        if with_values:
            hidden_NC = out.hidden_states[-1].reshape(-1, out.hidden_states[-1].shape[-1])
            ends_M = self._places([s.prompt_ends for s in sequences], stride)
            values_M = self.model.value(hidden_NC[ends_M].to(self.model.value.weight.dtype)).squeeze(-1)
        logprobs_K = losses.token_logprobs(logits_KV, ids_BT.reshape(-1)[tokens_K])
        return Scores(logprobs_K, losses.entropy(logits_KV), values_M)

    def _places(self, positions: Sequence[list[int]], stride: int) -> Tensor:
        return torch.tensor([row * stride + p for row, ps in enumerate(positions) for p in ps], device=self.device)

    # -- keeping --------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        trained = {name for name, parameter in self.model.named_parameters() if parameter.requires_grad}
        state = {name: tensor for name, tensor in self.model.state_dict().items() if name in trained}
        return {"kind": "hf", "model": state}

    def load(self, state: dict[str, Any]) -> None:
        _, unexpected = self.model.load_state_dict(state["model"], strict=False)
        if unexpected:
            raise ConfigError(f"the checkpoint is of another model: it has {unexpected[0]!r}")


def _adapted(model: Any, rank: int, alpha: float | None, targets: str) -> Any:
    try:
        from peft import LoraConfig, get_peft_model
    except ModuleNotFoundError as error:
        raise MissingDependency(f"lora_rank needs {error.name}: pip install 'gem-rl[lora]'") from error
    names = targets if targets == LORA_TARGETS else [name.strip() for name in targets.split(",")]
    settings = LoraConfig(
        r=rank, lora_alpha=alpha or 2 * rank, lora_dropout=0.0, target_modules=names, task_type="CAUSAL_LM"
    )
    return get_peft_model(model, settings)


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that end a response: the tokenizer's, and those of the model's generation settings."""
    configured = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    several = configured if isinstance(configured, list) else [configured]
    ends = [end for end in (tokenizer.eos_token_id, *several) if end is not None]
    if not ends:
        raise ConfigError("the tokenizer names no end-of-text token, so a response has no end: set tokenizer.eos_token")
    return list(dict.fromkeys(ends))
