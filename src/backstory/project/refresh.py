"""Opens a project with a current index.

Whether it is current is a handful of `stat` calls; only when it is not, `catching_up` is loaded, with all that folding
and judging take.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable

from backstory.config import Config, load
from backstory.errors import BackstoryError
from backstory.index.store import file_sizes, meta, open_ready
from backstory.project import currency
from backstory.project.opened import Project, now_micros
from backstory.recall.stamps import file_moved

_UNBOUNDED = 600.0
# Entries whose cited file is missing that one question looks for again.
MOST_GONE = 200
# SQLite's primary result codes for a file that is no sound index: ERROR (a table is missing), CORRUPT, NOTADB.
_DAMAGE = (1, 11, 26)


def open_project(start: str, *, now: int | None = None, seconds: float = _UNBOUNDED) -> Project:
    """The project around `start`, its index current; `BackstoryError` when there is none.

    An index that cannot be written is made in memory for this one command.
    """
    config = load(start)
    return open_config(config, now=now, seconds=seconds)


def open_config(config: Config, *, now: int | None = None, seconds: float = _UNBOUNDED) -> Project:
    """As `open_project`, for a configuration that was read already."""
    moment = now_micros() if now is None else now
    db, notices = _open_index(config)
    project = Project(config, db, moment)
    project.notices += notices
    bring_up_to_date(project, seconds=seconds)
    return project


def _open_index(config: Config) -> tuple[sqlite3.Connection, list[str]]:
    ready = open_ready(config.places.index_path)
    if ready is not None:
        return ready, []
    from backstory.index import build

    try:
        db, why = build.open_for_writing(config.places.index_path)
    except (OSError, sqlite3.OperationalError) as error:
        return build.in_memory(), [f"the index cannot be written ({error}); this answer was made without it"]
    return db, [f"{why}; rebuilt from the log"] if why and why != "no index yet" else []


def _fresh_index(config: Config, error: sqlite3.DatabaseError) -> tuple[sqlite3.Connection, str]:
    """An index in place of one that failed, and how that is said."""
    from backstory.index import build

    if getattr(error, "sqlite_errorcode", 1) & 0xFF not in _DAMAGE:
        return build.in_memory(), f"the index cannot be used ({error}); this answer was made without it"
    try:
        return build.remake(config.places.index_path), f"the index was damaged ({error}) and was rebuilt"
    except (OSError, sqlite3.DatabaseError):
        return build.in_memory(), f"the index was damaged ({error}); this answer was made without it"


def bring_up_to_date(project: Project, *, seconds: float = _UNBOUNDED) -> None:
    """Refresh the index of an open project if anything it rests on has changed.

    An index that turns out damaged is made again; where that fails too, or the file is in use or cannot be written,
    the project goes on with one in memory. A write that is in the log is never reported as failed because of this.
    """
    if not project.config.private and currency.has_pending(project.config.places):
        _finish_for_the_dead(project.config)
    try:
        _catch_up(project, seconds)
    except sqlite3.DatabaseError as error:
        project.db.close()
        project.db, notice = _fresh_index(project.config, error)
        project.notices.append(notice)
        _catch_up(project, seconds)


def _finish_for_the_dead(config: Config) -> None:
    """Do what a killed writer left undone. One that lives holds the lock and does it itself: nobody waits for it."""
    from backstory.log.append import finish_pending
    from backstory.log.lock import held

    try:
        with held(config.places.shared_dir, wait_seconds=0):
            finish_pending(config)
    except BackstoryError:
        return


def _catch_up(project: Project, seconds: float) -> None:
    known = meta(project.db)
    behind = currency.state(project.config.places, file_sizes(project.db), known)
    undone = known.get("unjudged", "[]") != "[]" or known.get("unredacted", "[]") != "[]"
    if behind or undone:
        from backstory.project.catching_up import catch_up

        catch_up(project, behind, first="marker" not in known, deadline=time.monotonic() + seconds)


def compare_all(project: Project) -> None:
    """Compare what still waits for it: after a bulk of new entries, for answers about conflicts."""
    from backstory.recall import conflicts

    project.db.execute("BEGIN IMMEDIATE")
    try:
        conflicts.catch_up(project.db, project.now)
        project.db.execute("COMMIT")
    except BaseException:
        project.db.execute("ROLLBACK")
        raise


def recheck(project: Project, ids: Iterable[str]) -> bool:
    """Judge again what among the entries `ids` cites files that changed since; True when anything was."""
    db, rows = project.db, []
    for id_ in ids:
        rows += db.execute(
            "SELECT f.entry, f.path, f.stamp FROM entries AS e JOIN entry_files AS f USING (entry) WHERE e.id = ?",
            (id_,),
        ).fetchall()
    return _judge_moved(project, {entry for entry, path, mark in rows if _moved(project, path, mark)})


def recheck_all(project: Project) -> None:
    """As `recheck`, for every entry that cites a file, each path once: for answers about staleness itself."""
    db = project.db
    stale: set[int] = set()
    for path, mark in db.execute("SELECT DISTINCT path, stamp FROM entry_files").fetchall():
        if _moved(project, path, mark):
            rows = db.execute("SELECT entry FROM entry_files WHERE path = ? AND stamp = ?", (path, mark))
            stale.update(row[0] for row in rows)
    # A missing file may have turned up under another name since, which no stamp tells.
    gone = db.execute("SELECT entry, path, place FROM entry_files WHERE stamp = '-' LIMIT ?", (MOST_GONE,)).fetchall()
    if gone:
        from backstory.project.catching_up import turned_up

        stale |= turned_up(project, gone)
    _judge_moved(project, stale)


def _moved(project: Project, path: str, mark: str) -> bool:
    return file_moved(os.path.join(project.root, path), mark)


def _judge_moved(project: Project, stale: set[int]) -> bool:
    if not stale:
        return False
    from backstory.project.catching_up import judge_again

    judge_again(project, stale)
    return True
