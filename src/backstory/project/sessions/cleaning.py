"""Takes out of the archive what no longer has a source, words and all, and remembers which sessions there were."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping

import msgspec

from backstory.config import Config
from backstory.index import build
from backstory.index.archive import store, writing
from backstory.index.store import connect
from backstory.project.sessions import reading


class Dropped(msgspec.Struct, frozen=True):
    """Sessions that were taken out because their transcripts are gone, and the bytes of the archive."""

    sessions: tuple[str, ...] = ()
    before: int = 0
    after: int = 0


def clean(config: Config, env: Mapping[str, str], home: str) -> Dropped:
    """Drop what has no source any more. Full text cannot forget single words, so it is made anew from what is left."""
    path = reading.archive_path(config)
    db = store.open_ready(path)
    if db is None:
        return Dropped()
    before = _size(path)
    try:
        gone = _gone(db)
        if gone or db.execute("SELECT 1 FROM archive_meta WHERE key = 'last_forgotten'").fetchone():
            kept = [*db.execute("SELECT id, client, path FROM gone").fetchall(), *_told(db, gone)]
            store.make(db)
            db.executemany("INSERT OR REPLACE INTO gone (id, client, path) VALUES (?, ?, ?)", kept)
            db.close()
            reading.refresh(config, env, home)
            db = connect(path)
        build.wipe_freed_pages(db)
    finally:
        db.close()
    return Dropped(tuple(sorted(gone.values())), before, _size(path))


def _gone(db: sqlite3.Connection) -> dict[int, str]:
    """Sessions whose transcript is no longer there: number to id."""
    missing = {place.transcript for place in writing.places(db).values() if not os.path.exists(place.path)}
    rows = db.execute("SELECT session, id FROM sessions").fetchall()
    return {number: id_ for number, id_ in rows if number in missing}


def _told(db: sqlite3.Connection, gone: Mapping[int, str]) -> list[tuple[str, str, str]]:
    rows = db.execute(
        "SELECT s.session, s.id, s.client, t.path FROM sessions s JOIN transcripts t ON t.transcript = s.session"
    )
    return [(id_, client, path) for number, id_, client, path in rows if number in gone]


def _size(path: str) -> int:
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))
