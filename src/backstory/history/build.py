"""Fills the tables of a history that is being built aside, batch by batch, in bounded memory.

Rows are tuples in the order of the table's columns; a `TIME` is microseconds since the epoch, or None. Texts lose what
no database keeps (lone surrogates, NUL). The order of rows says nothing: equal content means equal hashes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from backstory.history.schema import TABLES, TEXT, TEXTS, TIME, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = tuple[Any, ...]

# Rows that go to DuckDB at once as columns: 10 us a row, where `executemany` takes 1 ms.
BATCH = 2_000
_META = "index_meta"


def create(db: DuckDBPyConnection, names: Iterable[str] = TABLES) -> None:
    """Create the tables, empty; what they held is dropped."""
    for name in names:
        db.execute(f"DROP TABLE IF EXISTS {name}")
        db.execute(TABLES[name].ddl())


def add(db: DuckDBPyConnection, name: str, rows: Iterable[Sequence[Any]]) -> int:
    """Append rows to a table; how many."""
    table, count = TABLES[name], 0
    source = iter(rows)
    while batch := list(islice(source, BATCH)):
        columns = list(zip(zip(*batch, strict=True), table.columns, strict=True))
        # A column without a value goes as one word.
        filled = [any(value is not None for value in values) for values, _ in columns]
        values = [_fit(values, column.type) for (values, column), full in zip(columns, filled, strict=True) if full]
        db.execute(_insert(table, filled), values)
        count += len(batch)
    return count


def _insert(table: Table, filled: Sequence[bool]) -> str:
    parts, place = [], 0
    for column, full in zip(table.columns, filled, strict=True):
        if not full:
            parts.append("NULL")
            continue
        place += 1
        value = f"unnest(${place}::BIGINT[])" if column.type == TIME else f"unnest(${place}::{column.type}[])"
        parts.append(f"make_timestamp({value})" if column.type == TIME else value)
    return f"INSERT INTO {table.name} SELECT {', '.join(parts)}"


def _fit(values: Iterable[Any], type_: str) -> list[Any]:
    if type_ == TEXT:
        return [v if v is None or (v.isascii() and "\0" not in v) else _text(v) for v in values]
    if type_ == TEXTS:
        return [None if value is None else [_text(item) for item in value] for value in values]
    return list(values)


def _text(value: str | None) -> str | None:
    if value is None or (value.isascii() and "\0" not in value):
        return value
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def table_hash(db: DuckDBPyConnection, name: str) -> str:
    """Rows and a sum over their hashes: equal for equal content, in whatever order."""
    row = db.execute(f"SELECT count(*), coalesce(sum(hash(t)::HUGEINT), 0) FROM {name} AS t").fetchone()
    assert row is not None
    return f"{row[0]}:{int(row[1]) & (1 << 64) - 1:016x}"


def grown_hash(db: DuckDBPyConnection, name: str, before: str) -> str:
    """The hash of a table whose hash was `before`, and that has only got rows since."""
    count, _, total = before.partition(":")
    query = f"SELECT count(*), coalesce(sum(hash(t)::HUGEINT), 0) FROM {name} AS t WHERE rowid >= ?"
    row = db.execute(query, [int(count)]).fetchone()
    assert row is not None
    return f"{int(count) + row[0]}:{(int(total, 16) + int(row[1])) & (1 << 64) - 1:016x}"


def write_meta(
    db: DuckDBPyConnection,
    facts: dict[str, str],
    changed: Iterable[str],
    grown: Collection[str] = (),
) -> None:
    """Bring `index_meta` up to date: `facts`, and the hash of each table in `changed`.

    A table in `grown` has only got rows: to read all of them takes 100 ms at 80,000 commits.
    """
    known = read_meta(db)
    hashes = {
        f"hash:{name}": grown_hash(db, name, known[f"hash:{name}"])
        if name in grown and f"hash:{name}" in known
        else table_hash(db, name)
        for name in sorted(changed)
        if name != _META
    }
    rows = {**facts, **hashes}
    db.execute(f"DELETE FROM {_META} WHERE key IN (SELECT unnest($1::VARCHAR[]))", [list(rows)])
    add(db, _META, rows.items())


def read_meta(db: DuckDBPyConnection) -> dict[str, str]:
    """All of `index_meta`."""
    return dict(db.execute(f"SELECT key, value FROM {_META}").fetchall())


def count(db: DuckDBPyConnection, name: str) -> int:
    """How many rows a table has."""
    row = db.execute(f"SELECT count(*) FROM {name}").fetchone()
    return int(row[0]) if row else 0


def bodies(db: DuckDBPyConnection, shas: Sequence[str]) -> dict[str, str]:
    """The messages of commits without their subjects."""
    found = db.execute("SELECT sha, body FROM commits WHERE sha IN (SELECT unnest($1::VARCHAR[]))", [list(shas)])
    return dict(found.fetchall())


def replace_skipped(db: DuckDBPyConnection, sources: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Put `rows` in place of what `skipped` had of these sources."""
    db.execute("DELETE FROM skipped WHERE source IN (SELECT unnest($1::VARCHAR[]))", [list(sources)])
    add(db, "skipped", rows)


def count_skipped(db: DuckDBPyConnection) -> dict[str, str]:
    """How much was left out, and how much was read by a guess."""
    query = "SELECT count(*) FILTER (severity = 'skipped'), count(*) FILTER (severity = 'warning') FROM skipped"
    row = db.execute(query).fetchone() or (0, 0)
    return {"skipped": str(row[0]), "warnings": str(row[1])}


def count_lines(db: DuckDBPyConnection, counts: Iterable[tuple[str, str, int | None, int | None]]) -> None:
    """Fill the line counts of `commit_files` from (commit, path, added, removed)."""
    source = iter(counts)
    while batch := list(islice(source, BATCH)):
        shas, paths, added, removed = (list(column) for column in zip(*batch, strict=True))
        db.execute(
            "UPDATE commit_files AS f SET lines_added = c.a, lines_removed = c.r FROM (SELECT unnest($1::VARCHAR[]) AS"
            " s, unnest($2::VARCHAR[]) AS p, unnest($3::BIGINT[]) AS a, unnest($4::BIGINT[]) AS r) AS c"
            " WHERE f.sha = c.s AND f.path = c.p",
            [shas, [_text(path) for path in paths], added, removed],
        )


def stored_commits(db: DuckDBPyConnection, order: Sequence[str]) -> Iterator[Row]:
    """The commits in an order: sha, parents, authored and committed in seconds, subject, body, author, changes.

    Changes are a list of (status, path, old path), None for a commit without files.
    """
    cursor = db.cursor()
    place = db.execute("SELECT current_database()").fetchone()
    cursor.execute(f'USE "{place[0] if place else ""}"')
    cursor.execute("CREATE OR REPLACE TEMP TABLE wanted (sha VARCHAR, place BIGINT)")
    for start in range(0, len(order), BATCH):
        cursor.execute(
            "INSERT INTO wanted SELECT unnest($1::VARCHAR[]), $2 + generate_subscripts($1, 1)",
            [list(order[start : start + BATCH]), start],
        )
    cursor.execute(
        "SELECT c.sha, c.parents, epoch(c.authored_at)::BIGINT, epoch(c.committed_at)::BIGINT, c.subject, c.body,"
        " c.author, f.changes FROM commits AS c LEFT JOIN (SELECT sha, list((status, path, old_path)) AS changes"
        " FROM commit_files GROUP BY sha) AS f USING (sha) JOIN wanted AS w USING (sha) ORDER BY w.place"
    )
    while rows := cursor.fetchmany(BATCH):
        yield from rows
    cursor.execute("DROP TABLE wanted")
