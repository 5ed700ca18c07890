"""Derived files held against what they were made from: the index against the log, the history against its tables."""

from __future__ import annotations

import sqlite3
from hashlib import blake2b

from backstory.errors import BackstoryError
from backstory.index import build
from backstory.index.folding import Folding
from backstory.project import integrity
from backstory.project.doctoring.finding import ADVICE, BAD, FIX, FIXED, GOOD, Check
from backstory.project.opened import Project
from backstory.project.reading import read_files
from backstory.project.refresh import bring_up_to_date
from backstory.project.verifying import Afresh

# What the log alone decides: no freshness, and nothing that was computed from other sources.
_SAID = (
    "SELECT id, at, kind, target, in_tree, in_journal, body FROM events WHERE event NOT IN (SELECT event FROM computed)"
    " ORDER BY id",
    "SELECT id, kind, standing, at, last_at, valid_until FROM entries WHERE source = 'log' ORDER BY id",
    "SELECT key, reason, target, value FROM tombstones ORDER BY key",
)


def of_index(project: Project, read: Afresh, *, fix: bool) -> list[Check]:
    """The index: sound as a file, and the same as one that is made from the log now."""
    checks = [Check("index", ADVICE, notice) for notice in project.notices]
    wrong = _damage(project.db)
    wrong = f"the index is damaged ({wrong})" if wrong else _difference(project, read)
    if not wrong:
        return [*checks, Check("index", GOOD, f"{project.config.places.index_path} is sound and current")]
    if not fix:
        return [*checks, Check("index", BAD, wrong, FIX)]
    project.db.close()
    project.db = build.remake(project.config.places.index_path)
    bring_up_to_date(project)
    return [*checks, Check("index", FIXED, f"{wrong}; it was made anew")]


def _damage(db: sqlite3.Connection) -> str:
    try:
        broken = db.execute("PRAGMA quick_check").fetchone()[0]
        if broken != "ok":
            # Some versions of SQLite see NULLs that are not there in a table whose key is not its first columns.
            broken = db.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.DatabaseError as error:
        broken = str(error)
    return "" if broken == "ok" else str(broken)


def _difference(project: Project, read: Afresh) -> str:
    """Fold the log once more, in memory; freshness and conflicts, most of the work, are left out.

    `read` is every line as it was read before; what was written since is read on.
    """
    twin = read.project
    try:
        touched = read.touched | read_files(twin.config, twin.db)[0]
        integrity.find_forged(twin, touched)
        Folding(twin.db, None, twin.config.settings.decay_days).run(touched)
        here, there = ([_digest(db, query) for query in _SAID] for db in (project.db, twin.db))
    except sqlite3.DatabaseError as error:
        return f"the index is damaged ({error})"
    return "" if here == there else "the index says something else than the log"


def _digest(db: sqlite3.Connection, query: str) -> str:
    found = blake2b(digest_size=16)
    for row in db.execute(query):
        found.update(repr(tuple(row)).encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def of_history(project: Project, *, fix: bool) -> list[Check]:
    """The history: nothing where it was never asked for; else whole, unchanged since it was written, and current."""
    from backstory.history import store

    if not store.was_used(project.config.places.history_dir):
        return []
    damage = _history_damage(project.config.places.history_dir)
    if not damage and _is_current(project):
        return [Check("history", GOOD, "the history is sound and current")]
    what = damage or "sources have changed since the history was read; the next question to it reads them"
    if not fix:
        step = FIX if damage else "`backstory history refresh`, if you want it now"
        return [Check("history", BAD if damage else ADVICE, what, step)]
    from backstory.project.history.refresh import refresh

    refresh(project, rebuild=bool(damage))
    said = f"{damage}; it was read anew" if damage else "the history was brought up to date"
    return [Check("history", FIXED, said)]


def _is_current(project: Project) -> bool:
    from backstory.project.history.refresh import is_current

    return is_current(project)


def _history_damage(folder: str) -> str:
    """What is wrong with the tables, "" for nothing; one that is not there is made by the next question to it."""
    import duckdb

    from backstory.history import build as tables
    from backstory.history import store

    pointer = store.current(folder)
    if pointer is None:
        return ""
    try:
        with store.open_reader(folder) as db:
            for name, value in pointer.meta.items():
                if name.startswith("hash:") and tables.table_hash(db, name[5:]) != value:
                    return f"the history's table {name[5:]} is not as it was written"
    except BackstoryError as error:
        return f"the history is damaged: {error.message}"
    except duckdb.Error as error:
        return f"the history is damaged: {str(error).splitlines()[0][:200]}"
    return ""
