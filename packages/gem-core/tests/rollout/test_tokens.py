"""Token ids of growing conversations."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gem.rollout import Episode, Response, TokenPrompts
from gem.wrappers import ChatMessages, Concat, ConcatChatOnReset

END = 1_200_002
THOUGHT = "<think>hm</think>left"


def talk(prompts, env, answers, length=frozenset()):
    """Play ``answers``; those whose number is in ``length`` are cut before the end of the turn."""
    episode = Episode()
    episode.begin(*env.reset())
    for n, answer in enumerate(answers):
        prompt_ids = prompts(episode)
        ids = prompts.tokenizer.encode(answer, add_special_tokens=False)
        cut = n in length
        response = Response(answer, prompt_ids, ids if cut else [*ids, END], finish_reason="length" if cut else "stop")
        episode.respond(response)
        episode.advance(*env.step(answer))
    return episode


class Talk:
    """An environment of given observations."""

    state_excludes = ()

    def __init__(self, observations, infos=None):
        self.observations = observations
        self.infos = infos or [{}] * len(observations)

    def reset(self, seed=None, options=None):
        self.turn = 0
        return self.observations[0], dict(self.infos[0])

    def step(self, action):
        self.turn += 1
        return self.observations[self.turn], 0.0, False, False, dict(self.infos[self.turn])


text = st.text(st.sampled_from("ab c\n:é"), max_size=6)
conversations = st.lists(st.tuples(text, st.booleans(), text, st.booleans()), min_size=1, max_size=5)


@given(conversations, st.booleans())
def test_turn_by_turn_equals_the_whole_talk(tokenizer_class, turns, system):
    """Tool results and user messages, responses that ended and responses that were cut."""
    tokenizer = tokenizer_class()
    prompts = TokenPrompts(tokenizer)
    observations = ["first", *(observation for _, _, observation, _ in turns)]
    infos = [{}, *({"use_tool": tool} for *_, tool in turns)]
    env = ChatMessages(Talk(observations, infos), system="S" if system else None)
    answers = [answer for answer, *_ in turns]
    episode = talk(prompts, env, answers, {n for n, turn in enumerate(turns) if turn[0] and turn[1]})
    for turn in episode.turns:
        assert turn.prompt_ids == tokenizer.whole(turn.observation)
    assert prompts(episode) == tokenizer.whole(episode.observation)
    (row,) = episode.flat()
    sampled = [i for i, m in zip(row.input_ids, row.mask, strict=True) if m]
    assert sampled == [i for turn in episode.turns for i in turn.response_ids]
    last = episode.turns[-1]
    assert row.input_ids == last.prompt_ids + last.response_ids


def test_the_separator_is_there_and_is_not_the_models(tokenizer_class):
    tokenizer = tokenizer_class()
    episode = talk(TokenPrompts(tokenizer), ChatMessages(Talk(["o", "p", "q"])), ["x", "y"])
    (row,) = episode.flat()
    start = row.spans[0][0]
    # x, the end of the turn it sampled, then the template's newline
    assert row.input_ids[start : start + 3] == [ord("x"), END, ord("\n")]
    assert row.mask[start : start + 3] == [1, 1, 0]


def test_a_cut_response_gets_the_end_of_its_turn_unsampled(tokenizer_class):
    episode = talk(TokenPrompts(tokenizer_class()), ChatMessages(Talk(["o", "p", "q"])), ["x", "y"], length={0})
    (row,) = episode.flat()
    start = row.spans[0][0]
    assert row.input_ids[start : start + 3] == [ord("x"), END, ord("\n")]
    assert row.mask[start : start + 3] == [1, 0, 0]


def test_sampled_ids_are_never_tokenised_again(tokenizer_class):
    """``ab`` is one token, but the model sampled two."""
    prompts = TokenPrompts(tokenizer_class())
    env = ChatMessages(Talk(["o", "p", "q"]))
    episode = Episode()
    episode.begin(*env.reset())
    first = prompts(episode)
    episode.respond(Response("ab", first, [ord("a"), ord("b"), END]))
    episode.advance(*env.step("ab"))
    second = prompts(episode)
    assert second[: len(first) + 3] == [*first, ord("a"), ord("b"), END]


def test_a_template_that_rewrites_earlier_turns_splits_the_episode(tokenizer_class):
    tokenizer = tokenizer_class(strip_thinking=True)
    prompts = TokenPrompts(tokenizer)
    env = ChatMessages(Talk(["o", "p", "q", "r"]))
    episode = talk(prompts, env, [THOUGHT, "plain", "plain"])
    for turn in episode.turns:
        assert turn.prompt_ids == tokenizer.whole(turn.observation)
    rows = episode.flat()
    assert [row.turns for row in rows] == [[0], [1, 2]]
    for row in rows:
        sampled = [i for i, m in zip(row.input_ids, row.mask, strict=True) if m]
        assert sampled == [i for n in row.turns for i in episode.turns[n].response_ids]


def test_thinking_stays_while_tools_answer_and_goes_with_the_next_user(tokenizer_class):
    tokenizer = tokenizer_class(strip_thinking=True)
    infos = [{}, {"use_tool": True}, {"use_tool": True}, {}]
    episode = talk(TokenPrompts(tokenizer), ChatMessages(Talk(list("opqr"), infos)), [THOUGHT, THOUGHT, "plain"])
    assert [row.turns for row in episode.flat()] == [[0, 1, 2]]
    prompts = TokenPrompts(tokenizer)
    # the plain response is as it was, but the thinking of the turns before it goes
    assert prompts.extend(episode.turns[-1], episode.observation) is None
    assert prompts(episode) == tokenizer.whole(episode.observation)


def test_responses_can_be_kept_where_the_template_would_rewrite_them(tokenizer_class):
    tokenizer = tokenizer_class(strip_thinking=True)
    prompts = TokenPrompts(tokenizer, keep_responses=True)
    episode = talk(prompts, ChatMessages(Talk(["o", "p", "q", "r"])), [THOUGHT, THOUGHT, "plain"])
    (row,) = episode.flat()
    # what a template that rewrites nothing makes of it
    assert row.input_ids == [*tokenizer_class().whole(episode.turns[-1].observation), *map(ord, "plain"), END]


def test_history_that_changed_splits(tokenizer_class):
    infos = [{"suffix": "S"}] * 3
    env = ChatMessages(Talk(["o", "p", "q"], infos), keep_suffix=False)
    for options in ({}, {"keep_responses": True}):
        tokenizer = tokenizer_class()
        episode = talk(TokenPrompts(tokenizer, **options), env, ["x", "y"])
        assert [row.turns for row in episode.flat()] == [[0], [1]]
        assert episode.turns[1].prompt_ids == tokenizer.whole(episode.turns[1].observation)


def test_a_turn_ended_as_the_template_does_not_write_it(tokenizer_class):
    """A base model that ends with its own token: the whole talk has the template's."""
    tokenizer = tokenizer_class()
    prompts = TokenPrompts(tokenizer)
    env = ChatMessages(Talk(["o", "p"]))
    episode = Episode()
    episode.begin(*env.reset())
    episode.respond(Response("x", prompts(episode), [ord("x"), 1_200_003]))
    episode.advance(*env.step("x"))
    assert prompts(episode) == tokenizer.whole(episode.observation)


def test_a_template_that_does_not_end_turns(tokenizer_class):
    tokenizer = tokenizer_class(end="\n")
    episode = talk(TokenPrompts(tokenizer), ChatMessages(Talk(["o", "p", "q"])), ["x", "y"], length={0, 1})
    assert len(episode.flat()) == 1
    for turn in episode.turns:
        assert turn.prompt_ids == tokenizer.whole(turn.observation)


def test_text_is_one_user_message(tokenizer_class):
    tokenizer = tokenizer_class()
    env = Concat(Talk(["o", "p", "q"]), include_action=True)
    episode = talk(TokenPrompts(tokenizer), env, ["x", "y"])
    assert episode.turns[1].prompt_ids == tokenizer.whole([{"role": "user", "content": "o\nx\np\n"}])
    assert [row.turns for row in episode.flat()] == [[0], [1]]


def test_text_as_it_stands(tokenizer_class):
    tokenizer = tokenizer_class()
    env = Concat(Talk(["o", "p", "q"]), include_action=True)
    episode = talk(TokenPrompts(tokenizer, chat=False), env, ["x", "y"], length={0, 1})
    assert episode.turns[0].prompt_ids == tokenizer.encode("o\n")
    (row,) = episode.flat()
    assert row.input_ids == tokenizer.encode("o\nx\np\ny")


def test_text_that_the_template_began(tokenizer_class):
    tokenizer = tokenizer_class()
    env = ConcatChatOnReset(Talk(["o", "p", "q"]), tokenizer=tokenizer)
    episode = talk(TokenPrompts(tokenizer, chat=False), env, ["x", "y"], length={0, 1})
    assert len(episode.flat()) == 1


def test_variables_of_the_template(tokenizer_class):
    tokenizer = tokenizer_class()
    prompts = TokenPrompts(tokenizer, greeting="hi")
    assert prompts.text("o").startswith("<|bos|>hi<|im_start|>user\no")


def test_turns_without_ids_are_tokenised_whole(tokenizer_class):
    tokenizer = tokenizer_class()
    prompts = TokenPrompts(tokenizer)
    env = ChatMessages(Talk(["o", "p"]))
    episode = Episode()
    episode.begin(*env.reset())
    episode.respond("x")
    episode.advance(*env.step("x"))
    assert prompts(episode) == tokenizer.whole(episode.observation)


def test_what_cannot_be_prompted_with(tokenizer_class):
    with pytest.raises(TypeError, match="chat=False takes observations that are text, got list"):
        TokenPrompts(tokenizer_class(), chat=False).encode([{"role": "user", "content": "o"}])
    with pytest.raises(TypeError, match="an observation is a text, content parts or messages; got int"):
        TokenPrompts(tokenizer_class()).encode(3)
    with pytest.raises(TypeError, match="needs a tokenizer with apply_chat_template, got str"):
        TokenPrompts("Qwen/Qwen3-4B")
