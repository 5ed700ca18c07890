"""A misspelt word leads to the words that were likely meant, and to none where nothing is near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.index.spelling import closest, edit_distance


@pytest.mark.parametrize(
    ("a", "b", "slips"),
    [
        ("timeout", "timeout", 0),
        ("timout", "timeout", 1),
        ("tiemout", "timeout", 1),
        ("timeoux", "timeout", 1),
        ("abcd", "wxyz", 3),
    ],
)
def test_slips_between_two_words_are_counted(a: str, b: str, slips: int) -> None:
    assert edit_distance(a, b, 2) == edit_distance(b, a, 2) == slips


@given(st.text("ab", max_size=7), st.text("ab", max_size=7), st.integers(0, 3))
def test_the_early_end_of_counting_changes_nothing(a: str, b: str, limit: int) -> None:
    assert edit_distance(a, b, limit) == min(edit_distance(a, b, 10), limit + 1)


def test_a_misspelt_word_is_compared_with_stems() -> None:
    stems = [("databas", 5), ("connect", 9), ("receiv", 2), ("rout", 1), ("retri", 3)]
    assert closest("databse", stems) == ["database"]
    assert closest("conection", stems) == ["connection"]
    assert closest("recieve", stems) == ["receive"]
    assert closest("runing", [("run", 1)]) == ["running"]
    assert closest("retyr", stems) == ["retry"]
    assert closest("timout", [("tim", 99), ("timeout", 1)]) == ["timeout"]
    assert closest("photosynthesis", stems) == []
    assert closest("rat", stems) == [], "three letters are too few to guess"


def test_of_spellings_equally_near_the_commoner_comes_first() -> None:
    assert closest("cart", [("carb", 1), ("card", 7), ("care", 7)]) == ["card", "care", "carb"]
