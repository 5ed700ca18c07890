"""Ids sort by time, are never made twice, and are named by what people type."""

from hypothesis import given
from hypothesis import strategies as st

from backstory.records.ids import ALPHABET, LENGTH, SHORT, is_id, new_id, normalise

instants = st.integers(min_value=0, max_value=(1 << 48) * 1000 - 1)
randoms = st.binary(min_size=10, max_size=10)


@given(instants, instants, randoms, randoms)
def test_ids_of_different_milliseconds_sort_by_time(one: int, other: int, a: bytes, b: bytes) -> None:
    if one // 1000 < other // 1000:
        assert new_id(one, a) < new_id(other, b)
    assert is_id(new_id(one, a))


@given(instants, randoms, randoms)
def test_the_random_part_ends_the_id(now: int, a: bytes, b: bytes) -> None:
    one, other = new_id(now, a), new_id(now, b)
    assert one[:10] == other[:10]
    assert (one == other) == (a == b)


def test_ten_thousand_ids_of_one_instant_are_ten_thousand_and_rarely_share_a_short_name() -> None:
    ids = [new_id(1_772_000_000_000_000) for _ in range(10_000)]
    assert len(set(ids)) == len(ids)
    assert len({id_[-SHORT:] for id_ in ids}) > 9_900


def test_a_time_before_the_epoch_or_beyond_the_field_gives_an_id_all_the_same() -> None:
    assert new_id(-1, bytes(10)) == "0" * LENGTH
    assert is_id(new_id(1 << 70))


@given(instants, randoms, st.integers(min_value=SHORT, max_value=LENGTH))
def test_any_suffix_is_read_as_typed(now: int, entropy: bytes, size: int) -> None:
    suffix = new_id(now, entropy)[-size:]
    typed = suffix.lower().replace("0", "o").replace("1", "l")
    for text in (suffix, typed, f" {suffix}\n", f"#{suffix}", suffix.replace("1", "I")):
        assert normalise(text) == suffix


@given(st.text(max_size=40))
def test_what_cannot_be_a_name_is_none(text: str) -> None:
    found = normalise(text)
    assert found is None or (SHORT <= len(found) <= LENGTH and set(found) <= set(ALPHABET))


def test_too_short_too_long_and_strange_letters_are_refused() -> None:
    for text in ("", "ABCDE", "U" * 8, "A" * 27, "ABC DEF", "ÀBCDEF", "ＡＢＣＤＥＦ"):
        assert normalise(text) is None
    assert not is_id("a" * LENGTH)
    assert not is_id("A" * (LENGTH - 1))
