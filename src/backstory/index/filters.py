"""Which documents a search may find, as a condition over `documents AS d`; and how many there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from backstory.index.documents import SOURCES, rowid_range
from backstory.index.terms import clean

NARROW_ROWS = 2_000  # a path filter that lets fewer documents through is a list of them


class Filter(NamedTuple):
    """A condition over alias d, its parameters, the sources that can match, and whether few documents can."""

    sql: str
    params: tuple[object, ...]
    sources: tuple[str, ...]
    narrow: bool

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last rowid that a document of these sources can have; (0, -1) without a source."""
        if not self.sources:
            return 0, -1
        return rowid_range(self.sources[0])[0], rowid_range(self.sources[-1])[1]


def made(
    db: sqlite3.Connection,
    columns: Mapping[str, Sequence[str]],
    path: str | None,
    since: int | None,
    until: int | None,
    extra: tuple[str, tuple[object, ...]],
) -> Filter:
    """The filter of a search: values by column (`source` must be one), the rest as `search` takes it."""
    parts: list[tuple[str, tuple[object, ...]]] = [
        (f"+d.{column} IN ({marks(values)})", tuple(values)) for column, values in columns.items() if values
    ]
    narrow = False
    folder = clean(path or "").rstrip("/")
    if folder not in ("", "."):
        condition, values, narrow = _path_condition(db, folder)
        parts.append((condition, values))
    if since is not None:
        parts.append(("d.at >= ?", (since,)))
    if until is not None:
        parts.append(("d.at < ?", (until,)))
    if extra[0]:
        parts.append((f"({extra[0]})", extra[1]))
    sql = " AND ".join(part for part, _ in parts) or "1"
    asked = columns["source"]
    names = tuple(name for name in SOURCES if not asked or name in asked)
    return Filter(sql, tuple(value for _, values in parts for value in values), names, narrow)


def _path_condition(db: sqlite3.Connection, folder: str) -> tuple[str, tuple[object, ...], bool]:
    """A condition for a path or what is below it: the documents by number where few, else a look at each one."""
    values = (folder, *below(folder))
    rows = "SELECT document FROM document_paths WHERE path = ? OR (path >= ? AND path < ?) LIMIT ?"
    few = {rowid for (rowid,) in db.execute(rows, (*values, NARROW_ROWS + 1))}
    if len(few) <= NARROW_ROWS:
        return f"d.rowid IN ({numbers(sorted(few))})", (), True
    one = "EXISTS (SELECT 1 FROM document_paths p WHERE p.document = d.rowid AND"
    return f"({one} p.path = ?) OR {one} p.path >= ? AND p.path < ?))", values, False


def marks(values: Iterable[object]) -> str:
    """A placeholder for each value."""
    return ", ".join("?" for _ in values)


def numbers(rowids: Iterable[int]) -> str:
    """Rowids as SQL text: they may be more than SQLite takes placeholders."""
    return ", ".join(map(str, rowids))


def below(folder: str) -> tuple[str, str]:
    """Bounds of the paths below a folder; 0 is the character after /."""
    return folder + "/", folder + "0"


def total(db: sqlite3.Connection) -> int:
    """How many documents there are, about.

    Full text keeps their number beside its averages, as of the last commit: counting a million takes 15 ms. In the
    transaction that wrote the first ones it is 0, and the highest rowids tell.
    """
    record = db.execute("SELECT block FROM documents_fts_data WHERE id = 1").fetchone()
    counted = _varint(record[0]) if record and record[0] else 0
    if counted:
        return counted
    highest = "SELECT max(rowid) FROM documents WHERE rowid BETWEEN ? AND ?"
    spans = [rowid_range(source) for source in SOURCES]
    return sum((db.execute(highest, span).fetchone()[0] or span[0]) - span[0] for span in spans)


def _varint(data: bytes) -> int:
    """The number that SQLite wrote at the start of `data`: seven bits a byte, the highest first."""
    value = 0
    for byte in data[:8]:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value
