"""The sessions of agents in the history: what they recorded, and what their transcripts say that they did.

A session is a row whether it recorded something, or only left a transcript on this machine. What transcripts alone tell
is NULL where there is none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from backstory.project.opened import Project
from backstory.project.sessions.answers import archive

Row = tuple[Any, ...]

# Columns of the archive in the order of the table, behind what the log tells.
_OF_TRANSCRIPT = (
    "client", "title", "parent", "provider", "model", "branch", "began", "ended", "turns", "calls", "failed", "edits",
    "tokens_read", "tokens_written", "outcome",
)  # fmt: skip


def signature(project: Project) -> str:
    """Changes whenever the archive has something new; "" without one."""
    with archive(project) as db:
        if db is None:
            return ""
        digest = blake2b(digest_size=16)
        query = "SELECT session, id, turns, calls, ended, outcome FROM sessions ORDER BY session"
        for row in db.execute(query):
            digest.update(repr(row).encode("utf-8", "replace"))
        return digest.hexdigest()


def sessions(project: Project, events: Sequence[Row], entry_ids: set[str]) -> Iterator[Row]:
    """Rows of `sessions`: those of the log, from the rows of `events`, joined with those of the archive."""
    logged = _logged(events, entry_ids)
    with archive(project) as db:
        read = _archived(db) if db is not None else {}
    for session in sorted(logged.keys() | read.keys()):
        agent, first, last, entries, count = logged.get(session, (None, None, None, 0, 0))
        told, commits = read.get(session, ((None,) * len(_OF_TRANSCRIPT), []))
        began, ended = told[6], told[7]
        yield (
            session, agent or told[0], _least(first, began), _most(last, ended), entries, count,
            *(value if value != "" else None for value in (*told[:6], *told[8:])), commits,
        )  # fmt: skip


def session_files(project: Project) -> Iterator[Row]:
    """Rows of `session_files`: what entries of a session cite, and what the session read and edited."""
    cited = {(session, path): at for session, path, at in project.db.execute(
        "SELECT session, path, last_at FROM session_files")}  # fmt: skip
    with archive(project) as db:
        done = {} if db is None else {
            (id_, path): (reads, edits, at)
            for id_, path, reads, edits, at in db.execute(
                "SELECT s.id, f.path, f.reads, f.edits, f.last_at FROM session_files f JOIN sessions s USING (session)"
                " ORDER BY s.session DESC")
        }  # fmt: skip
    for session, path in sorted(cited.keys() | done.keys()):
        reads, edits, at = done.get((session, path), (None, None, None))
        yield session, path, _most(cited.get((session, path)), at), (session, path) in cited, reads, edits


def _logged(rows: Sequence[Row], entry_ids: set[str]) -> dict[str, Row]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row[6] and row[1] is not None:
            found.setdefault(row[6], []).append(row)
    told = {}
    for session, mine in found.items():
        mine.sort(key=lambda row: (row[1], row[0]))
        # What capture wrote of a session says nothing of its agent.
        named = [row[5] for row in mine if row[5] and row[4] == "agent"] or [row[5] for row in mine if row[5]]
        count = sum(row[0] in entry_ids for row in mine)
        told[session] = (named[-1] if named else None, mine[0][1], mine[-1][1], count, len(mine))
    return told


def _archived(db: sqlite3.Connection) -> dict[str, tuple[Row, list[str]]]:
    names = ", ".join(_OF_TRANSCRIPT)
    made: dict[int, list[str]] = {}
    for session, sha in db.execute("SELECT session, sha FROM session_commits ORDER BY session, offset, sha"):
        made.setdefault(session, []).append(sha)
    found = {}
    for number, id_, *told in db.execute(f"SELECT session, id, {names} FROM sessions ORDER BY session DESC"):
        found[id_] = (tuple(told), made.get(number, []))
    return found


def _least(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _most(*values: int | None) -> int | None:
    return max((value for value in values if value is not None), default=None)
