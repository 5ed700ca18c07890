"""How an entry is shown: one shape for every surface, with standing and freshness computed at `now`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from backstory.recall.brief import short_id
from backstory.recall.live import standing_now
from backstory.records.codec import read_event, read_fields
from backstory.records.event import MARK, Entry
from backstory.records.hostile import one_line
from backstory.records.times import DAY, format_instant, revisit_instant

COLUMNS = (
    "e.id, e.kind, e.standing, e.at, e.last_at, e.moved, e.valid_from, e.valid_until, e.in_tree, e.branch,"
    " e.superseded_by, e.contested_with, e.ended_at, e.ended_by, e.reason, e.held, e.closed, e.case_of, e.sessions,"
    " e.source, v.body, (SELECT m.value FROM index_meta AS m WHERE m.key = 'decay:' || e.kind)"
)
SOURCE = "entries AS e JOIN events AS v ON v.event = e.entry"
_LIVE = ("active", "confirmed", "contested")
# What is said of an entry that stands in no log.
READ_FROM = {"git": ("backed out, read from git",), "adr": ("read from a decision record",)}


class View(msgspec.Struct, frozen=True, omit_defaults=False):
    """An entry as an answer shows it.

    `tags` say in words what keeps it from counting as plainly true: superseded by X, stale, not in this tree ...
    `fields` are all fields of its line, known or not. Instants are ISO 8601.
    """

    id: str
    short: str
    kind: str
    standing: str
    fresh: bool
    stale_reasons: tuple[str, ...]
    summary: str
    at: str
    confirmed_at: str
    by: dict[str, str]
    branch: str
    in_tree: bool
    files: tuple[str, ...]
    issue: str
    superseded_by: tuple[str, ...]
    contested_with: tuple[str, ...]
    ended: dict[str, str]
    closed: bool
    sessions: int
    source: str
    tags: tuple[str, ...]
    evidence: tuple[str, ...]
    fields: dict[str, Any]

    @property
    def live(self) -> bool:
        """Whether it counts now."""
        return self.standing in _LIVE


def views(db: sqlite3.Connection, where: str, params: Sequence[object] | dict[str, object], now: int) -> list[View]:
    """The entries that `where` (over `entries AS e`, with its order and limit) selects."""
    return [view(db, row, now) for row in db.execute(f"SELECT {COLUMNS} FROM {SOURCE} WHERE {where}", params)]


def by_ids(db: sqlite3.Connection, ids: Iterable[str], now: int) -> dict[str, View]:
    """Views by id, for those that exist."""
    found = {}
    for id_ in ids:
        for item in views(db, "e.id = ?", (id_,), now):
            found[id_] = item
    return found


def view(db: sqlite3.Connection, row: Sequence[Any], now: int) -> View:
    """The view of one row of `COLUMNS`."""
    (id_, kind, kept, at, last_at, moved, valid_from, valid_until, in_tree, branch, superseded, contested,
     ended_at, ended_by, reason, held, closed, case_of, sessions, source, body, decay) = row  # fmt: skip
    entry = read_event(body.encode("utf-8", "surrogatepass"))
    assert isinstance(entry, Entry)
    standing = standing_now(kept, valid_from, valid_until, now)
    reasons = stale_reasons(entry, last_at, moved, now, int(decay) if decay else None)
    successors, against = _ids(superseded), _ids(contested)
    tags = _tags(db, standing, reasons, bool(in_tree), branch, successors, against, held, bool(closed))
    evidence = [f"session {entry.by.session}"] if entry.by.session else []
    evidence += [_commit(db, entry.commit)] if entry.commit else []
    evidence += [f"ticket {entry.ticket}"] if entry.ticket else []
    evidence += [text for text in entry.evidence if not text.startswith(MARK)]
    ended = {"at": format_instant(ended_at), "by": ended_by, "reason": reason} if ended_at else {}
    return View(
        id=id_,
        short=short_id(db, id_),
        kind=kind,
        standing=standing,
        fresh=not reasons,
        stale_reasons=tuple(reasons),
        summary=one_line(entry.summary, 300),
        at=format_instant(at),
        confirmed_at=format_instant(last_at) if last_at > at else "",
        by=msgspec.to_builtins(entry.by) | {"kind": entry.by.kind},
        branch=branch,
        in_tree=bool(in_tree),
        files=tuple(cited(ref) for ref in entry.files),
        issue=case_of,
        superseded_by=successors,
        contested_with=against,
        ended=ended,
        closed=bool(closed),
        sessions=sessions,
        source=source,
        tags=(*tags, *READ_FROM.get(source, ())),
        evidence=tuple(evidence),
        fields=read_fields(body.encode("utf-8", "surrogatepass")),
    )


def _commit(db: sqlite3.Connection, sha: str) -> str:
    """The commit that an entry rests on, and what a rebase made of it."""
    row = db.execute("SELECT new FROM rewritten WHERE old >= ? AND old < ? LIMIT 2", (sha, f"{sha}g")).fetchall()
    return f"commit {sha[:12]}, now {row[0][0][:12]}" if len(row) == 1 else f"commit {sha[:12]}"


def cited(ref: Any) -> str:
    """A reference as people write it: `path`, `path:10-20`, `path#symbol`."""
    if ref.symbol:
        return f"{ref.path}#{ref.symbol}"
    if ref.lines:
        first, last = ref.lines
        return f"{ref.path}:{first}" if first == last else f"{ref.path}:{first}-{last}"
    return str(ref.path)


def stale_reasons(entry: Entry, last_at: int, moved: str, now: int, setting: int | None = None) -> list[str]:
    """Every reason of staleness in words, those that depend on the clock included.

    `setting` are the days that the project set for the kind.
    """
    reasons: list[str] = json.loads(moved) if moved else []
    revisit = revisit_instant(entry.revisit_when)
    if revisit is not None and last_at < revisit <= now:
        reasons.append(f"author: to be revisited on {entry.revisit_when[:10]}")
    days = entry.decay_days if entry.decay_days is not None else setting or entry.decay
    if days is not None and last_at + days * DAY <= now:
        reasons.append(f"age: not confirmed for {days} days")
    return reasons


def _tags(
    db: sqlite3.Connection, standing: str, reasons: list[str], in_tree: bool, branch: str,
    successors: tuple[str, ...], against: tuple[str, ...], held: str, closed: bool,
) -> list[str]:  # fmt: skip
    tags = []
    if standing == "superseded" and successors:
        tags.append("superseded by " + ", ".join(short_id(db, id_) for id_ in successors))
    elif standing == "contested" and against:
        tags.append("contested with " + ", ".join(short_id(db, id_) for id_ in against))
    elif standing not in ("active", "confirmed"):
        tags.append(standing)
    tags += ["stale: " + "; ".join(reasons)] if reasons and standing in _LIVE else []
    tags += [] if in_tree else [f"not in this tree, branch {branch or 'unknown'}"]
    tags += [f"held: {held}"] if held else []
    tags += ["closed"] if closed else []
    return tags


def _ids(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()
