"""What capture keeps in the archive: how far it looked at each session, and what was found in single ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from backstory.index.archive.asking import Session, by_numbers


def waiting(db: sqlite3.Connection, since: int | None = None) -> list[Session]:
    """Sessions that have something new since capture looked at them, the oldest first."""
    rows = db.execute(
        """SELECT s.session FROM sessions s JOIN transcripts t ON t.transcript = s.session
           LEFT JOIN captured c USING (session)
           WHERE (c.stamp IS NULL OR c.stamp <> t.stamp) AND (? IS NULL OR s.ended >= ?)
           ORDER BY s.ended IS NULL, s.ended, s.session""",
        (since, since),
    ).fetchall()
    known = by_numbers(db, [row[0] for row in rows])
    return [known[row[0]] for row in rows]


def looked_at(db: sqlite3.Connection, session: int) -> None:
    """Capture looked at all that was read of a session."""
    sql = "INSERT OR REPLACE INTO captured SELECT transcript, stamp FROM transcripts WHERE transcript = ?"
    db.execute(sql, (session,))


def keep(db: sqlite3.Connection, session: int, found: Iterable[tuple[str, int, str, str]]) -> None:
    """What was found in a session: (detector, offset, key, body) each, in place of what was known of it."""
    db.execute("DELETE FROM finds WHERE session = ?", (session,))
    db.executemany(
        "INSERT OR REPLACE INTO finds (session, detector, offset, key, body) VALUES (?, ?, ?, ?, ?)",
        ((session, *one) for one in found),
    )


def repeated(db: sqlite3.Connection, keys: Iterable[str]) -> list[tuple[str, str]]:
    """(session id, body) of what was found with one of these keys, in any session."""
    found = []
    for key in sorted(set(keys)):
        rows = db.execute(
            "SELECT s.id, f.body FROM finds f JOIN sessions s USING (session) WHERE f.key = ? AND f.key <> ''"
            " ORDER BY s.ended, s.id, f.offset",
            (key,),
        )
        found += rows.fetchall()
    return found


def recent(db: sqlite3.Connection, most: int) -> list[Session]:
    """The newest sessions that edited something."""
    rows = db.execute(
        "SELECT session FROM sessions WHERE edits > 0 AND agent = '' ORDER BY ended DESC LIMIT ?", (most,)
    ).fetchall()
    known = by_numbers(db, [row[0] for row in rows])
    return [known[row[0]] for row in reversed(rows)]


def copies(db: sqlite3.Connection, session: int, key: int) -> bool:
    """Whether the turn with this key is another session's."""
    row = db.execute("SELECT session FROM turn_keys WHERE key = ?", (key,)).fetchone()
    return row is not None and row[0] != session
