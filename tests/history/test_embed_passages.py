"""How texts are cut into passages."""

from hypothesis import given
from hypothesis import strategies as st

from backstory.history.embedders.passages import MAX_CHARS, MAX_PASSAGES, passages, text_hash


def test_a_short_text_is_one_passage() -> None:
    assert passages("Title\n\nOne paragraph\nof two lines.") == ["Title\nOne paragraph of two lines."]


def test_a_long_text_is_cut_between_paragraphs_then_between_sentences_then_anywhere() -> None:
    first, second = "first " * 30, "second " * 25
    assert passages(f"T\n\n{first}\n \n{second}") == [f"T\n{first.strip()}", second.strip()]
    sentences = passages("T\n" + "This is a sentence of some length. " * 20)
    assert len(sentences) > 1 and all(passage.endswith("length.") for passage in sentences)
    words = passages("T\n" + "word and word " * 60)
    assert len(words) > 3 and {word for passage in words for word in passage.split()} == {"T", "word", "and"}
    assert passages("x" * (MAX_CHARS + 5)) == ["x" * MAX_CHARS, "x" * 5]


def test_japanese_sentences_are_cut_where_they_end() -> None:
    assert all(passage.endswith("。") for passage in passages("題\n" + "これは長い文章の一部です。" * 60))


def test_texts_without_words_have_none_and_nothing_is_said_twice() -> None:
    assert passages("") == passages("\n\n---\n\n***") == []
    block = "same " * 35
    assert passages(f"{block}\n\n{block}\n\n{block}") == [block.strip()]


def test_a_text_without_end_is_bounded() -> None:
    assert len(passages("\n\n".join(f"{number} " * 100 for number in range(1_000)))) == MAX_PASSAGES


@given(st.text())
def test_any_text_gives_short_passages_with_the_same_hash_each_time(text: str) -> None:
    found = passages(text)
    assert found == passages(text) and len(set(found)) == len(found) <= MAX_PASSAGES
    assert all(0 < len(passage) <= MAX_CHARS for passage in found)
    assert bool(found) == any(map(str.isalnum, text))
    assert [len(text_hash(passage)) for passage in found] == [32] * len(found)
