"""What was found is shown in one short line."""

from backstory.index.excerpts import SNIPPET_CHARS, excerpt, spans_of


def test_an_excerpt_is_one_short_line_around_the_first_match() -> None:
    text, spans = spans_of("a\n  \x02match\x03 here")
    assert excerpt(text, spans) == "a [match] here"
    long = excerpt("x" * 500 + "match" + "y" * 500, [(500, 505)])
    assert "[match]" in long
    assert len(long) <= SNIPPET_CHARS + 4
    assert excerpt("数据库", [(0, 2), (1, 3)]) == "[数据库]"
