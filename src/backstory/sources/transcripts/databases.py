"""The SQLite files of other tools, opened so that they and their folder stay as they are.

Promise: nothing is written, no `-wal`, `-shm` or journal appears beside the database. A reader in WAL mode makes these
files where they are absent; so a database in that mode is opened as immutable when it has no log, and from a copy when
it has a log and no shared memory. A lock of its owner is waited for a quarter of a second.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import quote

from backstory.sources.transcripts.whole import LARGEST, Broken

_WAIT_SECONDS = 0.25


@contextmanager
def opened(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that reads. `OSError` when the file cannot be opened, `sqlite3.Error` when it is no database."""
    with open(path, "rb") as file:
        head = file.read(100)
    log, shared = os.path.exists(path + "-wal"), os.path.exists(path + "-shm")
    if log and not shared:
        with _copied(path) as copy, _connected(copy, "") as connection:
            yield connection
    else:
        # Byte 18 of the header is 2 in WAL mode; without its log no other process can have it open to write.
        immutable = not log and head[18:19] == b"\2"
        with _connected(path, "&immutable=1" if immutable else "") as connection:
            yield connection


@contextmanager
def _connected(path: str, more: str) -> Iterator[sqlite3.Connection]:
    uri = f"file:{quote(os.path.abspath(path))}?mode=ro{more}"
    with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS)) as connection:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only=1")
        try:
            yield connection
        except UnicodeError as exc:
            # Python's own reading of a name or of a message, in a file with flipped bytes.
            raise sqlite3.DatabaseError("a name that is no UTF-8") from exc


@contextmanager
def _copied(path: str) -> Iterator[str]:
    if os.path.getsize(path) + os.path.getsize(path + "-wal") > LARGEST:
        raise Broken(f"a database of more than {LARGEST >> 20} MB with a log that nobody reads")
    with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
        copy = os.path.join(folder, "copy.db")
        shutil.copyfile(path, copy)
        shutil.copyfile(path + "-wal", copy + "-wal")
        yield copy


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The names of a table's columns; none when there is no such table."""
    return frozenset(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))
