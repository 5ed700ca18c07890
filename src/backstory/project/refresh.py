"""Opens a project with a current index: read what is new, fold it, judge freshness, keep the heads.

Two transactions: first log and fold, then git and freshness. When time runs out between them the answers are right
about the log and say that freshness is behind.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable

from backstory.config import Config, load
from backstory.errors import BackstoryError
from backstory.index import build
from backstory.index.folding import Folding
from backstory.index.store import file_sizes, meta
from backstory.log import faults
from backstory.log.append import finish_pending, has_pending
from backstory.log.lock import held
from backstory.log.redact import blank, files_of, still_readable
from backstory.project import currency, history_window, integrity
from backstory.project.opened import Project, now_micros
from backstory.project.reading import read_files
from backstory.recall import conflicts, freshness, live
from backstory.recall.render import display_line
from backstory.recall.stamps import file_moved
from backstory.records.codec import read_event
from backstory.records.event import Entry
from backstory.sources.git.head import head_commit, head_signature
from backstory.sources.git.run import git

_UNBOUNDED = 600.0
FAR = 1 << 62


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
    try:
        bring_up_to_date(project, seconds=seconds)
    except sqlite3.DatabaseError as error:
        # Found damaged while in use: derived, so made again; in memory if even that fails.
        db.close()
        project.db = _fresh_index(config)
        project.notices.append(f"the index was damaged ({error}) and was rebuilt")
        bring_up_to_date(project, seconds=seconds)
    return project


def _open_index(config: Config) -> tuple[sqlite3.Connection, list[str]]:
    try:
        db, why = build.open_for_writing(config.places.index_path)
    except (OSError, sqlite3.OperationalError) as error:
        return build.in_memory(), [f"the index cannot be written ({error}); this answer was made without it"]
    return db, [f"{why}; rebuilt from the log"] if why and why != "no index yet" else []


def _fresh_index(config: Config) -> sqlite3.Connection:
    try:
        return build.remake(config.places.index_path)
    except (OSError, sqlite3.DatabaseError):
        return build.in_memory()


def bring_up_to_date(project: Project, *, seconds: float = _UNBOUNDED) -> None:
    """Refresh the index of an open project if anything it rests on has changed."""
    config, db = project.config, project.db
    if not config.private and has_pending(config):
        with held(config.places.shared_dir):
            finish_pending(config)
    known = meta(db)
    behind = currency.state(config.places, file_sizes(db), known)
    if not behind:
        return
    deadline = time.monotonic() + seconds
    written: set[int] = set()
    if behind in ("log", "settings"):
        written = _refresh_log(project, everything=behind == "settings" and "marker" in known)
        _finish_redactions(project)
    _refresh_ground(project, written, deadline)


def _refresh_log(project: Project, *, everything: bool) -> set[int]:
    config, db = project.config, project.db
    db.execute("BEGIN IMMEDIATE")
    try:
        faults.trip("refresh.begun")
        touched, structural = read_files(config, db)
        if everything:
            touched |= {row[0] for row in db.execute("SELECT event FROM events")}
        folding = Folding(db, display_line, config.settings.decay_days)
        written = folding.run(touched)
        faults.trip("refresh.folded")
        integrity.compare(project, touched, structural=structural)
        _put(db, "marker", config.places.marker_signature())
        _put(db, "name", config.name)
        _put(db, "project", config.project)
        for name in config.settings.BRIEF:
            _put(db, f"setting:{name}", str(getattr(config.settings, name)))
        _figures(db, project.now)
        # Judged anew below; until then the entries that were written have no freshness but age.
        pending = set(json.loads(_get(db, "unjudged") or "[]")) | written
        _put(db, "unjudged", json.dumps(sorted(pending)))
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    faults.trip("refresh.committed")
    integrity.keep_heads(project)
    return written


def _finish_redactions(project: Project) -> None:
    """A redaction that was cut short, or came from another clone, is carried out in every file of this one."""
    db, config = project.db, project.config
    rows = db.execute(
        "SELECT DISTINCT target FROM events WHERE kind = 'redact' AND target <> '' AND in_tree + in_journal > 0"
    ).fetchall()
    if not rows:
        return
    todo = [row[0] for row in rows if any(still_readable(path, row[0]) for path in files_of(config))]
    if not todo:
        return
    try:
        blank(config, todo)
    except BackstoryError as error:
        project.notices.append(error.message)
        return
    _refresh_log(project, everything=False)
    build.wipe_freed_pages(db)


def _refresh_ground(project: Project, written: set[int], deadline: float) -> None:
    config, db = project.config, project.db
    places = config.places
    signature = head_signature(places.git_dir, places.common_dir) if places.git_dir else ""
    db.execute("BEGIN IMMEDIATE")
    try:
        moved = False
        if places.git_dir:
            try:
                head = head_commit(project.root)
                moved = history_window.refresh(db, project.root, places.common_dir, head, deadline)
                _put(db, "git_note", _get(db, "git_note") or "")
            except BackstoryError as error:
                _put(db, "git_note", history_window.no_git(error))
        numbers = set(json.loads(_get(db, "unjudged") or "[]")) | written
        if moved or _get(db, "head_signature") != signature:
            numbers = {row[0] for row in db.execute("SELECT DISTINCT entry FROM entry_files")} | numbers
        judge(project, numbers)
        conflicts.refresh(db, numbers, project.now)
        _put(db, "head_signature", signature)
        _put(db, "unjudged", "[]")
        _figures(db, project.now)
        db.execute("COMMIT")
    except history_window.OutOfTime:
        db.execute("ROLLBACK")
        project.notices.append("freshness is behind: git took longer than the time allowed")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def judge(project: Project, numbers: Iterable[int]) -> None:
    """Judge the ground under the entries `numbers`, inside the caller's transaction."""
    config, db = project.config, project.db
    ground = freshness.Ground(db, project.root, config.settings.churn_commits, lambda path: _same_name(project, path))
    for number in sorted(numbers):
        row = db.execute(
            "SELECT e.last_at, v.body FROM entries AS e JOIN events AS v ON v.event = e.entry WHERE e.entry = ?",
            (number,),
        ).fetchone()
        if row is None:
            continue
        entry = read_event(row[1].encode())
        if isinstance(entry, Entry) and (entry.files or entry.revisit_when):
            reasons, places = ground.judge(entry, row[0])
            freshness.store(db, number, row[0], reasons, places)


def recheck(project: Project, ids: Iterable[str]) -> bool:
    """Judge again what among the entries `ids` cites files that changed since; True when anything was."""
    db, stale = project.db, set()
    for id_ in ids:
        rows = db.execute(
            "SELECT f.entry, f.path, f.stamp FROM entries AS e JOIN entry_files AS f USING (entry) WHERE e.id = ?",
            (id_,),
        )
        stale |= {entry for entry, path, mark in rows if file_moved(os.path.join(project.root, path), mark)}
    if not stale:
        return False
    db.execute("BEGIN IMMEDIATE")
    try:
        judge(project, stale)
        _figures(db, project.now)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    return True


def recheck_all(project: Project) -> None:
    """As `recheck`, for every entry that cites a file: for answers about staleness itself."""
    recheck(
        project,
        [row[0] for row in project.db.execute("SELECT id FROM live WHERE entry IN (SELECT entry FROM entry_files)")],
    )


def _same_name(project: Project, path: str) -> list[str]:
    """Files of the work tree with the name of `path`, tracked or new; at most 20."""
    if not project.config.places.git_dir:
        return []
    name = path.rpartition("/")[2]
    result = git(["ls-files", "-z", "-co", "--exclude-standard"], project.root, timeout=10.0)
    listed = result.out.decode("utf-8", "surrogateescape").split("\0") if result.code == 0 else []
    return sorted(item for item in listed if item.rpartition("/")[2] == name and item != path)[:20]


def _figures(db: sqlite3.Connection, now: int) -> None:
    """Counts that a hook reads instead of counting: fresh entries by kind, stale ones and how long that holds."""
    fresh = f"{live.conditions(fresh=True, here=True)} AND e.standing <> 'contested'"
    counts = db.execute(f"SELECT e.kind, count(*) FROM live AS e WHERE {fresh} GROUP BY e.kind", {"now": now})
    db.execute("DELETE FROM index_meta WHERE key LIKE 'count:%'")
    for kind, count in counts.fetchall():
        _put(db, f"count:{kind}", str(count))
    contested = f"{live.conditions(fresh=True, here=True)} AND e.standing = 'contested'"
    total = db.execute(f"SELECT count(*) FROM live AS e WHERE {contested}", {"now": now}).fetchone()[0]
    _put(db, "contested_count", str(total))
    where = f"{live.IN_FORCE} AND {live.HERE} AND {live.SPEAKS} AND {live.STALE}"
    stale = db.execute(f"SELECT count(*) FROM live AS e WHERE {where}", {"now": now}).fetchone()[0]
    change = db.execute(
        "SELECT min(x) FROM (SELECT min(stale_at) AS x FROM live WHERE stale_at > :now UNION ALL"
        " SELECT min(valid_until) FROM live WHERE valid_until > :now UNION ALL"
        " SELECT min(valid_from) FROM live WHERE valid_from > :now)",
        {"now": now},
    ).fetchone()[0]
    _put(db, "stale_count", str(stale))
    _put(db, "stale_from", str(now))
    _put(db, "stale_until", str(change or FAR))


def _get(db: sqlite3.Connection, key: str) -> str:
    row = db.execute("SELECT value FROM index_meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else ""


def _put(db: sqlite3.Connection, key: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", (key, value))
