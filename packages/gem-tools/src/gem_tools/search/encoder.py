"""From texts to vectors: what dense retrieval needs of a model, and models of the transformers library."""

from __future__ import annotations

import json
import os
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gem.errors import DataError
from gem_tools.search.retriever import require

if TYPE_CHECKING:
    import numpy as np


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    #: What :func:`load_encoder` finds it by again; written into the index.
    name: str
    dimensions: int

    def encode(self, texts: list[str], *, query: bool) -> np.ndarray:
        """Unit vectors of ``texts``, a row each, as 32-bit floats.

        Args:
            query: whether they are queries; some models treat these otherwise than passages.
        """
        ...


class TransformersEncoder:
    """A sentence-embedding model, as ``sentence-transformers`` writes them: mean or first-token pooling.

    Args:
        name: a folder, an installed package that carries a model, or an id on the hub (taken from the local cache
            where it is there). ``"NAME|QUERY PREFIX|PASSAGE PREFIX"`` for models that were trained with prefixes,
            such as ``"intfloat/e5-base-v2|query: |passage: "``.
        batch_size: texts at a time.

    Raises:
        gem.MissingDependency: transformers or torch is not installed.
        gem.DataError: the model cannot be loaded.
    """

    def __init__(self, name: str, batch_size: int = 32) -> None:
        transformers = require("transformers", "dense")
        self._torch = require("torch", "dense")
        self.name = name
        self.batch_size = batch_size
        place, _, prefixes = name.partition("|")
        self._query_prefix, _, self._passage_prefix = prefixes.partition("|")
        source = _packaged(place) or place
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(source)
            self._model = transformers.AutoModel.from_pretrained(source).eval()
        except (OSError, ValueError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise DataError(f"the embedding model {place!r} cannot be loaded: {reason}") from None
        if self._torch.cuda.is_available():
            self._model.to("cuda")
        self._first_token = bool(_setting(source, "1_Pooling/config.json", "pooling_mode_cls_token"))
        longest = getattr(self._model.config, "max_position_embeddings", 512)
        self._length = min(_setting(source, "sentence_bert_config.json", "max_seq_length") or 512, longest)
        self.dimensions = int(self._model.config.hidden_size)
        self._pid = os.getpid()
        self._lock = threading.Lock()  # tokenizers change themselves while they work

    def encode(self, texts: list[str], *, query: bool) -> np.ndarray:
        import numpy as np

        prefix = self._query_prefix if query else self._passage_prefix
        # A token has at least one character, but what is cut off here would be read first.
        cut = [prefix + text[: 40 * self._length].encode("utf-8", "replace").decode("utf-8") for text in texts]
        order = sorted(range(len(cut)), key=lambda i: len(cut[i]))  # of like length, so that little is padded
        vectors = np.zeros((len(cut), self.dimensions), dtype=np.float32)
        for start in range(0, len(order), self.batch_size):
            chosen = order[start : start + self.batch_size]
            vectors[chosen] = self._batch([cut[i] for i in chosen])
        return vectors

    def __reduce__(self) -> tuple[Any, ...]:
        return load_encoder, (self.name,)

    def _batch(self, texts: list[str]) -> Any:
        torch = self._torch
        if self._pid != os.getpid():
            # A fork inherits neither who may hold the lock nor torch's threads, for which it would wait for ever.
            torch.set_num_threads(1)
            self._pid, self._lock = os.getpid(), threading.Lock()
        with self._lock, torch.inference_mode():
            tokens = self._tokenizer(
                texts, padding=True, truncation=True, max_length=self._length, return_tensors="pt"
            ).to(self._model.device)
            states_BTD = self._model(**tokens).last_hidden_state
            if self._first_token:
                pooled_BD = states_BTD[:, 0]
            else:
                mask_BT1 = tokens["attention_mask"].unsqueeze(-1).to(states_BTD.dtype)
                pooled_BD = (states_BTD * mask_BT1).sum(1) / mask_BT1.sum(1).clamp(min=1.0)
            return torch.nn.functional.normalize(pooled_BD, dim=-1).float().cpu().numpy()


_loaded: dict[str, TransformersEncoder] = {}
_lock = threading.Lock()


def load_encoder(name: str) -> Encoder:
    """The encoder of a name, loaded once a process."""
    with _lock:
        if name not in _loaded:
            _loaded[name] = TransformersEncoder(name)
        return _loaded[name]


def _new_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_new_lock)


def _packaged(name: str) -> str | None:
    """The folder of the model inside an installed package called so."""
    module = name.replace("-", "_")
    if not module.isidentifier() or Path(name).is_dir():
        return None
    found = find_spec(module)
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        configs = sorted(Path(folder).rglob("config.json"), key=lambda path: len(path.parts))
        if configs:
            return str(configs[0].parent)
    return None


def _setting(source: str, file: str, key: str) -> Any:
    """A setting that ``sentence-transformers`` keeps beside the model; ``None`` where there is none."""
    local = Path(source, file)
    if not local.is_file():
        if Path(source).is_dir():
            return None
        cached = require("transformers.utils", "dense").cached_file(
            source, file, _raise_exceptions_for_missing_entries=False, _raise_exceptions_for_connection_errors=False
        )
        if cached is None:
            return None
        local = Path(cached)
    return json.loads(local.read_text()).get(key)
