import pytest

from gem_games.options import complete, flag, one_of, whole


class Index:
    def __index__(self):
        return 7


@pytest.mark.parametrize(("value", "number"), [(5, 5), (Index(), 7), (2**70, 2**70)])
def test_whole_numbers(value, number):
    assert whole("n", value, 1) == number


@pytest.mark.parametrize("value", [0, -1, 11, 5.0, "5", None, True, [5]])
def test_not_whole_or_outside(value):
    with pytest.raises(ValueError, match="n must be a whole number from 1 to 10, got"):
        whole("n", value, 1, 10)


@pytest.mark.parametrize(
    ("bounds", "text"), [((1, None), "of at least 1"), ((None, 3), "of at most 3"), ((None, None), "of any size")]
)
def test_open_bounds_are_named(bounds, text):
    with pytest.raises(ValueError, match=f"n must be a whole number {text}, got 'x'"):
        whole("n", "x", *bounds)


def test_one_of():
    assert one_of("n", 4, (4, 9)) == 4
    for value in (5, 4.0, "4", None, [4]):
        with pytest.raises(ValueError, match="n must be one of 4, 9, got"):
            one_of("n", value, (4, 9))


def test_flag():
    assert flag("f", True) is True
    assert flag("f", False) is False
    for value in (1, 0, "True", None):
        with pytest.raises(ValueError, match="f must be one of True, False"):
            flag("f", value)


def check(a, b):
    return {"a": whole("a", a, 1, 5), "b": whole("b", b, a)}


LEVELS = [{"a": 1, "b": 1}, {"a": 2, "b": 4}, {"a": 5, "b": 9}]


def test_a_complete_setting_is_only_checked():
    assert complete({"a": 1, "b": 2}, LEVELS, check) == [{"a": 1, "b": 2}]


def test_what_is_none_comes_from_the_levels():
    assert complete({"a": None, "b": None}, LEVELS, check) == LEVELS


def test_given_options_stay_and_what_does_not_fit_is_left_out():
    assert complete({"a": 3, "b": None}, LEVELS, check) == [{"a": 3, "b": 4}, {"a": 3, "b": 9}]
    assert complete({"a": None, "b": 4}, LEVELS, check) == [{"a": 1, "b": 4}, {"a": 2, "b": 4}]


def test_equal_settings_are_drawn_once():
    assert complete({"a": None, "b": None}, [*LEVELS, LEVELS[0]], check) == LEVELS


def test_where_nothing_fits_the_reason_is_given():
    with pytest.raises(ValueError, match="b must be a whole number of at least 5, got 0"):
        complete({"a": None, "b": 0}, LEVELS, check)
    with pytest.raises(ValueError, match="a must be a whole number from 1 to 5, got 9"):
        complete({"a": 9, "b": 1}, LEVELS, check)
