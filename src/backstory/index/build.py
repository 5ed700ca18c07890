"""Makes an index, or makes it anew inside the live file.

Never by renaming a rebuilt file over the old one: with a WAL left from a crash that brings old rows back. A file
that is no database any more is deleted together with its WAL, and made again.
"""

from __future__ import annotations

import os
import sqlite3

from backstory.index.schema import TABLES, VERSION
from backstory.index.store import connect


def open_for_writing(path: str) -> tuple[sqlite3.Connection, str]:
    """The index at `path`, made when missing, old or corrupt; and why it was made ("" when it was not).

    `OSError` or `sqlite3.OperationalError` when the folder cannot be written.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    existed = os.path.exists(path)
    try:
        db = connect(path)
        db.execute("PRAGMA journal_mode=WAL")
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found == VERSION:
            db.execute("SELECT count(*) FROM files").fetchone()
            return db, ""
        make(db)
        return db, f"version {found} of the index, this is {VERSION}" if found else "no index yet"
    except sqlite3.OperationalError as error:
        if not existed or "locked" in str(error) or "readonly" in str(error) or "unable to open" in str(error):
            raise
        return remake(path), f"the index was damaged ({error})"
    except sqlite3.DatabaseError as error:
        return remake(path), f"the index was damaged ({error})"


def remake(path: str) -> sqlite3.Connection:
    """A new index in place of a corrupt one."""
    for name in (path, f"{path}-wal", f"{path}-shm", f"{path}-journal"):
        try:
            os.unlink(name)
        except FileNotFoundError:
            pass
    db = connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    make(db)
    return db


def in_memory() -> sqlite3.Connection:
    """An index for one command, where no file can be written."""
    db = connect(":memory:")
    make(db)
    return db


def make(db: sqlite3.Connection, *, force: bool = False) -> None:
    """Drop everything and create the tables, in one transaction; nothing when another process just did."""
    db.execute("BEGIN IMMEDIATE")
    try:
        if not force and db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            db.execute("ROLLBACK")
            return
        clear(db)
        for statement in TABLES:
            db.execute(statement)
        db.execute(f"PRAGMA user_version={VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def clear(db: sqlite3.Connection) -> None:
    """Drop every table and view; virtual tables take their shadow tables along."""
    for kind in ("view", "trigger"):
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,)).fetchall():
            db.execute(f'DROP {kind} IF EXISTS "{name}"')
    virtual = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
    for query in (virtual, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
        for (name,) in db.execute(query).fetchall():
            db.execute(f'DROP TABLE IF EXISTS "{name}"')


def wipe_freed_pages(db: sqlite3.Connection) -> None:
    """Leave no byte of deleted text in the file: after a redaction."""
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
