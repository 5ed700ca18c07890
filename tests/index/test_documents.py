"""Documents go in by the thousand as they do one by one, and a whole source goes out at once."""

import sqlite3
from collections.abc import Iterator

import pytest

from backstory.index import documents
from backstory.index.documents import DOCUMENT_TABLES, Row, append_many, next_rowid, put_many, remove_source
from backstory.index.search import search


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = made()
    yield connection
    connection.close()


def made() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in DOCUMENT_TABLES:
        connection.execute(statement)
    return connection


def commits(first: int, last: int) -> list[Row]:
    return [
        (
            "commit",
            f"c{i:05}",
            "commit",
            i,
            f"Fix parseConfig {i}",
            f"数据库 body {i}\x00",
            (f"src/{i % 9}.py", "a", "a"),
        )
        for i in range(first, last)
    ]


def everything(db: sqlite3.Connection) -> list[list[tuple[object, ...]]]:
    tables = ("documents", "document_paths", "documents_fts", "documents_fts_docsize", "documents_vocabulary")
    return [db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]


def sound(db: sqlite3.Connection) -> None:
    """Raises when the words and the stored text disagree."""
    db.execute("INSERT INTO documents_fts (documents_fts) VALUES ('integrity-check')")


def test_appending_stores_what_putting_stores(db: sqlite3.Connection) -> None:
    rows = [*commits(0, 2_500), ("entry", "E", "note", None, "a note", "", ())]
    append_many(db, iter(rows))
    other = made()
    put_many(other, rows)
    assert everything(db) == everything(other)
    sound(db)
    other.close()


def test_later_documents_may_be_written_before_earlier_ones(db: sqlite3.Connection) -> None:
    first = next_rowid(db, "commit")
    append_many(db, commits(1_000, 2_000), first=first + 1_000)
    append_many(db, commits(0, 1_000), first=first)
    other = made()
    append_many(other, commits(0, 2_000))
    assert everything(db) == everything(other)
    assert next_rowid(db, "commit") == first + 2_000
    other.close()


def test_appending_a_document_that_is_there_raises(db: sqlite3.Connection) -> None:
    append_many(db, commits(0, 3))
    with pytest.raises(sqlite3.IntegrityError):
        append_many(db, commits(2, 4))
    append_many(db, commits(3, 4), first=next_rowid(db, "commit") + 10)
    assert len(search(db, "parseConfig")) == 4, "positive control"


def test_no_more_rows_are_read_ahead_than_are_written_at_once(db: sqlite3.Connection) -> None:
    ahead: list[int] = []

    def stream() -> Iterator[Row]:
        for number, row in enumerate(commits(0, 3 * documents.BATCH)):
            ahead.append(number - db.execute("SELECT count(*) FROM documents").fetchone()[0])
            yield row

    append_many(db, stream())
    assert max(ahead) == documents.BATCH - 1


@pytest.mark.parametrize(("kept", "gone"), [(5, 700), (700, 5)])
def test_a_source_goes_whole_and_leaves_the_others_as_they_were(db: sqlite3.Connection, kept: int, gone: int) -> None:
    entries: list[Row] = [
        ("entry", f"E{i:04}", "note", i, f"retry {i}", "because 数据", ("x.py",)) for i in range(kept)
    ]
    append_many(db, entries)
    before = everything(db)
    append_many(db, commits(0, gone))
    assert search(db, "parseConfig", limit=1), "positive control"
    remove_source(db, "commit")
    assert everything(db)[:4] == before[:4]
    assert search(db, "parseConfig") == []
    assert len(search(db, "retry", limit=1_000)) == kept
    sound(db)
    append_many(db, commits(0, 3))
    assert len(search(db, "parseConfig")) == 3


def test_a_source_can_go_in_the_middle_of_a_transaction_that_is_taken_back(db: sqlite3.Connection) -> None:
    append_many(db, commits(0, 20))
    before = everything(db)
    db.execute("BEGIN IMMEDIATE")
    remove_source(db, "commit")
    assert search(db, "parseConfig") == []
    db.execute("ROLLBACK")
    assert everything(db) == before
    assert search(db, "parseConfig")


def test_a_source_without_documents_goes_in_silence_and_an_unknown_one_is_refused(db: sqlite3.Connection) -> None:
    append_many(db, commits(0, 2))
    remove_source(db, "ticket")
    assert documents.refs(db, "commit") == {"c00000", "c00001"}
    assert documents.refs(db, "ticket") == set()
    with pytest.raises(ValueError, match="wiki"):
        remove_source(db, "wiki")
    with pytest.raises(ValueError, match="wiki"):
        append_many(db, [("wiki", "1", "page", 0, "t", "", ())])
