"""Runs capture: reads sessions as stories, asks the detectors, and writes what is new through the gateway.

Promises: reading the same transcript again adds nothing; what was rejected, retired or superseded stays out and is
counted; what a session proposes is bounded; nothing is committed of a transcript but what an entry says of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b

import msgspec

from backstory.index.archive import asking, finds, store
from backstory.project.capture import writing
from backstory.project.capture.candidate import Candidate
from backstory.project.capture.detectors import known as detectors
from backstory.project.capture.story import Story
from backstory.project.capture.telling import story_of
from backstory.project.opened import Project
from backstory.project.sessions import reading
from backstory.project.sessions.owning import Owner
from backstory.project.sessions.taking import key_of
from backstory.project.sessions.texts import found_of
from backstory.records.secrets import redact
from backstory.sources.transcripts import known as clients
from backstory.sources.transcripts.contract import Found
from backstory.sources.transcripts.stream import Item

# What repeats is looked for in so many of the newest sessions.
MOST_TOGETHER = 50
_SHOWN = 200

Progress = Callable[[int, int], None]


class Proposal(msgspec.Struct, frozen=True):
    """What became of a candidate: recorded, confirmed (said again), known, dropped or refused; planned in a dry run."""

    status: str
    kind: str
    summary: str
    detector: str
    session: str
    offset: int
    id: str = ""
    standing: str = ""
    why: str = ""


class Captured(msgspec.Struct):
    """What a run of capture did. `proposals` are those that are news; the counts are of all."""

    sessions: int = 0
    recorded: int = 0
    active: int = 0
    confirmed: int = 0
    contested: int = 0
    known: int = 0
    dropped: int = 0
    refused: int = 0
    dry_run: bool = False
    # "" when all was looked at; else why not: off, or time.
    stopped: str = ""
    proposals: list[Proposal] = []


def capture(
    project: Project, env: Mapping[str, str], home: str, *, only: Iterable[Found] | None = None,
    since: int | None = None, dry_run: bool = False, together: bool = True, seconds: float = 3_600.0,
    progress: Progress | None = None,
) -> Captured:  # fmt: skip
    """Look at the sessions that have something new. `together` looks for what several have in common, too."""
    report = reading.refresh(project.config, env, home, only=only, seconds=seconds, progress=progress)
    if report.stopped == "off":
        return Captured(stopped="off", dry_run=dry_run)
    db, _ = store.open_for_writing(reading.archive_path(project.config))
    try:
        run = _Capture(project, db, dry_run)
        new = finds.waiting(db, since)
        if only is not None:
            changed = set(report.changed)
            new = [session for session in new if session.session in changed]
        for number, session in enumerate(new):
            if progress is not None:
                progress(number, len(new))
            run.look_at(session)
        if together and new:
            run.look_together()
        run.result.stopped = report.stopped
        return run.result
    finally:
        db.close()


class _Capture:
    """One run."""

    def __init__(self, project: Project, db: sqlite3.Connection, dry_run: bool) -> None:
        self.project, self.db = project, db
        self.owner = Owner(project.config)
        self.result = Captured(dry_run=dry_run)
        self.writer = writing.Writer(project, dry_run)

    def look_at(self, session: asking.Session) -> None:
        """One session: its own finds, and the fixes that other sessions made too."""
        story = self._story(session)
        everything = detectors.all_of(story)
        self.result.sessions += 1
        cleaned = [_clean(candidate) for candidate in everything]
        self._keep(session, cleaned)
        for candidate in detectors.best(everything):
            self._write(candidate, session)
        pairs = [(session.id, candidate) for candidate in cleaned]
        for id_, body in finds.repeated(self.db, [candidate.key for candidate in cleaned if candidate.key]):
            pairs.append((id_, msgspec.json.decode(body, type=Candidate)))
        for candidate in detectors.repeated_fix.across(_told_differently(pairs)):
            self._write(candidate, session)
        if not self.result.dry_run:
            # Not before: what was stopped in the middle is looked at again, and knows by its marks what it wrote.
            finds.looked_at(self.db, session.session)

    def look_together(self) -> None:
        """What the newest sessions have in common."""
        sessions = finds.recent(self.db, MOST_TOGETHER)
        if not sessions:
            return
        stories = [self._story(session) for session in sessions]
        for candidate in detectors.across(stories):
            self._write(candidate, sessions[-1])

    def _story(self, session: asking.Session) -> Story:
        story = story_of(
            self._items(session), self.owner, client=session.client, name=session.id,
            is_copy=lambda key: finds.copies(self.db, session.session, key_of(key)),
        )  # fmt: skip
        # The id by which the archive knows it, and by which it is cited.
        return msgspec.structs.replace(story, session=session.id)

    def _items(self, session: asking.Session) -> Iterator[Item]:
        try:
            yield from clients.open_reader(found_of(session))
        except OSError:
            return

    def _keep(self, session: asking.Session, found: list[Candidate]) -> None:
        if self.result.dry_run:
            return
        self.db.execute("BEGIN IMMEDIATE")
        rows = [(one.detector, one.evidence[0].offset, one.key, msgspec.json.encode(one).decode()) for one in found]
        finds.keep(self.db, session.session, rows)
        self.db.execute("COMMIT")

    def _write(self, candidate: Candidate, session: asking.Session) -> None:
        result, written = self.result, self.writer.write(candidate, session)
        result.recorded += written.status in ("recorded", "planned")
        result.active += written.standing == "active"
        result.confirmed += written.status == "confirmed"
        result.contested += written.contested
        for status in ("known", "dropped", "refused"):
            setattr(result, status, getattr(result, status) + (written.status == status))
        if written.status != "known" and len(result.proposals) < _SHOWN:
            summary = redact(str(candidate.fields.get("summary", ""))).text
            result.proposals.append(Proposal(
                written.status, candidate.kind, summary, candidate.detector, session.id,
                candidate.evidence[0].offset, written.id, written.standing, written.why,
            ))  # fmt: skip


def _told_differently(pairs: list[tuple[str, Candidate]]) -> list[tuple[str, Candidate]]:
    """Without what is word for word the same in every session: that was confirmed already."""
    said: dict[str, set[object]] = {}
    for _, one in pairs:
        said.setdefault(one.key, set()).add(one.fields.get("summary"))
    return [(session, one) for session, one in pairs if len(said[one.key]) > 1]


def _clean(candidate: Candidate) -> Candidate:
    """The candidate without secrets, for the archive."""
    fields = {name: _redacted(value) for name, value in candidate.fields.items()}
    evidence = tuple(msgspec.structs.replace(one, shows=redact(one.shows).text) for one in candidate.evidence)
    # The beginning of a key says what kind it is. A failure that says nothing is like any other.
    kind, _, rest = candidate.key.partition(":")
    key = f"{kind}:{blake2b(rest.encode(), digest_size=8).hexdigest()}" if rest and not rest.startswith("|") else ""
    which = redact(candidate.which).text
    return msgspec.structs.replace(candidate, fields=fields, evidence=evidence, key=key, which=which)


def _redacted(value: object) -> object:
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, list | tuple):
        return [_redacted(item) for item in value]
    return value
