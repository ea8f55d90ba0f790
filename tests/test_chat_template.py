"""Chat templates of real tokenizers, token ids and all.

The tokenizers are built here (byte-level BPE, trained on a few sentences); the templates are Jinja, rendered by
transformers, shaped like those of ChatML, Llama 3 and Qwen 3 models.
"""

from __future__ import annotations

from typing import Any

import pytest
import tokenizers
import transformers
from hypothesis import given, settings, strategies as st

import gem
from gem.rollout import Episode, Response, TokenPrompts
from gem.wrappers import ChatMessages, ChatTemplate, ConcatChat, apply_wrappers

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

#: Trims every content, writes a beginning-of-text token, separates turns by nothing.
TRIMMING = (
    "{{ bos_token }}{% for message in messages %}<|start|>{{ message.role }}<|end|>\n\n{{ message.content | trim }}"
    "<|im_end|>{% endfor %}{% if add_generation_prompt %}<|start|>assistant<|end|>\n\n{% endif %}"
)

#: Leaves out the thinking of turns before the last message of the user; tool results stand in a user's turn.
THINKING = (
    "{%- set ns = namespace(last=-1) -%}"
    "{%- for message in messages -%}{%- if message.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}"
    "{%- endfor -%}"
    "{%- for message in messages -%}"
    "{%- if message.role == 'tool' -%}"
    "{{ '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response><|im_end|>\n' }}"
    "{%- elif message.role == 'assistant' and loop.index0 < ns.last and '</think>' in message.content -%}"
    "{{ '<|im_start|>assistant\n' + message.content.split('</think>')[-1].lstrip('\n') + '<|im_end|>\n' }}"
    "{%- else -%}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}"
    "{%- endif -%}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n' }}{%- endif -%}"
)

SENTENCES = [
    "Guess the number between one and ten. The number is higher than your guess. The number is lower.",
    "I think that it is seven, since the middle of what is left is seven. <think>\nlet me see\n</think>\n\nleft",
]


def build(template: str) -> Any:
    core = tokenizers.Tokenizer(tokenizers.models.BPE())
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = tokenizers.decoders.ByteLevel()
    special = ["<|begin|>", "<|im_start|>", "<|im_end|>", "<|start|>", "<|end|>"]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(SENTENCES, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<|begin|>",
        eos_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>", "<|start|>", "<|end|>"],
    )
    tokenizer.chat_template = template
    return tokenizer


TEMPLATES = {"chatml": CHATML, "trimming": TRIMMING, "thinking": THINKING}


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    return {name: build(template) for name, template in TEMPLATES.items()}


class Talk(gem.Env):
    """Says what it was told to say."""

    def __init__(self, observations: list[str], infos: list[dict[str, Any]]) -> None:
        self.observations = observations
        self.infos = infos

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.turn = 0
        return self.observations[0], dict(self.infos[0])

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.turn += 1
        return self.observations[self.turn], float(self.turn), False, False, dict(self.infos[self.turn])


def whole(tokenizer: Any, messages: Any) -> list[int]:
    """The ids of the whole conversation, as transformers makes them in one call."""
    ids = tokenizer.apply_chat_template(list(messages), tokenize=True, add_generation_prompt=True)
    return list(ids["input_ids"]) if hasattr(ids, "keys") else list(ids)


def played(prompts: TokenPrompts, env: gem.Env, answers: list[str], cut: frozenset[int] = frozenset()) -> Episode:
    tokenizer = prompts.tokenizer
    episode = Episode()
    episode.begin(*env.reset())
    for n, answer in enumerate(answers):
        prompt_ids = prompts(episode)
        ids = tokenizer.encode(answer, add_special_tokens=False)
        if n not in cut:
            ids = [*ids, tokenizer.eos_token_id]
        text = tokenizer.decode(ids, skip_special_tokens=True)
        reason = "length" if n in cut else "stop"
        episode.respond(Response(text, prompt_ids, ids, [-0.5] * len(ids), finish_reason=reason))
        episode.advance(*env.step(text))
    return episode


def check_rows(episode: Episode) -> list[Any]:
    """The mask is 1 exactly on what was sampled, and every sampled token stands behind its own prompt."""
    rows = episode.flat()
    assert [n for row in rows for n in row.turns] == list(range(len(episode.turns)))
    for row in rows:
        marked: set[int] = set()
        for n, (start, end) in zip(row.turns, row.spans, strict=True):
            assert row.input_ids[:start] == episode.turns[n].prompt_ids
            assert row.input_ids[start:end] == episode.turns[n].response_ids
            marked.update(range(start, end))
        assert row.mask == [int(i in marked) for i in range(len(row.mask))]
    return rows


text = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12).filter(lambda t: "<|" not in t)
response = st.one_of(
    text.filter(str.strip), st.sampled_from(["<think>\nhm\n</think>\n\nleft", "seven \n", "<think>hm"])
)


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(sorted(TEMPLATES)),
    turns=st.lists(st.tuples(response, st.booleans(), text, st.booleans()), min_size=1, max_size=4),
    system=st.booleans(),
)
def test_every_prompt_is_what_the_template_makes_of_the_whole_talk(built, name, turns, system) -> None:
    tokenizer = built[name]
    prompts = TokenPrompts(tokenizer)
    observations = ["Guess the number.", *(turn[2] for turn in turns)]
    infos = [{}, *({"use_tool": True} if turn[3] else {} for turn in turns)]
    env = ChatMessages(Talk(observations, infos), system="Be brief." if system else None)
    episode = played(prompts, env, [turn[0] for turn in turns], frozenset(n for n, turn in enumerate(turns) if turn[1]))
    rendered = [*((turn.observation, turn.prompt_ids) for turn in episode.turns)]
    rendered.append((episode.observation, prompts(episode)))
    for messages, prompt_ids in rendered:
        assert tokenizer.decode(prompt_ids) == tokenizer.decode(whole(tokenizer, messages))
        assert prompt_ids == whole(tokenizer, messages)
    rows = check_rows(episode)
    if name == "chatml":
        assert len(rows) == 1


def test_the_separator_between_turns_is_kept(built) -> None:
    tokenizer = built["chatml"]
    episode = played(
        TokenPrompts(tokenizer), ChatMessages(Talk(["a", "b", "c"], [{}, {"use_tool": True}, {}])), ["x", "y"]
    )
    (row,) = check_rows(episode)
    start, end = row.spans[0]
    between = tokenizer.decode(row.input_ids[start : row.spans[1][0]])
    assert between == "x<|im_end|>\n<|im_start|>tool\nb<|im_end|>\n<|im_start|>assistant\n"
    assert row.input_ids[end - 1] == tokenizer.eos_token_id  # sampled
    assert row.mask[end - 1 : end + 1] == [1, 0]
    assert row.rewards[end - 1] == 1.0
    assert sum(row.rewards) == episode.total_reward


def test_a_response_cut_by_length_gets_its_end_unsampled(built) -> None:
    tokenizer = built["chatml"]
    episode = played(
        TokenPrompts(tokenizer), ChatMessages(Talk(["a", "b", "c"], [{}, {}, {}])), ["x", "y"], cut=frozenset({0})
    )
    (row,) = check_rows(episode)
    end = row.spans[0][1]
    assert row.input_ids[end] == tokenizer.eos_token_id
    assert row.mask[end] == 0


def test_thinking_that_the_template_removes_splits_the_episode(built) -> None:
    thought = "<think>\nhm\n</think>\n\nleft"
    infos: list[dict[str, Any]] = [{}, {"use_tool": True}, {}, {}]
    env = ChatMessages(Talk(["a", "b", "c", "d"], infos))
    # while tools answer the thinking stays; the next message of the user removes it
    episode = played(TokenPrompts(built["thinking"]), env, [thought, thought, "right"])
    assert [row.turns for row in check_rows(episode)] == [[0, 1], [2]]
    episode = played(TokenPrompts(built["thinking"], keep_responses=True), env, [thought, thought, "right"])
    assert [row.turns for row in check_rows(episode)] == [[0, 1, 2]]


def test_responses_that_the_template_trims_split_the_episode(built) -> None:
    env = ChatMessages(Talk(["a", "b", "c"], [{}, {}, {}]))
    episode = played(TokenPrompts(built["trimming"]), env, ["seven \n", "eight"])
    assert [row.turns for row in check_rows(episode)] == [[0], [1]]
    assert episode.turns[1].prompt_ids == whole(built["trimming"], episode.turns[1].observation)


def test_which_templates_can_be_extended(built) -> None:
    assert {name: ChatTemplate(tokenizer).extends for name, tokenizer in built.items()} == {
        "chatml": True,
        "trimming": True,
        "thinking": False,
    }


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_concat_chat_writes_what_the_template_writes(built, name) -> None:
    tokenizer = built[name]
    infos: list[dict[str, Any]] = [{"suffix": "S"}, {"use_tool": True}, {}, {"suffix": "T"}, {}]
    answers = ["<think>\nhm\n</think>\n\nleft", "seven \n", "right", "up"]
    env = apply_wrappers(Talk(list("abcde"), infos), "concat_chat", tokenizer=tokenizer)
    assert type(env) is ConcatChat
    twin = ChatMessages(Talk(list("abcde"), infos), keep_suffix=False)
    shown = [env.reset()[0], *(env.step(answer)[0] for answer in answers)]
    talks = [twin.reset()[0], *(twin.step(answer)[0] for answer in answers)]
    for observation, messages in zip(shown, talks, strict=True):
        assert observation == tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)


def test_messages_serve_a_template_as_they_are(built) -> None:
    """The conversation is a sequence: transformers takes it without a list being made."""
    env = ChatMessages(Talk(["a", "b"], [{}, {}]))
    env.reset()
    messages = env.step("x")[0]
    tokenizer = built["chatml"]
    assert tokenizer.apply_chat_template(messages, tokenize=False) == tokenizer.apply_chat_template(
        list(messages), tokenize=False
    )


def test_a_state_leaves_the_tokenizer_out_and_a_copy_goes_on(built) -> None:
    env = ConcatChat(Talk(["a", "b", "c"], [{}, {}, {}]), tokenizer=built["chatml"])
    env.reset()
    env.step("x")
    state = env.get_state()
    expected = env.step("y")
    env.set_state(state)
    assert env.step("y") == expected
