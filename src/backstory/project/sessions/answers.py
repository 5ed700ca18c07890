"""What can be asked of the archive of sessions: which there were, what one did, where words were said, how to go on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.index.archive import asking, store
from backstory.index.search import Hit
from backstory.index.search import search as full_text
from backstory.index.snippets import Snippets
from backstory.index.terms import parse_query
from backstory.project.opened import Project
from backstory.project.sessions import reading
from backstory.project.sessions.texts import between, found_of, lines_of, texts_from, unread
from backstory.recall import live
from backstory.recall.view import View, views
from backstory.records.times import format_instant

_MOST_FAILED, _MOST_FILES, _MOST_TURNS = 20, 50, 200
# What a snippet can come from is a document; one turn may have several.
_PER_TURN = 3


class SessionRow(msgspec.Struct, frozen=True):
    """A session in a list. `began` and `ended` are instants (ISO 8601), "" where nobody wrote them.

    `transcript` is the file that it was read from, `gone` says that the file is no longer there.
    """

    id: str
    client: str
    title: str
    began: str
    ended: str
    minutes: int
    model: str
    branch: str
    turns: int
    calls: int
    failed: int
    edits: int
    outcome: str
    parent: str
    agent: str
    transcript: str
    gone: bool


class TurnRow(msgspec.Struct, frozen=True):
    """A turn: what was asked, how it ended, and where it stands in the transcript."""

    number: int
    at: str
    asked: str
    said: str
    calls: int
    failed: int
    edits: int
    offset: int


class Failure(msgspec.Struct, frozen=True):
    """A call that failed."""

    at: str
    command: str
    error: str
    code: int | None
    offset: int


class FileRow(msgspec.Struct, frozen=True):
    """A file that a session touched."""

    path: str
    reads: int
    edits: int


class SessionDetail(msgspec.Struct, frozen=True):
    """One session whole: what was asked and done, what failed, what came of it, where it stopped."""

    session: SessionRow
    version: str
    provider: str
    cwd: str
    tokens_read: int
    tokens_written: int
    tokens_cached: int
    lost: int
    unknown: int
    turns: tuple[TurnRow, ...]
    failures: tuple[Failure, ...]
    files: tuple[FileRow, ...]
    commits: tuple[str, ...]
    agents: tuple[SessionRow, ...]
    entries: tuple[View, ...]


class Passage(msgspec.Struct, frozen=True):
    """A place in a session where words were found."""

    session: str
    client: str
    turn: int
    at: str
    title: str
    snippet: str
    score: float
    mode: str
    transcript: str
    offset: int
    gone: bool


class Sessions(msgspec.Struct, frozen=True):
    """A list of sessions, the newest first; `more` when the limit cut some off."""

    sessions: tuple[SessionRow, ...]
    more: bool = False


class Passages(msgspec.Struct, frozen=True):
    """Where words were found, best first."""

    query: str
    passages: tuple[Passage, ...]
    more: bool = False


@contextmanager
def archive(project: Project) -> Iterator[sqlite3.Connection | None]:
    """The archive as it is, or None where nothing was read yet."""
    db = store.open_ready(reading.archive_path(project.config))
    try:
        yield db
    finally:
        if db is not None:
            db.close()


def refreshed(project: Project, env: Mapping[str, str], home: str, progress: reading.Progress | None) -> reading.Report:
    """Read what is new; `BackstoryError` where the person turned it off."""
    report = reading.refresh(project.config, env, home, progress=progress)
    if report.stopped == "off":
        raise BackstoryError(
            "Reading the transcripts of sessions is turned off for this project.",
            hint="Turn it on with `backstory sessions on`.",
            code=Exit.REFUSED,
        )
    project.notices += [f"a transcript could not be read: {why}" for why in report.unreadable[:5]]
    return report


def listed(
    project: Project, *, limit: int, client: str = "", path: str = "", branch: str = "", since: int | None = None,
    until: int | None = None, agents: bool = False,
) -> Sessions:  # fmt: skip
    """The sessions of this project."""
    with archive(project) as db:
        if db is None:
            return Sessions(())
        found = asking.sessions(
            db, limit=limit + 1, client=client, path=path, branch=branch, since=since, until=until, agents=agents
        )
    return Sessions(tuple(map(_row, found[:limit])), len(found) > limit)


def shown(project: Project, ref: str) -> SessionDetail:
    """One session; `BackstoryError` where none or several have that id."""
    with archive(project) as db:
        session = _one(db, ref)
        assert db is not None
        entries = _entries(project, session.id)
        return SessionDetail(
            session=_row(session),
            version=session.version,
            provider=session.provider,
            cwd=session.cwd or ".",
            tokens_read=session.tokens_read,
            tokens_written=session.tokens_written,
            tokens_cached=session.tokens_cached,
            lost=session.lost,
            unknown=session.unknown,
            turns=tuple(map(_turn, asking.turns(db, session.session)[:_MOST_TURNS])),
            failures=tuple(map(_failure, asking.calls(db, session.session, failed=True)[-_MOST_FAILED:])),
            files=tuple(FileRow(f.path, f.reads, f.edits) for f in asking.files(db, session.session)[:_MOST_FILES]),
            commits=tuple(dict.fromkeys(sha for sha, _, _ in asking.commits(db, session.session))),
            agents=tuple(map(_row, asking.agents_of(db, session.id))),
            entries=tuple(entries),
        )


def found(
    project: Project, query: str, *, limit: int, path: str | None = None, since: int | None = None,
    until: int | None = None, client: str = "", without: str = "",
) -> Passages:  # fmt: skip
    """Where the words of `query` were said, asked or run. `without` is a session that is left out: the asking one."""
    with archive(project) as db:
        if db is None:
            return Passages(query, ())
        asking_one = "SELECT p.document FROM passages p JOIN sessions s USING (session) WHERE s.id = ?"
        where, params = (f"d.rowid NOT IN ({asking_one})", (without,)) if without else ("", ())
        best: dict[str, Hit] = {}
        for hit in _hits(
            db, query, limit=_PER_TURN * limit + 1, sources=("session",), kinds=(client,) if client else (), path=path,
            since=since, until=until, where=where, params=params, now=project.now,
        ):  # fmt: skip
            best.setdefault(hit.ref.partition(".")[0], hit)
        kept = list(best.values())[:limit]
        return Passages(query, tuple(_passages(db, query, kept)), len(best) > limit)


def _hits(db: sqlite3.Connection, query: str, **given: Any) -> list[Hit]:
    """Which passages are found. No text is read for it but where a word was taken for a misspelling of another."""
    hits = full_text(db, query, texts=unread, **given)
    if any(hit.mode == "fuzzy" for hit in hits):
        return full_text(db, query, texts=lambda documents: texts_from(db, documents), **given)
    return hits


def _passages(db: sqlite3.Connection, query: str, hits: Sequence[Hit]) -> Iterator[Passage]:
    """The hits with their places; the snippets of those that have none are read from the transcripts."""
    places = {hit.ref: _place(db, hit.ref) for hit in hits}
    asked = parse_query(query).terms
    bare = [places[hit.ref][0] for hit in hits if hit.mode != "fuzzy"]
    told: dict[int, str] = {}
    if bare:
        words = [word for term in asked for word in term.literals]
        match = " OR ".join(term.widest for term in asked)
        with closing(Snippets()) as snippets:
            told = snippets.of(texts_from(db, bare, words), match, words)
    for hit in hits:
        document, session, path, number, offset = places[hit.ref]
        yield Passage(
            session, hit.kind, number, _instant(hit.at), hit.title, told.get(document, hit.snippet),
            round(hit.score, 4), hit.mode, path, offset, not os.path.exists(path),
        )  # fmt: skip


def _place(db: sqlite3.Connection, ref: str) -> tuple[int, str, str, int, int]:
    """(document, session, transcript, turn, offset) of a passage."""
    found: tuple[int, str, str, int, int] = db.execute(
        """SELECT p.document, s.id, t.path, n.number, p.offset FROM documents d JOIN passages p ON p.document = d.rowid
           JOIN sessions s ON s.session = p.session JOIN transcripts t ON t.transcript = p.session
           JOIN turns n ON n.turn = p.turn WHERE d.source = 'session' AND d.ref = ?""",
        (ref,),
    ).fetchone()
    return found


def excerpt(project: Project, ref: str, number: int, limit: int = 200) -> list[tuple[str, str]]:
    """(who, text) of one turn of a session, read from its transcript; empty when that is gone."""
    with archive(project) as db:
        session = _one(db, ref)
        assert db is not None
        turn = next((turn for turn in asking.turns(db, session.session) if turn.number == number), None)
        if turn is None:
            raise BackstoryError(
                f"The session {session.id} has no turn {number}.",
                hint=f"`backstory sessions show {session.id}` lists its turns.",
            )
        lines = lines_of(between(found_of(session), turn.offset, turn.until))
        return [line for line, _ in zip(lines, range(limit), strict=False)]


def _one(db: sqlite3.Connection | None, ref: str) -> asking.Session:
    found = asking.by_id(db, ref.strip()) if db is not None else []
    if len(found) == 1:
        return found[0]
    if found:
        raise BackstoryError(
            f"{ref[:80]!r} is the beginning of several sessions.",
            hint="Say more of it: " + ", ".join(session.id for session in found[:5]) + ".",
        )
    raise BackstoryError(
        f"No session {ref[:80]!r} of this project is known here.",
        hint="`backstory sessions list` lists them.",
    )


def _entries(project: Project, session: str) -> Sequence[View]:
    # What was withdrawn is no result of a session any more.
    where = (
        "e.session = :session AND :session <> '' AND e.standing IN ('active', 'confirmed', 'contested', 'proposed')"
        f" AND {live.IN_FORCE} ORDER BY e.at, e.id LIMIT 200"
    )
    return views(project.db, where, {"session": session, "now": project.now}, project.now)


def _row(session: asking.Session) -> SessionRow:
    spent = (session.ended or 0) - (session.began or 0)
    return SessionRow(
        id=session.id,
        client=session.client,
        title=session.title,
        began=_instant(session.began),
        ended=_instant(session.ended),
        minutes=max(0, spent) // 60_000_000,
        model=session.model,
        branch=session.branch,
        turns=session.turns,
        calls=session.calls,
        failed=session.failed,
        edits=session.edits,
        outcome=session.outcome,
        parent=session.parent,
        agent=session.agent,
        transcript=session.path,
        gone=not os.path.exists(session.path),
    )


def _turn(turn: asking.Turn) -> TurnRow:
    at = _instant(turn.at)
    return TurnRow(turn.number, at, turn.asked, turn.said, turn.calls, turn.failed, turn.edits, turn.offset)


def _failure(call: asking.Call) -> Failure:
    return Failure(_instant(call.at), call.command or call.tool, call.error, call.code, call.offset)


def _instant(at: int | None) -> str:
    return format_instant(at) if at is not None else ""
