"""Rows come out of a history as they went in, in bounded batches; equal content has equal hashes."""

import datetime
import random
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.history import build
from backstory.history.schema import NUMBER, REAL, TABLES, TEXT, TEXTS, TIME, Table

VALUES: dict[str, list[Any]] = {
    TEXT: ["a", "", None, "数据库", "\udc80broken", "nul\0", "new\nline", "x" * 5_000],
    TEXTS: [[], ["a", "b"], ["\udcff"], None],
    NUMBER: [0, 7, -1, None, 1 << 40],
    REAL: [0.5, None, 1e9],
    TIME: [0, None, 1_700_000_000_000_000, -1],
}


@pytest.fixture
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    build.create(connection)
    yield connection
    connection.close()


def _row(table: Table, chance: random.Random) -> tuple[Any, ...]:
    return tuple(chance.choice(VALUES.get(column.type, [True, False, None])) for column in table.columns)


def _kept(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    return [_kept(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", TABLES)
def test_every_table_takes_every_value_of_its_types(db: duckdb.DuckDBPyConnection, name: str) -> None:
    table, chance = TABLES[name], random.Random(name)
    rows = [_row(table, chance) for _ in range(300)]
    assert build.add(db, name, iter(rows)) == 300
    found = db.execute(f"SELECT * FROM {name}").fetchall()
    for row, back in zip(rows, found, strict=True):
        for value, kept, column in zip(row, back, table.columns, strict=True):
            if column.type == TIME and value is not None:
                moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=value)
                assert kept == moment.replace(tzinfo=None)
            else:
                assert kept == _kept(value)


def test_rows_come_in_batches_of_any_number(db: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BATCH", 7)
    rows = [(str(number), "v") for number in range(50)]
    assert build.add(db, "index_meta", rows) == 50
    assert build.add(db, "index_meta", []) == 0
    assert build.count(db, "index_meta") == 50


def test_a_hash_is_about_content_not_order(db: duckdb.DuckDBPyConnection) -> None:
    rows = [("a", "1"), ("b", "2"), ("b", "2"), ("c", None)]
    seen = set()
    for order in (rows, rows[::-1]):
        build.create(db, ["index_meta"])
        build.add(db, "index_meta", order)
        seen.add(build.table_hash(db, "index_meta"))
    assert len(seen) == 1
    for other in (rows[:3], [*rows, ("b", "2")], [("a", "1"), ("b", "2"), ("b", "3"), ("c", None)]):
        build.create(db, ["index_meta"])
        build.add(db, "index_meta", other)
        assert build.table_hash(db, "index_meta") not in seen


def test_meta_is_replaced_by_key(db: duckdb.DuckDBPyConnection) -> None:
    build.write_meta(db, {"head": "one"}, ["prs"])
    build.write_meta(db, {"head": "two"}, ["prs", "index_meta"])
    assert build.read_meta(db) == {"head": "two", "hash:prs": "0:0000000000000000"}


def test_skipped_rows_of_a_source_are_replaced_and_others_stay(db: duckdb.DuckDBPyConnection) -> None:
    build.add(db, "skipped", [("prs", "skipped", "a", 1, "x"), ("tickets", "warning", "b", 2, "y")])
    build.replace_skipped(db, ["prs"], [("prs", "warning", "c", 0, "z")])
    assert sorted(db.execute("SELECT source, file FROM skipped").fetchall()) == [("prs", "c"), ("tickets", "b")]
    assert build.count_skipped(db) == {"skipped": "0", "warnings": "2"}


@given(st.lists(st.tuples(st.text(max_size=20), st.none() | st.text(max_size=20)), max_size=40))
def test_any_text_is_kept(rows: list[tuple[str, str | None]]) -> None:
    with duckdb.connect() as connection:
        build.create(connection, ["index_meta"])
        build.add(connection, "index_meta", rows)
        found = connection.execute("SELECT * FROM index_meta").fetchall()
    assert found == [tuple(map(_kept, row)) for row in rows]


def test_stored_commits_come_in_the_order_asked_for_with_their_changes(db: duckdb.DuckDBPyConnection) -> None:
    second = 1_000_000
    build.add(
        db,
        "commits",
        [
            ("a" * 40, [], "Ada", 5 * second, 10 * second, "first", "", False, 1),
            ("b" * 40, ["a" * 40], "Bob", 15 * second, 20 * second, "second", "why", False, 2),
            ("c" * 40, ["b" * 40], "Bob", 25 * second, 30 * second, "empty", "", False, 0),
        ],
    )
    build.add(
        db,
        "commit_files",
        [
            ("a" * 40, "x.py", "A", None, None, None),
            ("b" * 40, "y.py", "R", "x.py", None, None),
            ("b" * 40, "z.py", "A", None, None, None),
        ],
    )
    rows = list(build.stored_commits(db, ["c" * 40, "b" * 40, "a" * 40, "e" * 40]))
    assert [row[4] for row in rows] == ["empty", "second", "first"]
    assert [row[4] for row in build.stored_commits(db, ["a" * 40, "c" * 40])] == ["first", "empty"]
    sha, parents, authored, committed, _, body, author, changes = rows[1]
    assert (sha, parents, authored, committed, body, author) == ("b" * 40, ["a" * 40], 15, 20, "why", "Bob")
    assert sorted(map(tuple, changes)) == [("A", "z.py", None), ("R", "y.py", "x.py")]
    assert rows[0][7] is None
    assert build.bodies(db, ["b" * 40, "d" * 40]) == {"b" * 40: "why"}
