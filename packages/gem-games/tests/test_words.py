import re
import subprocess
import sys

import pytest

from gem_games.words import ALL_LENGTHS, LENGTHS, all_words, rare_words, words


@pytest.mark.parametrize("length", LENGTHS)
def test_common_words(length):
    found = words(length)
    assert len(found) > 250
    assert list(found) == sorted(set(found))
    assert all(len(w) == length and w.isascii() and w.isalpha() and w.islower() for w in found)


@pytest.mark.parametrize("length", ALL_LENGTHS)
def test_all_words_hold_the_common_ones_and_more(length):
    found = all_words(length)
    assert set(words(length)) < found
    assert all(len(w) == length and w.isascii() and w.isalpha() and w.islower() for w in found)


def test_plain_words_are_there():
    assert {"cat", "dog"} <= set(words(3))
    assert {"house", "water"} <= set(words(5))
    assert "crane" in all_words(5)
    assert "xxxxx" not in all_words(5)


def test_other_lengths_are_refused():
    with pytest.raises(ValueError, match="3 to 10 letters, not of 2"):
        words(2)
    with pytest.raises(ValueError, match="3 to 7 letters, not for 8"):
        all_words(8)


def test_lists_are_read_when_asked_for():
    code = "import gem_games.words as w; assert not w.words.cache_info().currsize; w.words(5); print('ok')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "ok\n"


def test_the_notice_of_the_source_is_shipped():
    import gem_games

    notice = (gem_games.__path__[0] + "/data/LICENSE-SCOWL.txt", "Kevin Atkinson")
    with open(notice[0]) as file:
        assert notice[1] in file.read()


@pytest.mark.parametrize("length", LENGTHS)
def test_rare_words_are_not_common(length):
    found = rare_words(length)
    assert len(found) > 450
    assert list(found) == sorted(set(found))
    assert all(re.fullmatch("[a-z]+", word) and len(word) == length for word in found)
    assert not set(found) & set(words(length))
    if length in ALL_LENGTHS:
        assert set(found) < all_words(length)


def test_rare_words_are_fit_to_be_shown():
    unfit = {"bastard", "raped", "slut", "faggot", "bullshit", "genocidal", "cocksucker"}
    assert not unfit & {word for length in LENGTHS for word in rare_words(length)}
    with pytest.raises(ValueError, match="there are words of 3 to 10 letters, not of 11"):
        rare_words(11)
