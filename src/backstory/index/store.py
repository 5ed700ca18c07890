"""Opens the index. Light: a hook imports this and `sqlite3`, nothing else.

The index is derived: missing, old or corrupt, it is made again. Readers see WAL snapshots and never wait for a writer.
"""

from __future__ import annotations

# The core of `sqlite3`: the module around it imports `datetime` and `collections`, 3 ms that a hook has no use for.
import _sqlite3 as sqlite3
import os

BUSY_SECONDS = 10.0
# Kept equal to `schema.VERSION` by a test: importing the schema here would cost every hook its text.
USER_VERSION = 6
# Found by reading, but no sign that anything was tampered with or lost.
NOTES = ("marker", "version", "leftover")


def connect(path: str) -> sqlite3.Connection:
    """A connection in autocommit mode; transactions are explicit (`BEGIN IMMEDIATE`: deferred ones lose writes)."""
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA synchronous=OFF")
    return db


def open_ready(path: str) -> sqlite3.Connection | None:
    """The index at `path` when it exists in this version, else None. Does not create or change anything."""
    if not os.path.exists(path):
        return None
    try:
        db = connect(path)
        if db.execute("PRAGMA user_version").fetchone()[0] == USER_VERSION:
            return db
        db.close()
    except sqlite3.DatabaseError:
        pass
    return None


def meta(db: sqlite3.Connection) -> dict[str, str]:
    """All of `index_meta`."""
    return dict(db.execute("SELECT key, value FROM index_meta"))


def file_sizes(db: sqlite3.Connection) -> dict[tuple[str, str], tuple[int, str]]:
    """(place, name) to (bytes read, stamp) of every file that the index has read."""
    return {(row[0], row[1]): (row[2], row[3]) for row in db.execute("SELECT place, name, size, stamp FROM files")}


def problem_count(db: sqlite3.Connection) -> int:
    """How many things the last read of the files found wrong; notes aside."""
    marks = ",".join("?" * len(NOTES))
    return int(db.execute(f"SELECT count(*) FROM problems WHERE why NOT IN ({marks})", NOTES).fetchone()[0])
