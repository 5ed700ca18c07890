"""The log as it lies there: its files, what is wrong with them, and its events with the links of their chain."""

from __future__ import annotations

import msgspec

from backstory.project.opened import Project
from backstory.project.verifying import Finding, problems
from backstory.recall import live
from backstory.records.codec import read_fields


class LogFile(msgspec.Struct, frozen=True):
    """A file as it was read: `place` is log or journal, `tip` the hash of its last event."""

    place: str
    name: str
    lines: int
    size: int
    tip: str


class Line(msgspec.Struct, frozen=True):
    """An event: `target` and `reason` of an operation, `says` and the present `standing` of an entry.

    `h` and `prev` are its link in the chain.
    """

    id: str
    at: str
    kind: str
    target: str
    says: str
    standing: str
    by: str
    by_kind: str
    reason: str
    shard: str
    h: str
    prev: str
    in_tree: bool


class Logbook(msgspec.Struct, frozen=True):
    """`total` events; of them one page, newest first. `problems` as the last read found them."""

    total: int
    files: tuple[LogFile, ...]
    problems: tuple[Finding, ...]
    lines: tuple[Line, ...]


def logbook(project: Project, *, limit: int = 50, offset: int = 0) -> Logbook:
    """The files of the log and the journal, and a page of events."""
    db = project.db
    stored = "e.event NOT IN (SELECT event FROM computed)"
    total = db.execute(f"SELECT count(*) FROM events AS e WHERE {stored}").fetchone()[0]
    rows = db.execute(
        "SELECT e.body, e.shard, e.in_tree, coalesce(s.standing, ''), coalesce(s.valid_from, 0),"
        " s.valid_until FROM events AS e LEFT JOIN entries AS s ON"
        f" s.entry = e.event WHERE {stored} ORDER BY e.event DESC LIMIT ? OFFSET ?",
        (limit, offset),
    )
    files = db.execute("SELECT place, name, lines, size, tip FROM files ORDER BY place, name")
    return Logbook(
        int(total),
        tuple(LogFile(*row) for row in files),
        tuple(problems(project)),
        tuple(
            _line(body, shard, in_tree, live.standing_now(standing, start, end, project.now))
            for body, shard, in_tree, standing, start, end in rows
        ),
    )


def _line(body: str, shard: str, in_tree: int, standing: str) -> Line:
    fields = read_fields(body.encode("utf-8", "surrogatepass"))
    by = fields.get("by", {})
    return Line(
        id=str(fields["id"]),
        at=str(fields["at"]),
        kind=str(fields["kind"]),
        target=str(fields.get("target", "")),
        says=str(fields.get("summary", "")),
        standing=standing,
        by=str(by.get("name", "")),
        by_kind=str(by.get("kind", "")),
        reason=str(fields.get("reason", "")),
        shard=shard,
        h=str(fields.get("h", "")),
        prev=str(fields.get("prev", "")),
        in_tree=bool(in_tree),
    )
