"""The memory's own rows in the history: entries with their standing, events, sessions.

Nothing that does not count leaves untagged, whatever a query asks for: the summary of a superseded or proposed entry
carries its tag, one with an end its day, and of what is retired, rejected or redacted only the frame is left.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from backstory.records.codec import BadLine, read_event
from backstory.records.event import By, Entry
from backstory.records.kinds.decision import Decision
from backstory.records.registry import LIVE
from backstory.records.times import format_instant, parse_instant

Row = tuple[Any, ...]

_WITHDRAWN = ("retired", "rejected")


class _Line(msgspec.Struct, frozen=True):
    """What `events` shows of a line."""

    by: By
    reason: str = ""


_LINE = msgspec.json.Decoder(_Line)


def signature(db: sqlite3.Connection) -> str:
    """Changes whenever one of the rows below may."""
    digest = blake2b(digest_size=16)
    for query in (
        "SELECT place, name, size, tail FROM files ORDER BY place, name",
        "SELECT id, standing, moved, last_at, in_tree, superseded_by, contested_with, source FROM entries ORDER BY id",
        "SELECT entry, path FROM entry_files WHERE cited <> path ORDER BY 1, 2",
        "SELECT e.id, e.body FROM computed AS c JOIN events AS e USING (event) ORDER BY e.id",
    ):
        for row in db.execute(query):
            digest.update(repr(row).encode("utf-8", "replace"))
    return digest.hexdigest()


def entries(db: sqlite3.Connection) -> Iterator[Row]:
    """Rows of `entries`."""
    query = (
        "SELECT e.id, e.kind, e.source, e.standing, e.at, e.last_at, e.stale_at, e.moved, e.valid_from, e.valid_until,"
        " e.outcome, e.by_kind, e.by_name, e.session, e.sessions, e.branch, e.in_tree, e.scope, e.case_of,"
        " e.superseded_by, e.contested_with, e.reason, v.body,"
        " (SELECT json_group_array(DISTINCT f.path) FROM entry_files AS f WHERE f.entry = e.entry)"
        " FROM entries AS e JOIN events AS v ON v.event = e.entry ORDER BY e.id"
    )
    for row in db.execute(query):
        yield _entry(row)


def _entry(row: Row) -> Row:
    (id_, kind, source, standing, at, last_at, stale_at, moved, valid_from, valid_until, outcome, by_kind, by_name,
     session, sessions, branch, in_tree, scope, case_of, superseded, contested, reason, body, files) = row  # fmt: skip
    entry = read_event(body.encode("utf-8", "surrogatepass"))
    assert isinstance(entry, Entry)
    shown = standing not in _WITHDRAWN and not entry.redacted
    # A text that needs a tag stands nowhere but behind it.
    counts = shown and standing in LIVE and bool(in_tree) and not valid_until
    return (
        id_, kind, source, standing,
        _tagged(entry.summary, standing, valid_until, "" if in_tree else branch or "unknown") if shown else None,
        (entry.detail or None) if counts else None,
        (entry.rationale or None) if counts and isinstance(entry, Decision) else None,
        outcome or None, at, last_at, stale_at, json.loads(moved) if moved else [],
        valid_from or None, valid_until, by_kind, by_name or None, session or None, sessions, branch or None,
        bool(in_tree), entry.commit or None, entry.ticket or None, case_of or None, scope or None,
        sorted(json.loads(files)), _ids(superseded), _ids(contested), reason or None,
    )  # fmt: skip


def _tagged(summary: str, standing: str, valid_until: int | None, away: str) -> str:
    tag = "" if standing in LIVE else f"[{standing}] "
    tag += f"[not in this tree, branch {away}] " if away else ""
    return tag + (f"[until {format_instant(valid_until)[:10]}] " if valid_until else "") + summary


def _ids(text: str) -> list[str]:
    return list(json.loads(text)) if text else []


def events(db: sqlite3.Connection) -> Iterator[Row]:
    """Rows of `events`; what was computed from a source is no event of the log."""
    query = (
        "SELECT id, at, kind, target, shard, in_tree, in_journal, body FROM events"
        " WHERE event NOT IN (SELECT event FROM computed) AND in_tree + in_journal > 0 ORDER BY id"
    )
    for id_, at, kind, target, shard, in_tree, in_journal, body in db.execute(query):
        try:
            line = _LINE.decode(body.encode("utf-8", "surrogatepass"))
        except msgspec.MsgspecError:
            line = _Line(By(kind="import"))
        by = line.by
        yield (
            id_, _instant(at), kind, target or None, by.kind, by.name or None, by.session or None, shard,
            bool(in_tree), bool(in_journal), line.reason or None,
        )  # fmt: skip


def _instant(text: str) -> int | None:
    try:
        return parse_instant(text)
    except (ValueError, BadLine):
        return None
