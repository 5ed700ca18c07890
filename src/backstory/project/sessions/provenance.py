"""Where something comes from: the turn of the session that an entry was recorded in, and what stands behind a file.

Everything here is read from the archive as it is; nothing is guessed. A session that is not known on this machine, or
whose transcript is gone, is said to be so.
"""

from __future__ import annotations

import os
import re
import sqlite3

import msgspec

from backstory.index.archive import asking
from backstory.project.opened import Project
from backstory.project.sessions.answers import archive
from backstory.project.sessions.texts import between, found_of, lines_of
from backstory.recall.view import View
from backstory.records.hostile import one_line
from backstory.records.secrets import redact
from backstory.records.times import format_instant, parse_instant
from backstory.sources.git import behind as git_behind

HERE, GONE, UNKNOWN = "here", "transcript gone", "not known here"
_PLACE = re.compile(r"^session (?P<session>\S+)#(?P<offset>\d+): (?P<shows>.*)$", re.DOTALL)
_MOST_PLACES, _MOST_LINES, _LINE = 6, 6, 300
_MOST_BEHIND = 5
# An edit this long before a commit may be what was committed.
_BEFORE = 24 * 3_600 * 1_000_000


class Place(msgspec.Struct, frozen=True):
    """A place that an entry comes from. `state` is here, "transcript gone", or "not known here".

    `lines` are what stands around it in the transcript, (who, text) each.
    """

    session: str
    state: str
    client: str = ""
    turn: int = 0
    at: str = ""
    asked: str = ""
    transcript: str = ""
    offset: int = -1
    shows: str = ""
    lines: tuple[tuple[str, str], ...] = ()


class CommitBehind(msgspec.Struct, frozen=True):
    """A commit behind a file or line, and the sessions that made it."""

    sha: str
    at: str
    subject: str
    sessions: tuple[str, ...] = ()


class SessionBehind(msgspec.Struct, frozen=True):
    """A session behind a file: how often it read and edited it, when last, and what it was asked."""

    id: str
    client: str
    title: str
    at: str
    reads: int
    edits: int
    outcome: str
    gone: bool
    turn: int = 0


class Behind(msgspec.Struct, frozen=True):
    """What stands behind a file, or behind `line` of it (0 for the whole file): commits and sessions, newest first."""

    line: int
    commits: tuple[CommitBehind, ...]
    sessions: tuple[SessionBehind, ...]


def of_entry(project: Project, view: View, *, texts: bool = True) -> tuple[Place, ...]:
    """The places that an entry comes from; () for one that no session recorded."""
    session = str(view.by.get("session", ""))
    places = [found for text in view.evidence if (found := _PLACE.match(text))]
    if not session and not places:
        return ()
    with archive(project) as db:
        if places:
            told = [
                _cited(db, one["session"], int(one["offset"]), one["shows"], texts) for one in places[:_MOST_PLACES]
            ]
            return tuple(told)
        return (_recorded(db, session, parse_instant(view.at), texts),)


def of_path(project: Project, path: str, line: int) -> Behind:
    """What stands behind a file or folder (from the root), or behind one line of it."""
    commits = _commits(project, path, line)
    with archive(project) as db:
        known = tuple(
            msgspec.structs.replace(one, sessions=tuple(found.id for found in asking.of_commit(db, one.sha)))
            for one in commits
        ) if db is not None else commits  # fmt: skip
        sessions = _sessions(db, path, known[0] if line and known else None) if db is not None and path else ()
    return Behind(line, known, sessions)


def _commits(project: Project, path: str, line: int) -> tuple[CommitBehind, ...]:
    if not project.config.places.git_dir:
        return ()
    if line:
        one = git_behind.of_line(project.root, path, line)
        found = [one] if one is not None else []
    else:
        found = git_behind.of_file(project.root, path, _MOST_BEHIND)
    return tuple(
        CommitBehind(commit.sha, format_instant(commit.time * 1_000_000), one_line(redact(commit.subject).text, 200))
        for commit in found
    )


def _sessions(db: sqlite3.Connection, path: str, commit: CommitBehind | None) -> tuple[SessionBehind, ...]:
    """The sessions that touched a file; of a line those that made its commit, or edited the file before it."""
    found = []
    until = parse_instant(commit.at) if commit else 0
    for touched, session in asking.of_path(db, path, 50):
        if commit is not None and session.id not in commit.sessions:
            at = touched.last_at or 0
            if not touched.edits or not until - _BEFORE <= at <= until + _BEFORE:
                continue
        turn = asking.turn_of(db, session.session, touched.offset)
        found.append(SessionBehind(
            id=session.id, client=session.client, title=turn.asked if turn and turn.asked else session.title,
            at=format_instant(touched.last_at) if touched.last_at else "", reads=touched.reads, edits=touched.edits,
            outcome=session.outcome, gone=not os.path.exists(session.path), turn=turn.number if turn else 0,
        ))  # fmt: skip
    return tuple(found[:_MOST_BEHIND])


def _cited(db: sqlite3.Connection | None, session: str, offset: int, shows: str, texts: bool) -> Place:
    """A place by its byte in the transcript."""
    row = _known(db, session)
    if row is None or db is None:
        return _unknown(db, session, offset, shows)
    turn = asking.turn_of(db, row.session, offset)
    return _place(row, turn, offset, shows, _around(row, offset, offset) if texts else ())


def _recorded(db: sqlite3.Connection | None, session: str, at: int, texts: bool) -> Place:
    """The turn in which an entry was written, by the clock."""
    row = _known(db, session)
    if row is None or db is None:
        return _unknown(db, session, -1, "")
    turn = asking.turn_at(db, row.session, at)
    lines = _around(row, turn.offset, turn.offset) if turn is not None and texts else ()
    return _place(row, turn, turn.offset if turn else -1, "", lines)


def _unknown(db: sqlite3.Connection | None, session: str, offset: int, shows: str) -> Place:
    path = asking.was_here(db, session) if db is not None else ""
    return Place(session, GONE if path else UNKNOWN, transcript=path, offset=offset, shows=shows)


def _known(db: sqlite3.Connection | None, session: str) -> asking.Session | None:
    found = asking.by_id(db, session) if db is not None and session else []
    return found[0] if len(found) == 1 and found[0].id == session else None


def _place(
    row: asking.Session, turn: asking.Turn | None, offset: int, shows: str, lines: tuple[tuple[str, str], ...]
) -> Place:
    return Place(
        session=row.id,
        state=HERE if os.path.exists(row.path) else GONE,
        client=row.client,
        turn=turn.number if turn else 0,
        at=format_instant(turn.at) if turn and turn.at is not None else "",
        asked=turn.asked if turn else "",
        transcript=row.path,
        offset=offset,
        shows=shows,
        lines=lines,
    )


def _around(row: asking.Session, start: int, until: int) -> tuple[tuple[str, str], ...]:
    lines = lines_of(between(found_of(row), start, until))
    return tuple((who, one_line(text, _LINE)) for (who, text), _ in zip(lines, range(_MOST_LINES), strict=False))
