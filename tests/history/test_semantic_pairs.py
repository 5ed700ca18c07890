"""The pairs that the models are measured on are fair: no question shares a word with its answer."""

import sqlite3

import pytest

from backstory.index.terms import STOP_WORDS, extra_terms
from benchmarks.pairs import OFF_TOPIC, OTHER_LANGUAGES, PAIRS


def stems(text: str) -> set[str]:
    """The stems that the search index would have of a text, without stop words."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
    db.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'row')")
    db.execute("INSERT INTO words VALUES (?)", (f"{text} {extra_terms(text)}",))
    found = {term for (term,) in db.execute("SELECT term FROM terms")}
    db.close()
    return found


STOP_STEMS = stems(" ".join(STOP_WORDS))


def test_there_are_fifty_and_each_is_there_once() -> None:
    assert len(PAIRS) == 50
    every = [*PAIRS, *OTHER_LANGUAGES]
    assert len({pair.query for pair in every}) == len({pair.answer for pair in every}) == len(every)
    assert {pair.source for pair in PAIRS} == {"decision", "trial", "run record", "ticket", "commit"}
    assert len(set(OFF_TOPIC)) == len(OFF_TOPIC) >= 30


@pytest.mark.parametrize("pair", [*PAIRS, *OTHER_LANGUAGES], ids=lambda pair: pair.query)
def test_question_and_answer_share_no_stem(pair) -> None:
    assert not stems(pair.query) & stems(pair.answer) - STOP_STEMS
    assert stems(pair.query) - STOP_STEMS and stems(pair.answer) - STOP_STEMS


def test_a_shared_stem_would_be_seen() -> None:
    assert stems("caching the pages") & stems("one cache, one page") - STOP_STEMS == {"cach", "page"}
