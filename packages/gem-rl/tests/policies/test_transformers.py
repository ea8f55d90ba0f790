"""Models of the transformers library: tiny random ones, built here, with a chat template of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gem.rollout import Collector, Episode
from gem_rl.algorithms import ALGORITHMS
from gem_rl.batch import pack
from gem_rl.config import TrainConfig
from gem_rl.errors import ConfigError
from gem_rl.policies.build import build_policy, restore_policy
from gem_rl.policies.transformers import TransformersPolicy
from gem_rl.trainer import Trainer

Make = Callable[..., TrainConfig]

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tokenizer(template: str | None = TEMPLATE) -> Any:
    """A byte-level tokenizer without merges: any text, one token a byte, and two special tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<|im_start|>", "<|im_end|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: number for number, word in enumerate([*special, *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", additional_special_tokens=special[:1]
    )
    wrapped.chat_template = template
    return wrapped


def make_model(kind: str, vocabulary: int, eos: int) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

    classes = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen2": (Qwen2Config, Qwen2ForCausalLM)}
    settings, model = classes[kind]
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        made = model(
            settings(
                vocab_size=vocabulary,
                hidden_size=16,
                intermediate_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
                num_key_value_heads=1,
                max_position_embeddings=512,
                eos_token_id=eos,
                initializer_range=0.4,
            )
        )
    return made


@pytest.fixture(scope="module", params=["llama", "qwen2"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and its tokenizer in a folder."""
    path = tmp_path_factory.mktemp(request.param)
    tokenizer = make_tokenizer()
    make_model(request.param, len(tokenizer), tokenizer.eos_token_id).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture
def policy(saved: Path) -> TransformersPolicy:
    return TransformersPolicy.from_pretrained(str(saved), max_tokens=6)


def played(policy: TransformersPolicy, count: int = 6, **settings: Any) -> list[Episode]:
    """Episodes of three turns: the toy goes on after any guess, and this policy's guess is never right."""

    def guesses(observations: Any, *, episodes: Any, max_tokens: Any) -> Any:
        responses = policy(observations, episodes=episodes, max_tokens=max_tokens)
        for response in filter(lambda r: r.response_ids, responses):
            response.text += "\\boxed{0}"
        return responses

    with Collector("toy:Guess-v0", num_envs=4, max_turns=3, wrappers=policy.wrappers, **settings) as collector:
        return collector.collect(guesses, range(count)).episodes


def test_sampled_logprobs_equal_the_learners(policy: TransformersPolicy) -> None:
    sequences = pack(played(policy))
    sampled = torch.tensor([p for s in sequences for p in s.logprobs])
    with torch.no_grad():
        scores = policy.score(sequences, with_values=True)
    torch.testing.assert_close(scores.logprobs_K, sampled, atol=1e-4, rtol=1e-4)
    assert scores.values_M.shape == (sum(len(s.prompt_ends) for s in sequences),)
    assert (scores.entropy_K > 0).all()


def test_what_is_learned_from_is_exactly_what_was_sampled(policy: TransformersPolicy) -> None:
    episodes = played(policy)
    sampled = [number for e in episodes for t in e.turns for number in t.response_ids]
    marked = [s.ids[place] for s in pack(episodes) for place in s.responses]
    assert marked == sampled
    for episode in episodes:
        for turn in episode.turns:
            assert len(turn.response_ids) <= 6
            ended = turn.response_ids[-1] == policy.eos()
            assert turn.finish_reason == ("stop" if ended else "length")


def test_prompts_are_what_the_template_makes_of_the_talk(policy: TransformersPolicy) -> None:
    """Only the first prompt can be compared whole: a random model's bytes need not be text."""
    first = played(policy, 1)[0].turns[0]
    talk = [{"role": "user", "content": "Guess 1 to 4.\nGuess:"}]
    text = policy.tokenizer.apply_chat_template(talk, tokenize=False, add_generation_prompt=True)
    assert policy.tokenizer.decode(first.prompt_ids) == text


def test_growing_prompts_equal_the_whole_talk(policy: TransformersPolicy) -> None:
    """Separators between turns are kept: the ids grown turn by turn are those of the whole conversation."""
    encode = policy.tokenizer.encode

    def told(observations: Any, *, episodes: Any, max_tokens: Any) -> Any:
        from gem.rollout import Response

        ids = [*encode("\\boxed{0}", add_special_tokens=False), policy.eos()]
        return [Response("\\boxed{0}", policy.prompt_ids(e), ids, [0.0] * len(ids)) for e in episodes]

    with Collector("toy:Guess-v0", num_envs=1, max_turns=3, wrappers=policy.wrappers) as collector:
        episode = collector.collect(told, [0]).episodes[0]
    template = policy.tokenizer.apply_chat_template
    for turn in episode.turns:
        text = template(list(turn.observation), tokenize=False, add_generation_prompt=True)
        assert turn.prompt_ids == encode(text, add_special_tokens=False)
    assert len(pack([episode])) == 1


def test_without_a_template_texts_follow_one_another() -> None:
    tokenizer = make_tokenizer(template=None)
    policy = TransformersPolicy(make_model("llama", len(tokenizer), tokenizer.eos_token_id), tokenizer, max_tokens=4)
    episodes = played(policy)
    assert policy.tokenizer.decode(episodes[0].turns[0].prompt_ids) == "Guess 1 to 4.\nGuess:"
    sequences = pack(episodes)
    sampled = torch.tensor([p for s in sequences for p in s.logprobs])
    torch.testing.assert_close(policy.score(sequences).logprobs_K.detach(), sampled, atol=1e-4, rtol=1e-4)


def test_sampling_is_seeded_and_leaves_the_global_generator_alone(policy: TransformersPolicy) -> None:
    def ids(seed: int) -> list[list[int]]:
        policy.seed(seed)
        return [t.response_ids for e in played(policy, 3) for t in e.turns]

    torch.manual_seed(0)
    state = torch.get_rng_state()
    first = ids(1)
    assert torch.equal(torch.get_rng_state(), state)
    assert ids(1) == first
    assert ids(2) != first


def test_a_prompt_that_fills_the_context_ends_the_episode(policy: TransformersPolicy) -> None:
    policy.context = 100
    episodes = played(policy)
    assert {e.finish_reason for e in episodes} == {"length"}
    assert all(len(t.prompt_ids) + len(t.response_ids) <= 100 for e in episodes for t in e.turns)


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_one_training_step_with_each_algorithm(small: Make, saved: Path, name: str) -> None:
    grouped = {"group_size": 2} if ALGORITHMS[name].needs_groups else {}
    config = small(
        policy=f"hf:{saved}", policy_options={}, algorithm=name, episodes=4, max_tokens=4, epochs=2, **grouped
    )
    policy = build_policy(config)
    before = [p.detach().clone() for p in policy.model.parameters()]
    with Trainer(config, policy) as trainer:
        episodes = played(policy, 4)
        for number, episode in enumerate(episodes):
            episode.turns[-1].reward = float(number % 2)
            episode.group_id = str(number // 2)
        _, metrics = trainer.learn(episodes)
    assert metrics["grad_norm"] > 0
    assert metrics["kl_old"] >= 0
    assert any(not torch.equal(a, b) for a, b in zip(before, policy.model.parameters(), strict=True))
    assert all(torch.isfinite(p).all() for p in policy.model.parameters())


def test_a_step_from_rollout_to_update(small: Make, saved: Path) -> None:
    config = small(policy=f"hf:{saved}", policy_options={}, episodes=4, max_tokens=4)
    with Trainer(config, build_policy(config)) as trainer:
        metrics = trainer.train_step().metrics
    assert metrics["episodes"] == 4
    assert "collapsed" in metrics["note"]  # a random model writes no boxed number


def test_a_checkpoint_brings_the_policy_back(small: Make, saved: Path) -> None:
    config = small(policy=f"hf:{saved}", policy_options={}, max_tokens=4)
    policy = build_policy(config)
    with torch.no_grad():
        for parameter in policy.model.parameters():
            parameter.add_(0.01)
    sequences = pack(played(policy, 2))
    other = restore_policy(config, policy.save())
    assert torch.equal(other.score(sequences).logprobs_K, policy.score(sequences).logprobs_K)


@pytest.fixture
def adapted(saved: Path) -> TransformersPolicy:
    return TransformersPolicy.from_pretrained(str(saved), max_tokens=4, lora_rank=2)


def test_lora_trains_adapters_alone(adapted: TransformersPolicy, small: Make, saved: Path) -> None:
    trained = {name for name, p in adapted.model.named_parameters() if p.requires_grad}
    assert trained
    assert all("lora" in name or name.startswith("value") for name in trained)
    config = small(
        policy=f"hf:{saved}", policy_options={"lora_rank": 2}, algorithm="reinforce", max_tokens=4, episodes=4
    )
    frozen = {n: p.detach().clone() for n, p in adapted.model.named_parameters() if n not in trained}
    with Trainer(config, adapted) as trainer:
        episodes = played(adapted, 4)
        for episode in episodes:
            episode.turns[-1].reward = 1.0
        trainer.learn(episodes)
    assert all(torch.equal(p, frozen[n]) for n, p in adapted.model.named_parameters() if n in frozen)
    saved_names = set(adapted.save()["model"])
    assert saved_names == trained
    other = restore_policy(config, adapted.save())
    sequences = pack(episodes)
    torch.testing.assert_close(other.score(sequences).logprobs_K, adapted.score(sequences).logprobs_K)


def test_a_model_that_is_not_there_is_one_line(small: Make, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot load the model hf:.*nothing") as caught:
        build_policy(small(policy=f"hf:{tmp_path / 'nothing'}", policy_options={}))
    assert "\n" not in str(caught.value)


def test_an_unknown_option_is_named(small: Make, saved: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no option 'rank' \(options: dtype, lora_rank"):
        build_policy(small(policy=f"hf:{saved}", policy_options={"rank": 2}))
