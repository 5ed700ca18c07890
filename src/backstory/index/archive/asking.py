"""Reads the archive: lists of sessions, one session whole, the place behind a moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from backstory.index.filters import below, numbers


class Session(msgspec.Struct, frozen=True, array_like=True):
    """A session's row, with where its transcript lies. Instants are microseconds, None where nobody wrote them."""

    session: int
    id: str
    client: str
    parent: str
    agent: str
    title: str
    provider: str
    model: str
    version: str
    branch: str
    cwd: str
    began: int | None
    ended: int | None
    tokens_read: int
    tokens_written: int
    tokens_cached: int
    turns: int
    calls: int
    failed: int
    edits: int
    outcome: str
    lost: int
    unknown: int
    path: str
    part: str


class Turn(msgspec.Struct, frozen=True, array_like=True):
    """A turn's row."""

    turn: int
    session: int
    number: int
    offset: int
    until: int
    at: int | None
    asked: str
    said: str
    calls: int
    failed: int
    edits: int


class Call(msgspec.Struct, frozen=True, array_like=True):
    """A call's row."""

    call: int
    session: int
    turn: int
    offset: int
    at: int | None
    tool: str
    does: str
    command: str
    outcome: str
    code: int | None
    error: str


class Touched(msgspec.Struct, frozen=True, array_like=True):
    """What a session did to a file."""

    path: str
    session: int
    reads: int
    edits: int
    first_at: int | None
    last_at: int | None
    offset: int


_SESSION = f"""SELECT {", ".join("s." + name for name in Session.__struct_fields__[:-2])}, t.path, t.part
    FROM sessions s JOIN transcripts t ON t.transcript = s.session"""


def _sessions(db: sqlite3.Connection, rest: str, values: Sequence[object] = ()) -> list[Session]:
    return [msgspec.convert(row, Session) for row in db.execute(f"{_SESSION} {rest}", tuple(values))]


def sessions(
    db: sqlite3.Connection, *, limit: int, client: str = "", path: str = "", branch: str = "", since: int | None = None,
    until: int | None = None, agents: bool = False,
) -> list[Session]:  # fmt: skip
    """The newest sessions first; sub-agents only with `agents`. `path` is a file or a folder that they touched."""
    parts: list[tuple[str, tuple[object, ...]]] = [] if agents else [("s.agent = ''", ())]
    if client:
        parts.append(("s.client = ?", (client,)))
    if branch:
        parts.append(("s.branch = ?", (branch,)))
    if path:
        inner = "SELECT session FROM session_files WHERE path = ? OR (path >= ? AND path < ?)"
        parts.append((f"s.session IN ({inner})", (path, *below(path))))
    if since is not None:
        parts.append(("s.ended >= ?", (since,)))
    if until is not None:
        parts.append(("s.began < ?", (until,)))
    where = " AND ".join(part for part, _ in parts) or "1"
    values = [value for _, several in parts for value in several]
    return _sessions(db, f"WHERE {where} ORDER BY s.ended DESC, s.id LIMIT ?", [*values, limit])


def by_id(db: sqlite3.Connection, id_: str) -> list[Session]:
    """The sessions that an id, its beginning or its end names: one when it is whole."""
    exact = _sessions(db, "WHERE s.id = ? ORDER BY s.session", (id_,))
    if exact or not id_:
        return exact[:1]
    like = id_.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rest = "WHERE (s.id LIKE ? ESCAPE '\\' OR s.id LIKE ? ESCAPE '\\') AND s.agent = '' ORDER BY s.ended DESC LIMIT 20"
    return _sessions(db, rest, (f"{like}%", f"%{like}"))


def was_here(db: sqlite3.Connection, id_: str) -> str:
    """The transcript of a session that was taken out because that is gone; "" for one that never was here."""
    row = db.execute("SELECT path FROM gone WHERE id = ?", (id_,)).fetchone()
    return str(row[0]) if row else ""


def by_numbers(db: sqlite3.Connection, found: Sequence[int]) -> dict[int, Session]:
    """Sessions by their row's number."""
    rows = _sessions(db, f"WHERE s.session IN ({numbers(found)})")
    return {row.session: row for row in rows}


def agents_of(db: sqlite3.Connection, id_: str) -> list[Session]:
    """The sub-agents that a session started, the first first."""
    return _sessions(db, "WHERE s.parent = ? AND s.agent <> '' ORDER BY s.began, s.id", (id_,))


def turns(db: sqlite3.Connection, session: int) -> list[Turn]:
    """The turns of a session in order."""
    names = ", ".join(Turn.__struct_fields__)
    rows = db.execute(f"SELECT {names} FROM turns WHERE session = ? ORDER BY number, turn", (session,))
    return [msgspec.convert(row, Turn) for row in rows]


def turn_at(db: sqlite3.Connection, session: int, at: int) -> Turn | None:
    """The turn of a session that a moment falls into: the last one that began before it."""
    names = ", ".join(Turn.__struct_fields__)
    sql = f"SELECT {names} FROM turns WHERE session = ? AND at <= ? ORDER BY at DESC, number DESC LIMIT 1"
    row = db.execute(sql, (session, at)).fetchone()
    return msgspec.convert(row, Turn) if row else None


def turn_of(db: sqlite3.Connection, session: int, offset: int) -> Turn | None:
    """The turn of a session that a place in its transcript belongs to."""
    names = ", ".join(Turn.__struct_fields__)
    sql = f"SELECT {names} FROM turns WHERE session = ? AND offset <= ? ORDER BY offset DESC LIMIT 1"
    row = db.execute(sql, (session, offset)).fetchone()
    return msgspec.convert(row, Turn) if row else None


def calls(db: sqlite3.Connection, session: int, *, failed: bool = False) -> list[Call]:
    """The calls of a session in order, or those that failed."""
    names = ", ".join(Call.__struct_fields__)
    only = " AND error <> ''" if failed else ""
    rows = db.execute(f"SELECT {names} FROM calls WHERE session = ?{only} ORDER BY offset, call", (session,))
    return [msgspec.convert(row, Call) for row in rows]


def files(db: sqlite3.Connection, session: int) -> list[Touched]:
    """The files that a session touched, edited ones first."""
    names = ", ".join(Touched.__struct_fields__)
    sql = f"SELECT {names} FROM session_files WHERE session = ? ORDER BY edits DESC, reads DESC, path"
    return [msgspec.convert(row, Touched) for row in db.execute(sql, (session,))]


def commits(db: sqlite3.Connection, session: int) -> list[tuple[str, int | None, int]]:
    """(short sha, time, offset) of the commits that a session made."""
    sql = "SELECT sha, at, offset FROM session_commits WHERE session = ? ORDER BY offset"
    return [(sha, at, offset) for sha, at, offset in db.execute(sql, (session,))]


def of_path(db: sqlite3.Connection, path: str, limit: int) -> list[tuple[Touched, Session]]:
    """The sessions that touched a file or what is below a folder, those that edited it first, the newest first."""
    names = ", ".join(Touched.__struct_fields__)
    sql = f"""SELECT {names} FROM session_files WHERE path = ? OR (path >= ? AND path < ?)
        ORDER BY edits = 0, last_at DESC LIMIT ?"""
    rows = [msgspec.convert(row, Touched) for row in db.execute(sql, (path, *below(path), limit))]
    known = by_numbers(db, [row.session for row in rows])
    return [(row, known[row.session]) for row in rows if row.session in known]


def of_commit(db: sqlite3.Connection, sha: str, limit: int = 5) -> list[Session]:
    """The sessions that made a commit, given by its whole id."""
    found = [sha[:length] for length in range(7, len(sha) + 1)]
    marks = ", ".join("?" * len(found))
    inner = f"SELECT session FROM session_commits WHERE sha IN ({marks})"
    return _sessions(db, f"WHERE s.session IN ({inner}) ORDER BY s.ended DESC LIMIT ?", (*found, limit))


def totals(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Sessions, turns, and bytes of the transcripts that have something of this project."""
    return tuple(db.execute("""SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM turns),
        (SELECT coalesce(sum(size), 0) FROM (SELECT max(size) AS size FROM transcripts WHERE ours = 1 GROUP BY path))
        """).fetchone())  # fmt: skip
