"""Sentence embeddings of a tiny model made here."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import sys

import numpy as np
import pytest

import gem
from gem_tools.search import IndexRetriever, TransformersEncoder, build_index
from gem_tools.search.encoder import load_encoder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "apple", "sky", "query", "passage", ":"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    import tokenizers
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("tiny")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    words.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def test_vectors_are_unit_and_do_not_depend_on_the_batch(model):
    encoder = TransformersEncoder(str(model), batch_size=2)
    texts = ["red apple", "blue sky", "red", "", "sky " * 500, "\ud800 \0", "red apple"]
    vectors = encoder.encode(texts, query=False)
    assert (vectors.shape, vectors.dtype, encoder.dimensions) == ((7, 16), np.float32, 16)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(vectors[0], vectors[6], atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose(encoder.encode([text], query=False)[0], vector, atol=1e-5)
    assert encoder.encode([], query=True).shape == (0, 16)


def test_pooling_by_hand_and_as_the_model_says(model, tmp_path):
    import shutil

    import torch

    encoder = TransformersEncoder(str(model))
    tokens = encoder._tokenizer(["red apple"], return_tensors="pt")
    with torch.no_grad():
        states = encoder._model(**tokens).last_hidden_state[0].numpy()
    mean = states.mean(0)
    np.testing.assert_allclose(encoder.encode(["red apple"], query=True)[0], mean / np.linalg.norm(mean), atol=1e-5)
    folder = tmp_path / "first"
    shutil.copytree(model, folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 4}))
    other = TransformersEncoder(str(folder))
    np.testing.assert_allclose(
        other.encode(["red apple"], query=True)[0], states[0] / np.linalg.norm(states[0]), atol=1e-5
    )
    np.testing.assert_allclose(  # four tokens, the two marks among them
        other.encode(["red apple"], query=True), other.encode(["red apple sky sky sky"], query=True), atol=1e-5
    )


def test_prefixes(model):
    plain = TransformersEncoder(str(model))
    prefixed = TransformersEncoder(f"{model}|query: |passage: ")
    np.testing.assert_allclose(
        prefixed.encode(["red"], query=True), plain.encode(["query: red"], query=True), atol=1e-6
    )
    np.testing.assert_allclose(
        prefixed.encode(["red"], query=False), plain.encode(["passage: red"], query=False), atol=1e-6
    )


def test_a_package_that_carries_a_model(model, tmp_path, monkeypatch):
    import shutil

    (tmp_path / "tiny_model_package").mkdir()
    (tmp_path / "tiny_model_package" / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    shutil.copytree(model, tmp_path / "tiny_model_package" / "model")
    monkeypatch.syspath_prepend(tmp_path)
    encoder = TransformersEncoder("tiny-model-package")
    assert encoder.dimensions == 16
    assert "tiny_model_package" not in sys.modules


def test_an_index_with_a_model(model, tmp_path):
    (tmp_path / "c.jsonl").write_text('{"text": "red apple"}\n{"text": "blue sky"}\n')
    build_index(tmp_path / "c.jsonl", tmp_path / "index", dense=str(model))
    retriever = IndexRetriever(tmp_path / "index", "dense")
    assert retriever.search(["blue sky"], 1)[0][0].text == "blue sky"
    assert retriever.search(["blue sky"], 1)[0][0].score == pytest.approx(1.0, abs=1e-5)
    encoder = load_encoder(str(model))
    assert load_encoder(str(model)) is pickle.loads(pickle.dumps(encoder)) is encoder
    assert pickle.loads(pickle.dumps(IndexRetriever(tmp_path / "index", encoder=encoder))).method == "hybrid"


def encode_in_child(encoder, queue):
    queue.put(encoder.encode(["red apple " * 14] * 512, query=True))


def test_a_forked_process(model):
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        encoder = TransformersEncoder(str(model), batch_size=512)
        expected = encoder.encode(["red apple " * 14] * 512, query=True)  # torch's threads run before the fork
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        process = context.Process(target=encode_in_child, args=(encoder, queue))
        process.start()
        try:
            np.testing.assert_allclose(queue.get(timeout=60), expected, atol=1e-5)
        finally:
            process.kill()
            process.join()
    finally:
        torch.set_num_threads(before)


def test_what_cannot_be_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(gem.DataError, match=r"the embedding model '.*' cannot be loaded: ") as caught:
        TransformersEncoder(str(tmp_path))
    assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(gem.MissingDependency, match=r"pip install 'gem-tools\[dense\]'"):
        TransformersEncoder("x")
