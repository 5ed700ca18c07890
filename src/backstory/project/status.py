"""`status`: what the memory holds, what waits, what is not in this tree, and what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from backstory.history import store
from backstory.index.archive.asking import totals
from backstory.project.opened import Project
from backstory.project.refresh import recheck_all
from backstory.project.sessions.answers import archive
from backstory.project.sessions.reading import archive_path, is_on
from backstory.project.verifying import folder_size, unknown_kinds
from backstory.recall import live
from backstory.recall.conflicts import conflicting


class Status(msgspec.Struct, frozen=True):
    """Figures of one project. Sizes are bytes; `spent_tokens` is what models cost it: nothing, ever, in the core."""

    project: str
    name: str
    root: str
    branch: str
    private: bool
    kinds: dict[str, int]
    standings: dict[str, int]
    live: int
    stale: int
    waiting: int
    conflicts: int
    rejected_values: int
    not_in_tree: int
    not_in_tree_branches: dict[str, int]
    unknown_kinds: dict[str, int]
    problems: int
    session_entries: int
    log_bytes: int
    journal_bytes: int
    index_bytes: int
    notes: tuple[str, ...]
    # Rows of the history's tables, and entries computed from git and from decision records; empty before a refresh.
    history: dict[str, int]
    computed: dict[str, int]
    history_bytes: int
    # Sessions, their turns, and bytes of their transcripts, as far as they were read; `sessions_on` False: turned off.
    sessions: dict[str, int]
    sessions_on: bool
    archive_bytes: int
    spent_tokens: int = 0


def status(project: Project, session: str = "") -> Status:
    """The figures of an open project; `session` counts what that session added."""
    recheck_all(project)
    db, config = project.db, project.config
    now = {"now": project.now}
    held = f"{live.IN_FORCE} AND {live.LOGGED}"
    counts = dict(db.execute(f"SELECT e.kind, count(*) FROM live AS e WHERE {held} GROUP BY e.kind", now))
    stale = f"{held} AND {live.SPEAKS} AND {live.STALE}"
    away = dict(db.execute("SELECT branch, count(*) FROM entries WHERE in_tree = 0 GROUP BY branch ORDER BY branch"))
    grouped = "SELECT e.standing, count(*) FROM entries AS e WHERE {} GROUP BY e.standing ORDER BY e.standing"
    standings = dict(db.execute(grouped.format(live.LOGGED)))
    return Status(
        project=config.project,
        name=config.name,
        root=project.root,
        branch=project.branch,
        private=config.private,
        kinds=dict(sorted(counts.items())),
        standings=standings,
        live=sum(counts.values()),
        stale=_count(project, f"SELECT count(*) FROM live AS e WHERE {stale}", now),
        waiting=standings.get("proposed", 0) + standings.get("contested", 0),
        conflicts=len(conflicting(db)),
        rejected_values=_count(project, "SELECT count(*) FROM tombstones", {}),
        not_in_tree=sum(away.values()),
        not_in_tree_branches=away,
        unknown_kinds=unknown_kinds(project),
        problems=project.problem_count(),
        session_entries=_count(
            project, "SELECT count(*) FROM entries WHERE session = :session AND :session <> ''", {"session": session}
        ),
        log_bytes=folder_size(config.places.log_dir),
        journal_bytes=folder_size(config.places.journal_dir) if config.places.journal_dir else 0,
        index_bytes=_size(config.places.index_path),
        notes=tuple(_notes(project)),
        history=_history(config.places.history_dir),
        computed=dict(db.execute("SELECT source, count(*) FROM computed GROUP BY source ORDER BY source")),
        history_bytes=folder_size(config.places.history_dir),
        sessions=_sessions(project),
        sessions_on=is_on(config),
        archive_bytes=_size(archive_path(config)),
    )


def _sessions(project: Project) -> dict[str, int]:
    with archive(project) as db:
        return dict(zip(("sessions", "turns", "bytes"), totals(db), strict=True)) if db is not None else {}


def _history(folder: str) -> dict[str, int]:
    pointer = store.current(folder)
    hashes = pointer.meta if pointer else {}
    found = {key[5:]: int(value.partition(":")[0]) for key, value in hashes.items() if key.startswith("hash:")}
    return {name: count for name, count in found.items() if count}


def _count(project: Project, query: str, params: Mapping[str, object]) -> int:
    return int(project.db.execute(query, params).fetchone()[0])


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _notes(project: Project) -> list[str]:
    row = project.db.execute("SELECT value FROM index_meta WHERE key = 'git_note' AND value <> ''").fetchone()
    notes = [row[0]] if row else []
    if not project.config.places.git_dir:
        notes.append("no git here: freshness knows age and missing files, not commits")
    return notes
