import random

from gem_games.textarena.moves import FORMS, random_move


def test_a_move_is_one_of_those_in_the_text():
    text = "[GAME] Choose '[3]' or '[7]'.\n[Ann] I would take [3]"
    assert {random_move("TicTacToe", text, ["GAME", "Ann"], random.Random(i)) for i in range(50)} == {"[3]", "[7]"}


def test_without_any_there_is_still_an_action():
    assert random_move("TicTacToe", "[GAME] Say something.", ["GAME"], random.Random(0)) == "[0]"


def test_known_forms_are_filled_in():
    rng = random.Random(0)
    assert {random_move("TowerOfHanoi", "", [], rng)[1] for _ in range(50)} == set("ABC")
    for family in FORMS:
        assert not set("{}|") & set(random_move(family, "", [], rng))
