"""Writes what was read from transcripts into the archive. The caller holds the transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from backstory.index.documents import next_rowid
from backstory.index.terms import clean, extra_terms_of_clean

MOST_PATHS = 200
# Calls that wait to be written.
_AT_ONCE = 500


_OF_A_SESSION = (
    "passages", "calls", "session_files", "session_commits", "turns", "turn_keys", "captured", "finds", "sessions",
)  # fmt: skip


class Place(msgspec.Struct, frozen=True, array_like=True):
    """A transcript as the archive knows it."""

    transcript: int
    client: str
    path: str
    part: str = ""
    parent: str = ""
    stamp: str = ""
    size: int = 0
    ours: bool = False
    offset: int = 0
    state: bytes = b""
    head: str = ""
    going: bytes = b""


class Words(msgspec.Struct):
    """The words of a passage: what was asked, what was said and run, the files it touched."""

    asked: str
    rest: str
    paths: tuple[str, ...]


def places(db: sqlite3.Connection) -> dict[tuple[str, str], Place]:
    """Every transcript that was looked at, by path and part."""
    names = ", ".join(Place.__struct_fields__)
    rows = db.execute(f"SELECT {names} FROM transcripts")
    found = (msgspec.convert(row, Place, strict=False) for row in rows)
    return {(place.path, place.part): place for place in found}


def keep_place(db: sqlite3.Connection, place: Place) -> int:
    """Write how far a transcript was read; its number."""
    values = msgspec.structs.astuple(place)
    names = Place.__struct_fields__
    if place.transcript:
        sets = ", ".join(f"{name} = ?" for name in names[1:])
        db.execute(f"UPDATE transcripts SET {sets} WHERE transcript = ?", (*values[1:], place.transcript))
        return place.transcript
    marks = ", ".join("?" * (len(names) - 1))
    sql = f"INSERT INTO transcripts ({', '.join(names[1:])}) VALUES ({marks})"
    return int(db.execute(sql, values[1:]).lastrowid or 0)


def insert(db: sqlite3.Connection, table: str, fields: dict[str, Any]) -> int:
    """A new row of a table of this package; its number."""
    return int(db.execute(_inserting(table, tuple(fields)), tuple(fields.values())).lastrowid or 0)


def put(db: sqlite3.Connection, table: str, key: str, number: int, fields: dict[str, Any]) -> None:
    """Set fields of the row with that number."""
    if fields:
        db.execute(_setting(table, key, tuple(fields)), (*fields.values(), number))


# The texts of the few statements there are, since each is made thousands of times.
@lru_cache
def _inserting(table: str, names: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


@lru_cache
def _setting(table: str, key: str, names: tuple[str, ...]) -> str:
    return f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in names)} WHERE {key} = ?"


class Calls:
    """The calls of one transcript, written many at once: most results come before their call is written.

    Ask for `write` before the transaction ends. Numbers are given here, since nobody else writes meanwhile.
    """

    def __init__(self, db: sqlite3.Connection, session: int) -> None:
        self.db, self.session = db, session
        self.next = int(db.execute("SELECT coalesce(max(call), 0) FROM calls").fetchone()[0]) + 1
        self.rows: dict[int, tuple[object, ...]] = {}

    def add(self, turn: int, offset: int, at: int | None, tool: str, does: str, command: str) -> int:
        """A call without a result; its number."""
        if len(self.rows) >= _AT_ONCE:
            self.write()
        number, self.next = self.next, self.next + 1
        self.rows[number] = (number, self.session, turn, offset, at, tool, does, command)
        return number

    def ended(self, number: int, outcome: str, code: int | None, error: str) -> None:
        """What a call gave; the last that is said of it holds."""
        if number in self.rows:
            self.rows[number] = (*self.rows[number][:8], outcome, code, error)
        else:
            put(self.db, "calls", "call", number, {"outcome": outcome, "code": code, "error": error})

    def write(self) -> None:
        """Write those that wait."""
        sql = """INSERT INTO calls (call, session, turn, offset, at, tool, does, command, outcome, code, error)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
        self.db.executemany(sql, (row if len(row) > 8 else (*row, "unknown", None, "") for row in self.rows.values()))
        self.rows.clear()


def put_session(db: sqlite3.Connection, number: int, fields: dict[str, Any]) -> None:
    """Write a session's row as a whole."""
    names = ("session", *fields)
    sql = f"INSERT OR REPLACE INTO sessions ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    db.execute(sql, (number, *fields.values()))


def touch(db: sqlite3.Connection, session: int, path: str, at: int | None, offset: int, *, edit: bool) -> None:
    """A session read a file, or edited it."""
    db.execute(
        """INSERT INTO session_files (path, session, reads, edits, first_at, last_at, offset)
           VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path, session) DO UPDATE SET
           reads = reads + excluded.reads, edits = edits + excluded.edits,
           last_at = coalesce(excluded.last_at, last_at),
           offset = CASE WHEN excluded.edits >= min(edits, 1) THEN excluded.offset ELSE offset END""",
        (path, session, int(not edit), int(edit), at, at, offset),
    )


def committed(db: sqlite3.Connection, session: int, sha: str, at: int | None, offset: int) -> None:
    """A session made a commit."""
    db.execute(
        "INSERT OR IGNORE INTO session_commits (sha, session, at, offset) VALUES (?, ?, ?, ?)",
        (sha, session, at, offset),
    )


def is_copy(db: sqlite3.Connection, key: int, session: int) -> bool:
    """Whether another session has the turn with this key already; else it is this one's from now on."""
    db.execute("INSERT OR IGNORE INTO turn_keys (key, session) VALUES (?, ?)", (key, session))
    return bool(db.execute("SELECT session FROM turn_keys WHERE key = ?", (key,)).fetchone()[0] != session)


def add_passage(
    db: sqlite3.Connection, session: int, turn: int, span: tuple[int, int], found: tuple[str, str, int | None, str],
    words: Words,
) -> None:  # fmt: skip
    """Make a piece of a turn findable. `found` is its ref, its client, its time and its title."""
    ref, kind, at, title = found
    rowid = max(next_rowid(db, "session"), _last_forgotten(db) + 1)
    asked, rest = clean(words.asked), clean(words.rest)
    paths = list(dict.fromkeys(map(clean, words.paths)))[:MOST_PATHS]
    text = "\n".join(paths)
    db.execute(
        "INSERT INTO documents (rowid, source, ref, kind, at, title) VALUES (?, 'session', ?, ?, ?, ?)",
        (rowid, clean(ref), kind, at, clean(title)),
    )
    db.executemany("INSERT INTO document_paths (path, document) VALUES (?, ?)", [(path, rowid) for path in paths])
    db.execute(
        "INSERT INTO documents_fts (rowid, title, body, paths, extra) VALUES (?, ?, ?, ?, ?)",
        (rowid, asked, rest, text, extra_terms_of_clean(asked, rest, text)),
    )
    db.execute(
        "INSERT INTO passages (document, turn, session, offset, until) VALUES (?, ?, ?, ?, ?)",
        (rowid, turn, session, *span),
    )


def _last_forgotten(db: sqlite3.Connection) -> int:
    """The highest number of a document that was taken out: its words are still there, so no other may have it."""
    row = db.execute("SELECT value FROM archive_meta WHERE key = 'last_forgotten'").fetchone()
    return int(row[0]) if row else 0


def forget(db: sqlite3.Connection, transcripts: Iterable[int]) -> None:
    """Take all out that came from these transcripts. Their words stay in full text, found by nobody, until `gc`."""
    for number in transcripts:
        last = db.execute("SELECT max(document) FROM passages WHERE session = ?", (number,)).fetchone()[0] or 0
        if last:
            values = (str(max(last, _last_forgotten(db))),)
            db.execute("INSERT OR REPLACE INTO archive_meta VALUES ('last_forgotten', ?)", values)
        db.execute(
            "DELETE FROM document_paths WHERE document IN (SELECT document FROM passages WHERE session = ?)", (number,)
        )
        db.execute("DELETE FROM documents WHERE rowid IN (SELECT document FROM passages WHERE session = ?)", (number,))
        for table in _OF_A_SESSION:
            db.execute(f"DELETE FROM {table} WHERE session = ?", (number,))
        empty = "ours = 0, offset = 0, state = x'', head = '', going = x''"
        db.execute(f"UPDATE transcripts SET {empty} WHERE transcript = ?", (number,))


def drop_places(db: sqlite3.Connection, transcripts: Iterable[int]) -> None:
    """Forget transcripts that are gone, and all that came from them."""
    gone = list(transcripts)
    forget(db, gone)
    db.executemany("DELETE FROM transcripts WHERE transcript = ?", [(number,) for number in gone])
