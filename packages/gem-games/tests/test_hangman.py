import pytest
from hypothesis import given, strategies as st

from gem_games.hangman import LEVELS, Hangman
from gem_games.words import rare_words, words


def start(word, **options):
    env = Hangman(len(word), **options)
    env.reset(seed=0)
    env.word = word
    return env


def test_half_the_reward_for_letters_the_rest_with_the_word():
    env = start("apple")
    observation, reward, terminated, _, info = env.step(r"\boxed{P}")
    assert "the word has P 2 times" in observation
    assert info["suffix"].startswith("_ P P _ _\nTried: P\n")
    assert (reward, terminated) == (pytest.approx(0.2), False)
    observation, reward, *_, info = env.step(r"\boxed{z}")
    assert (reward, "the word has no Z" in observation) == (0.0, True)
    assert info["suffix"].startswith("_ P P _ _\nTried: P Z\n")
    assert env.step(r"\boxed{a}")[1] == pytest.approx(0.1)
    observation, reward, terminated, truncated, info = env.step(r"\boxed{APPLE}")
    assert (reward, terminated, truncated, info["success"]) == (pytest.approx(0.7), True, False, True)
    assert info["suffix"].startswith("A P P L E")


def test_the_last_letter_wins_too():
    env = start("cat")
    total = sum(env.step(f"\\boxed{{{letter}}}")[1] for letter in "ca")
    _, reward, terminated, _, info = env.step(r"\boxed{t}")
    assert (total + reward, terminated, info["success"]) == (1.0, True, True)


def test_the_word_at_once_is_worth_everything():
    assert start("cat").step(r"\boxed{cat}")[1] == 1.0


def test_a_wrong_word_costs_a_turn_only():
    env = start("cat")
    observation, reward, terminated, _, info = env.step(r"\boxed{dog}")
    assert (reward, terminated, "invalid_action" in info) == (0.0, False, False)
    assert "DOG is not the word" in observation
    assert "Tried: DOG" in info["suffix"]


@pytest.mark.parametrize(
    ("guess", "reason"),
    [
        ("c", "C was tried before"),
        ("dog", "DOG was tried before"),
        ("at", "2 letters"),
        ("cats", "4 letters, the word has 3"),
    ],
)
def test_invalid_guesses(guess, reason):
    env = start("cat")
    env.step(r"\boxed{c}")
    env.step(r"\boxed{dog}")
    before = env.board()
    _, reward, terminated, _, info = env.step(f"\\boxed{{{guess}}}")
    assert (reward, terminated) == (0.0, False)
    assert reason in info["invalid_action"]
    assert env.board() == before


def test_the_turn_limit_keeps_what_was_earned():
    env = start("cat", max_turns=2)
    assert env.step(r"\boxed{c}")[1] == pytest.approx(1 / 6)
    _, reward, terminated, truncated, info = env.step(r"\boxed{a}")
    assert (reward, terminated, truncated, info["success"]) == (pytest.approx(1 / 6), False, True, False)


@pytest.mark.parametrize("box", ["e", " E. ", r"\text{E}", "'e'", "$e$", "(E)"])
def test_spellings_of_a_letter(box):
    assert Hangman.read(box) == "e"


@pytest.mark.parametrize("box", ["crane", "C R A N E", "c-r", "é", "1", "-7", "", "ｅ", "٣", "a1"])
def test_only_letters_from_a_to_z_are_read(box):
    assert Hangman.read(box) == ("crane" if box.lower().startswith("c") and "-" not in box else None)


@given(
    st.sampled_from(words(5)),
    st.lists(st.one_of(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), st.sampled_from(words(5)))),
)
def test_the_board_shows_the_letters_tried_and_no_others(word, guesses):
    env = start(word, max_turns=1000)
    total = 0.0
    for guess in guesses:
        total += env.step(f"\\boxed{{{guess}}}")[1]
        if not env.playing:
            assert total == pytest.approx(1.0)
            break
        found = [letter if letter in env.tried else "_" for letter in word]
        assert env.board().split("\n")[0] == " ".join(found).upper()
        assert total == pytest.approx(sum(letter != "_" for letter in found) / (2 * len(word)))


@pytest.mark.parametrize(("length", "step"), [(3, 1), (5, 41), (7, 53)])
def test_the_solver_finds_every_word_within_the_turns_of_its_level(play, length, step):
    env = Hangman(length, max_turns=LEVELS[length])
    for word in words(length)[::step]:
        env.reset()
        env.word = word
        total, terminated, _, info = play(env)
        assert (total, terminated, info["success"]) == (1.0, True, True), word


def test_the_solver_does_not_look_at_the_word_before_its_last_turn():
    env, twin = start("crane"), start("slope")
    while "".join(env.shown) == "".join(twin.shown) and env.playing and twin.playing:
        assert env.solve() == twin.solve()
        env.step(env.solve())
        twin.step(twin.solve())


@pytest.mark.parametrize("length", [3, 7, 10])
def test_hardcore_words_are_rare_ones(length, assert_solved):
    env = Hangman(length, True, 20)
    env.reset(seed=0)
    for _ in range(50):
        env.reset()
        assert env.word in rare_words(length)
        assert env.word not in words(length)
    assert_solved(env, range(3))


def test_random_level():
    env = Hangman(None, False, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(60):
        prompt, _ = env.reset()
        assert f"{env.max_turns} turns" in prompt
        assert env.word in words(env.word_length)
        seen.add((env.word_length, env.max_turns, env.hardcore))
    assert seen == {(3, 10, False), (5, 15, False), (7, 20, False)}


def test_what_is_none_is_drawn():
    env = Hangman(4, None, None)
    env.reset(seed=0)
    seen = set()
    for _ in range(40):
        env.reset()
        seen.add((env.word_length, env.max_turns, env.hardcore))
    assert seen == {(4, 15, False), (4, 15, True)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"word_length": 2}, "word_length must be a whole number from 3 to 10, got 2"),
        ({"word_length": 11, "hardcore": True}, "word_length must be a whole number from 3 to 10, got 11"),
        ({"word_length": "x", "max_turns": None}, "word_length"),
        ({"max_turns": 0}, "max_turns"),
        ({"hardcore": 1}, "hardcore"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        Hangman(**options)
