"""Brings the index up to date: read what is new, fold it, judge freshness, keep the heads.

Two transactions: first log and fold, then git and freshness. When time runs out between them the answers are right
about the log and say that freshness is behind.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable

from backstory.errors import BackstoryError
from backstory.history import store
from backstory.index import build, computed
from backstory.index.folding import Folding
from backstory.log import faults, heads
from backstory.log.redact import blank, files_of, still_readable
from backstory.project import currency, history_window, integrity
from backstory.project.figures import Figures
from backstory.project.git_hooks import rewritten
from backstory.project.opened import Project
from backstory.project.reading import read_files
from backstory.recall import conflicts, freshness
from backstory.recall.render import display_line
from backstory.records.codec import read_event
from backstory.records.event import PERSON, Entry
from backstory.sources.git.head import head_id, head_signature
from backstory.sources.git.run import git

# Entries that a refresh compares for conflicts; a bulk of new ones waits until somebody asks for conflicts.
AT_ONCE = 50


def catch_up(project: Project, behind: str, *, first: bool, deadline: float) -> None:
    """Do what `behind` (log, settings, git, or "" for work left undone) asks for, until `deadline` (monotonic)."""
    written: set[int] = set()
    if behind in ("log", "settings") or (behind == "git" and integrity.in_doubt(project)):
        written = _refresh_log(project, everything=behind == "settings" and not first)
    written |= _finish_redactions(project)
    _take_rewritten(project)
    _refresh_ground(project, written, deadline)
    from backstory.project.sharing.arriving import bring_in

    places = project.config.places
    bring_in(project, head_signature(places.git_dir, places.common_dir) if places.git_dir else "")


def _refresh_log(project: Project, *, everything: bool) -> set[int]:
    config, db = project.config, project.db
    db.execute("BEGIN IMMEDIATE")
    try:
        faults.trip("refresh.begun")
        if _get(db, "projects") not in ("", " ".join(project.projects)):
            # Lines that belonged to nobody here may be ours now, and the other way round: read all of them again.
            db.execute("UPDATE files SET stamp = '0:0:0', tail = ''")
        seen = heads.read(config)
        touched, structural = read_files(config, db)
        if everything:
            touched |= {row[0] for row in db.execute("SELECT event FROM events")}
        integrity.find_forged(project, touched)
        figures = Figures(db, project.now)
        folding = Folding(db, display_line, config.settings.decay_days, figures.before)
        written = folding.run(touched)
        faults.trip("refresh.folded")
        integrity.compare(project, seen, structural=structural)
        _put(db, "marker", config.places.marker_signature())
        _put(db, "name", config.name)
        _put(db, "project", config.project)
        _put(db, "projects", " ".join(project.projects))
        _put(db, "unredacted", json.dumps(_unredacted(project, touched)))
        for name in config.settings.BRIEF:
            _put(db, f"setting:{name}", str(getattr(config.settings, name)))
        db.execute("DELETE FROM index_meta WHERE key LIKE 'decay:%'")
        for kind, days in config.settings.decay_days.items():
            _put(db, f"decay:{kind}", str(days))
        figures.keep()
        # Judged anew below; until then the entries that were written have no freshness but age.
        pending = set(json.loads(_get(db, "unjudged") or "[]")) | written
        _put(db, "unjudged", json.dumps(sorted(pending)))
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    faults.trip("refresh.committed")
    integrity.keep_heads(project)
    # Imported here: it opens the machine-wide log, and so this module.
    from backstory.project.sharing.following import follow

    follow(project, written)
    return written


def _take_rewritten(project: Project) -> None:
    """Which commits became which, as the hook of git kept it: what an entry rests on can be followed."""
    folder = project.config.places.derived_dir
    stamp = _stamp(os.path.join(folder, rewritten.NAME))
    if stamp == _get(project.db, "rewritten"):
        return
    db = project.db
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("DELETE FROM rewritten")
        db.executemany("INSERT INTO rewritten VALUES (?, ?)", rewritten.pairs(folder).items())
        _put(db, "rewritten", stamp)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _stamp(path: str) -> str:
    try:
        return currency.stamp(os.stat(path))
    except OSError:
        return ""


def _unredacted(project: Project, touched: set[int]) -> list[str]:
    """Events that a person had blanked and that a file of this clone still holds with their text.

    Files are searched only for what this refresh read, for what was found before, and for what is in broken lines.
    """
    db = project.db
    suspects = set(json.loads(_get(db, "unredacted") or "[]"))
    suspects.update(row[0] for row in db.execute("SELECT DISTINCT id FROM problems WHERE id <> ''"))
    rows = db.execute(
        "SELECT o.event, o.target, t.event, o.body FROM events AS o LEFT JOIN events AS t ON t.id = o.target"
        " WHERE o.kind = 'redact' AND o.in_tree + o.in_journal > 0"
    )
    todo = {
        target
        for operation, target, event, body in rows
        if (operation in touched or event in touched or target in suspects)
        and json.loads(body)["by"].get("kind") == PERSON
    }
    return sorted(still_readable(files_of(project.config), todo)) if todo else []


def _finish_redactions(project: Project) -> set[int]:
    """A redaction that was cut short, or came from another clone, is carried out in every file of this one."""
    todo = json.loads(_get(project.db, "unredacted") or "[]")
    if not todo:
        return set()
    try:
        blank(project.config, todo)
    except BackstoryError as error:
        project.notices.append(error.message)
        return set()
    return forget_text(project)


def forget_text(project: Project) -> set[int]:
    """Make the index anew after lines were blanked: full-text segments keep deleted words otherwise.

    The history goes whole; it is made again when somebody asks for it.
    """
    db = project.db
    store.forget(project.config.places.history_dir)
    try:
        build.make(db, force=True)
        written = _refresh_log(project, everything=False)
        build.wipe_freed_pages(db)
    except sqlite3.OperationalError as error:
        project.notices.append(f"the index still holds the text ({error}): delete {project.config.places.index_path}")
        return set()
    return written


def _refresh_ground(project: Project, written: set[int], deadline: float) -> None:
    config, db = project.config, project.db
    places = config.places
    signature = head_signature(places.git_dir, places.common_dir) if places.git_dir else ""
    db.execute("BEGIN IMMEDIATE")
    try:
        folded = set(json.loads(_get(db, "unjudged") or "[]")) | written
        moved: set[str] = set()
        if places.git_dir:
            try:
                head = head_id(places.git_dir, places.common_dir, project.root)
                moved = history_window.refresh(db, project.root, places.common_dir, head, folded, deadline)
                _put(db, "git_note", _get(db, "git_note") or "")
            except BackstoryError as error:
                _put(db, "git_note", history_window.no_git(error))
        # What was computed from a source is judged by age alone, and compared with nothing.
        folded -= {row[0] for row in db.execute("SELECT event FROM computed")}
        figures = Figures(db, project.now)
        numbers = folded | _citing(db, moved)
        figures.before(numbers)
        judge(project, numbers)
        conflicts.postpone(db, folded)
        conflicts.catch_up(db, project.now, most=AT_ONCE)
        _put(db, "head_signature", signature)
        _put(db, "unjudged", "[]")
        figures.keep()
        db.execute("COMMIT")
    except history_window.OutOfTime:
        db.execute("ROLLBACK")
        project.notices.append("freshness is behind: git took longer than the time allowed")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _citing(db: sqlite3.Connection, paths: set[str]) -> set[int]:
    """The entries that cite one of `paths`, under the name that the file has now or had when it was cited."""
    found: set[int] = set()
    names = sorted(paths)
    for start in range(0, len(names), 400):
        chunk = names[start : start + 400]
        marks = ",".join("?" * len(chunk))
        query = (
            f"SELECT entry FROM entry_files WHERE path IN ({marks})"
            f" UNION SELECT entry FROM entry_files WHERE cited <> path AND cited IN ({marks})"
        )
        found.update(row[0] for row in db.execute(query, [*chunk, *chunk]))
    return found


def judge(project: Project, numbers: Iterable[int]) -> None:
    """Judge the ground under the entries `numbers`, inside the caller's transaction."""
    config, db = project.config, project.db
    ground = freshness.Ground(db, project.root, config.settings.churn_commits, _Listing(project).moved)
    for number in sorted(numbers):
        row = db.execute(
            "SELECT e.last_at, v.body FROM entries AS e JOIN events AS v ON v.event = e.entry"
            " WHERE e.entry = ? AND e.source = 'log'",
            (number,),
        ).fetchone()
        if row is None:
            continue
        entry = read_event(row[1].encode())
        if isinstance(entry, Entry) and (entry.files or entry.revisit_when):
            reasons, places = ground.judge(entry, row[0])
            freshness.store(db, number, row[0], reasons, places)


def put_computed(project: Project, source: str, items: list[computed.Computed]) -> None:
    """Make `items` the entries of a source that no log holds, and fold them, in a transaction of its own."""
    db = project.db
    db.execute("BEGIN IMMEDIATE")
    try:
        touched = computed.replace(db, source, items)
        if touched:
            figures = Figures(db, project.now)
            Folding(db, display_line, project.config.settings.decay_days, figures.before).run(touched)
            figures.keep()
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def judge_again(project: Project, numbers: set[int]) -> None:
    """Judge entries whose cited files changed since, in a transaction of its own."""
    db = project.db
    db.execute("BEGIN IMMEDIATE")
    try:
        figures = Figures(db, project.now)
        figures.before(numbers)
        judge(project, numbers)
        figures.keep()
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def turned_up(project: Project, gone: Iterable[tuple[int, str, str]]) -> set[int]:
    """Of (entry, missing path, place in it), the entries whose file may have come back under another name."""
    listing = _Listing(project)
    found = set()
    for entry, path, place in gone:
        renamed, alike = listing.moved(path)
        # Without an anchor nothing but git can tell that another file is this one.
        if renamed or (place and alike):
            found.add(entry)
    return found


class _Listing:
    """Where a missing file may be: the files of the work tree, asked of git once and only when needed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._new: list[str] | None = None
        self._renamed: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}

    def moved(self, path: str) -> tuple[str, list[str]]:
        """Its new name when it was renamed with git ("" if not), and what it may be: new files, files of its name."""
        if self._new is None:
            self._new = self._changes()
            for item in self._git("ls-files", "-z"):
                self._by_name.setdefault(item.rpartition("/")[2], []).append(item)
        name = path.rpartition("/")[2]
        new = sorted(self._new, key=lambda item: (item.rpartition("/")[2] != name, item))[:40]
        tracked = sorted(set(self._by_name.get(name, ())) - {path, *new})[:20]
        return self._renamed.get(path, ""), new + tracked

    def _changes(self) -> list[str]:
        """Files that HEAD does not have; what was renamed on the way is kept."""
        new: list[str] = []
        items = iter(self._git("status", "--porcelain", "-z", "--untracked-files=all", "--find-renames"))
        for item in items:
            if item[:1] in "RC":
                self._renamed[next(items, "")] = item[3:]
            elif item[:1] == "A" or item[:2] == "??":
                new.append(item[3:])
        return new

    def _git(self, *arguments: str) -> list[str]:
        if not self.project.config.places.git_dir:
            return []
        result = git([*arguments], self.project.root, timeout=10.0)
        text = result.out.decode("utf-8", "surrogateescape") if result.code == 0 else ""
        return [item for item in text.split("\0") if item]


def _get(db: sqlite3.Connection, key: str) -> str:
    row = db.execute("SELECT value FROM index_meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else ""


def _put(db: sqlite3.Connection, key: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", (key, value))
