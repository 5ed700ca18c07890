"""A hit has enough of what was asked for; of a long question that is less, if the document fits it well."""

import random
import sqlite3
from collections.abc import Iterator

import pytest

from backstory.index import filters, weighing
from backstory.index.documents import DOCUMENT_TABLES, Row, append_many
from backstory.index.search import search

WORDS = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o") for c in ("ber", "dok", "fan", "lim", "zun")
]


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in DOCUMENT_TABLES:
        connection.execute(statement)
    yield connection
    connection.close()


def commit(ref: str, title: str, body: str = "") -> Row:
    return ("commit", ref, "commit", 0, title, body, ())


def filler(count: int) -> list[Row]:
    rng = random.Random(1)
    return [commit(f"f{i:04}", " ".join(rng.sample(WORDS, 4)), " ".join(rng.sample(WORDS, 8))) for i in range(count)]


LONG = (
    "Fixed an issue where a gateway kept stale listeners after its certificate was rotated by an external authority"
    " when several replicas restarted together during an upgrade"
)


def test_a_long_question_finds_the_short_text_that_says_some_of_it(db: sqlite3.Connection) -> None:
    append_many(db, [*filler(500), commit("it", "stale listeners on certificate rotation")])
    assert [hit.ref for hit in search(db, LONG)] == ["it"]


def test_a_long_question_is_not_answered_by_a_long_text_that_happens_to_have_as_much_of_it(
    db: sqlite3.Connection,
) -> None:
    body = " ".join(["stale", *WORDS * 4, "listeners", *WORDS * 4, "certificate"])
    append_many(db, [*filler(500), commit("long", "notes", body)])
    assert [hit.ref for hit in search(db, "stale listeners certificate")] == ["long"], "positive control"
    assert search(db, LONG) == []


def test_a_question_about_something_else_stays_without_an_answer(db: sqlite3.Connection) -> None:
    append_many(db, [*filler(500), commit("it", "mend the bread oven"), commit("other", "flour mill")])
    assert [hit.ref for hit in search(db, "bread oven")] == ["it"], "positive control"
    asked = (
        "my grandmother used to bake bread every sunday and I would like to know how long the dough should rest"
        " before it goes in and what else she added to make the crust so dark"
    )
    assert search(db, asked) == []


def test_an_identifier_is_also_found_by_its_parts_where_some_have_it_whole(db: sqlite3.Connection) -> None:
    append_many(
        db, [*filler(300), commit("whole", "rename parse_config_file"), commit("parts", "parse the config of a file")]
    )
    found = [hit.ref for hit in search(db, "parse_config_file zebra")]
    assert found == ["whole", "parts"]


def test_terms_that_very_many_have_do_not_decide(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighing, "COMMON", 100)
    monkeypatch.setattr(weighing, "BM25_ROWS", 150)
    append_many(db, [commit(f"f{i:03}", f"fix {WORDS[i % 40]}") for i in range(300)])
    append_many(
        db, [commit("a", "fix zebra", "x"), commit("b", "zebra", "word " * 9), commit("c", "fix zebra stripes")]
    )
    assert [hit.ref for hit in search(db, "fix zebra stripes")] == ["c", "a", "b"]
    assert [hit.ref for hit in search(db, "fix zebra") if hit.mode == "all"] == ["a", "c"]
    assert search(db, "fix unheard")[:1] == []


def test_words_that_all_are_common_give_the_newest_with_those_that_have_them_in_the_title_first(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weighing, "COMMON", 20)
    rows = [commit(f"f{i:03}", "some change" if i else "fix test", "fix of a test") for i in range(60)]
    append_many(db, rows)
    assert [hit.ref for hit in search(db, "fix test", limit=3)] == ["f000", "f059", "f058"]


def test_what_many_rows_match_is_the_same_with_any_bound(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_many(db, filler(2_000))
    asked = " ".join(WORDS[:2])
    whole = {hit.ref for hit in search(db, asked, limit=20)}
    monkeypatch.setattr(weighing, "FILTERED_AT_ONCE", 3)
    assert {hit.ref for hit in search(db, asked, limit=20)} == whole
    assert len(whole) == 20


def test_the_number_of_documents_is_known_before_and_after_a_commit(db: sqlite3.Connection) -> None:
    assert filters.total(db) == 0
    db.execute("BEGIN")
    append_many(db, filler(300))
    assert filters.total(db) == 300
    db.execute("COMMIT")
    assert filters.total(db) == 300
    append_many(db, [commit("far", "x")], first=1 << 41)
    assert filters.total(db) == 301, "whatever their numbers are"
    db.execute("DELETE FROM documents_fts WHERE rowid = ?", (1 << 41,))
    assert filters.total(db) == 300


def test_a_condition_may_hold_any_character(db: sqlite3.Connection) -> None:
    append_many(db, [commit("100%", "mend the timeout"), commit("b", "mend the timeout")])
    where = "d.ref LIKE '%\\%%' ESCAPE '\\' AND d.ref NOT LIKE ?"
    assert [hit.ref for hit in search(db, "timeout", where=where, params=("%s",))] == ["100%"]
