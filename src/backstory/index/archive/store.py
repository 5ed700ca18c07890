"""Opens the archive of sessions; made anew when it is missing, old or damaged."""

from __future__ import annotations

import os
import sqlite3

from backstory.index.archive.schema import TABLES, VERSION
from backstory.index.build import clear
from backstory.index.store import connect

NAME = "sessions.sqlite"


def path_in(folder: str) -> str:
    """Where the archive of a clone lies, in what all its work trees share."""
    return os.path.join(folder, NAME)


def open_ready(path: str) -> sqlite3.Connection | None:
    """The archive when it exists in this version, else None. Creates nothing."""
    if not os.path.exists(path):
        return None
    try:
        db = connect(path)
        if db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            return db
        db.close()
    except sqlite3.DatabaseError:
        pass
    return None


def open_for_writing(path: str) -> tuple[sqlite3.Connection, str]:
    """The archive, and why it was made anew ("" when it was not). `OSError`, `sqlite3.OperationalError`: no place."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        db = connect(path)
        db.execute("PRAGMA journal_mode=WAL")
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found == VERSION:
            db.execute("SELECT count(*) FROM transcripts").fetchone()
            return db, ""
        make(db)
        return db, f"version {found} of the archive of sessions, this is {VERSION}" if found else ""
    except sqlite3.OperationalError as error:
        if any(word in str(error) for word in ("locked", "readonly", "unable to open")):
            raise
        return _remake(path), f"the archive of sessions was damaged ({error})"
    except sqlite3.DatabaseError as error:
        return _remake(path), f"the archive of sessions was damaged ({error})"


def make(db: sqlite3.Connection) -> None:
    """Drop everything and create the tables, in one transaction inside the live file."""
    db.execute("BEGIN IMMEDIATE")
    try:
        clear(db)
        for statement in TABLES:
            db.execute(statement)
        db.execute(f"PRAGMA user_version={VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def delete(path: str) -> bool:
    """Remove the archive; whether there was one."""
    there = os.path.exists(path)
    for name in (path, f"{path}-wal", f"{path}-shm", f"{path}-journal"):
        try:
            os.unlink(name)
        except FileNotFoundError:
            continue
    return there


def _remake(path: str) -> sqlite3.Connection:
    delete(path)
    db = connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    make(db)
    return db
