"""Whether a change is like one that failed: words of subjects, lines of patches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.records.likeness import (
    MOST_WORDS,
    coverage,
    line_hashes,
    other_number,
    patch_share,
    subject_words,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cache the parsed answers", 'Reland "Cache the parsed answers"'),
        ("Cache the parsed answers", "Cache parsed answers, take 2 (#1234)"),
        ("Cache the parsed answers", "Re-apply: caching parsed answers (!77)"),
        ("Split parseHeader", "Split parse_header"),
        ("Use one queue 日本語", "use one queue 日本語"),
    ],
)
def test_a_second_attempt_has_the_words_of_the_first(one: str, other: str) -> None:
    assert set(subject_words(one)) == set(subject_words(other))
    assert set(subject_words(one)) != set(subject_words("Stream the answers instead"))


def test_words_are_bounded_whatever_the_text() -> None:
    assert len(subject_words(" ".join(f"word{number}" for number in range(1_000)))) == MOST_WORDS
    assert subject_words("") == subject_words("the of and") == subject_words("#12 !13") == ()


@given(st.text(max_size=400))
def test_any_text_has_words_and_no_blank_among_them(text: str) -> None:
    words = subject_words(text)
    assert len(set(words)) == len(words)
    assert all(word and not word.isspace() for word in words)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("Update to backburner 2.2.1", "Update to backburner 2.2.0", True),
        ("Update to backburner 2.2.0", "Update to backburner 2.2.0", False),
        ("Pin xla to 719494360c30", "Pin xla to 08ffe8376f88", True),
        ("Disable FreeBSD 13", "Disable FreeBSD", False),
        ("Refactor the meta", "Refactor the meta", False),
    ],
)
def test_another_version_is_another_change(one: str, other: str, differ: bool) -> None:
    assert other_number(subject_words(one), subject_words(other)) is differ


def test_rare_words_weigh_more() -> None:
    rarity = {"fix": 0.1, "tokeniser": 3.0}
    assert coverage(["fix", "tokeniser"], {"tokeniser"}, rarity) > 0.9
    assert coverage(["fix", "tokeniser"], {"fix"}, rarity) < 0.1
    assert coverage([], {"fix"}, rarity) == 0.0


def test_a_patch_comes_back_when_both_sides_share_it() -> None:
    assert patch_share(10, 10, 10) == patch_share(10, 10, 20) == 1.0
    assert patch_share(10, 10, 100) == pytest.approx(0.2)
    assert patch_share(3, 10, 3) == pytest.approx(0.3)
    assert patch_share(0, 10, 10) == patch_share(5, 0, 5) == patch_share(0, 0, 0) == 0.0


def test_white_space_and_short_lines_make_no_difference_to_line_hashes() -> None:
    assert line_hashes(["  return  cached_answer"]) == line_hashes(["return cached_answer"])
    assert line_hashes(["}", "else:", "  x = 1"]) == frozenset()
    assert line_hashes(["return cached_answer"]) != line_hashes(["return other_answer"])
