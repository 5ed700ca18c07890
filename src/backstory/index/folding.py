"""Writes the fold into the index: entries, tombstones, documents, what they cite.

Works on the events that changed and on the groups they belong to, so that an append costs the same at a hundred
events and at a hundred thousand. The same code builds everything.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable
from hashlib import blake2b
from typing import Any

import msgspec

from backstory.index import documents, failed
from backstory.records import operations as ops
from backstory.records.codec import BadLine, read_event
from backstory.records.event import CAPTURE, IMPORT, PERSON, By, Entry, Event
from backstory.records.fold import Given, Held, Seen, Standing, Tombstone, fold, tombstones
from backstory.records.ids import is_id
from backstory.records.kinds.trial import Trial
from backstory.records.registry import KINDS, OPERATIONS
from backstory.records.times import DAY, parse_instant, revisit_instant
from backstory.records.value import value_key

_CHUNK = 400
_AT_ONCE = 20_000
_OPERATION_KINDS = tuple(OPERATIONS)

Render = Callable[[Entry], tuple[str, int]]


def value_hash(text: str) -> str:
    """The key of a value in tombstones and duplicate look-ups: a hash, so that a redacted text leaves no trace."""
    return blake2b(value_key(text).encode("utf-8", "replace"), digest_size=12).hexdigest()


def value_of(entry: Entry) -> str:
    """The text that stands for what an entry says. A hot file's is bound to its path."""
    path = getattr(entry, "path", "")
    return f"{path} {entry.summary}" if path else entry.summary


class Folding:
    """One pass over changed events, inside the caller's transaction.

    Without `render` only what entries count for is written: no line, no files, no words for search, no patch.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        render: Render | None,
        decay_days: dict[str, int],
        ahead: Callable[[Collection[int]], object] = len,
    ) -> None:
        # `ahead` is told the numbers of entries before they change.
        self.db, self.render, self.decay_days, self.ahead = db, render, decay_days, ahead
        self.forged: set[str] = set()
        # Whether a rejection or its lifting is among the events: else the tombstones stand as they are.
        self.judged = False
        self.rejected: dict[str, Tombstone] = {}

    def run(self, touched: set[int]) -> set[int]:
        """Fold what `touched` events (numbers) concern; the numbers of the entries written."""
        self.forged = {row[0] for row in self.db.execute("SELECT id FROM problems WHERE why = 'forged'")}
        ids, gone = self._concerned(touched)
        ids |= self._tombstones()
        # Before anything goes: what a vanished entry replaced has to be folded anew.
        todo = closure(self.db, ids)
        self.ahead(gone)
        self._drop(gone)
        written: set[int] = set()
        while todo:
            # Whole groups: an entry and what replaces it must never be folded apart.
            group = closure(self.db, set(sorted(todo)[:_AT_ONCE])) if len(todo) > _AT_ONCE else todo
            todo = todo - group
            written |= self._fold(sorted(group))
        self._close_cases(written, gone)
        return written

    # -- which entries

    def _concerned(self, touched: set[int]) -> tuple[set[str], set[int]]:
        """Ids of entries that the touched events are or act on; numbers of events that are nowhere any more."""
        ids: set[str] = set()
        gone: set[int] = set()
        for chunk in chunks(sorted(touched), _CHUNK):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT event, id, kind, target, in_tree + in_journal, body FROM events WHERE event IN ({marks})"
            for event, id_, kind, target, present, body in self.db.execute(query, chunk):
                if not present:
                    gone.add(event)
                self.judged = self.judged or kind in ("reject", "lift")
                if kind in KINDS:
                    ids.add(id_)
                    self._link(event, body)
                elif target:
                    ids.add(target)
        self._link_operations(ids)
        return ids, gone

    def _link(self, event: int, body: str) -> None:
        if '"supersedes":' not in body:
            return
        supersedes = json.loads(body).get("supersedes") or ()
        self.db.executemany("INSERT OR IGNORE INTO links VALUES (?, ?)", ((event, str(id_)) for id_ in supersedes))

    def _link_operations(self, ids: set[str]) -> None:
        """Link `ids` with the other entries that operations on them name, whichever of the two came first."""
        for chunk in chunks(sorted(ids), _CHUNK):
            query = (
                "SELECT t.event, o.body FROM events AS o JOIN events AS t ON t.id = o.target WHERE o.kind IN"
                f" ('resolve', 'contest', 'retire') AND o.target <> '' AND o.target IN ({','.join('?' * len(chunk))})"
            )
            for number, body in self.db.execute(query, chunk).fetchall():
                fields = json.loads(body)
                for other in (fields.get("over"), fields.get("against"), fields.get("successor")):
                    if other:
                        self.db.execute("INSERT OR IGNORE INTO links VALUES (?, ?)", (number, str(other)))

    def _drop(self, gone: set[int]) -> None:
        for event in sorted(gone):
            row = self.db.execute("SELECT id FROM events WHERE event = ?", (event,)).fetchone()
            self._forget(event, row[0])
            self.db.execute("DELETE FROM links WHERE one = ?", (event,))
            self.db.execute("DELETE FROM computed WHERE event = ?", (event,))
            self.db.execute("DELETE FROM conflicts WHERE one = ? OR other = ?", (row[0], row[0]))
            self.db.execute("DELETE FROM events WHERE event = ?", (event,))

    def _forget(self, entry: int, id_: str) -> None:
        self.db.execute("DELETE FROM entries WHERE entry = ?", (entry,))
        self.db.execute("DELETE FROM entry_files WHERE entry = ?", (entry,))
        failed.forget(self.db, entry)
        documents.remove(self.db, "entry", id_)

    def _tombstones(self) -> set[str]:
        """Bring the table up to date; ids of entries whose value's rejection changed."""
        if not self.judged:
            rows = self.db.execute("SELECT key, op, at, by_name, reason, target, value FROM tombstones")
            self.rejected = {row[0]: Tombstone(*row) for row in rows}
            return set()
        before = dict(self.db.execute("SELECT key, op FROM tombstones"))
        rows = self.db.execute("SELECT body FROM events WHERE kind IN ('reject', 'lift') AND in_tree + in_journal > 0")
        events = [event for (body,) in rows if isinstance(event := self._read(body), ops.Operation)]
        now = tombstones(events)
        changed = {
            key for key in before.keys() | now.keys() if before.get(key) != (now[key].op if key in now else None)
        }
        self.db.execute("DELETE FROM tombstones")
        self.db.executemany(
            "INSERT INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((t.key, t.op, t.at, t.by, t.reason, t.target, t.value) for t in now.values()),
        )
        self.rejected = now
        found: set[str] = set()
        for chunk in chunks(sorted(changed), _CHUNK):
            query = f"SELECT id FROM entries WHERE value_key IN ({','.join('?' * len(chunk))})"
            found.update(row[0] for row in self.db.execute(query, chunk))
        return found

    # -- folding and writing

    def _read(self, body: str) -> Event | None:
        """The event of a body; None for one that is no event. What this clone never wrote has nobody's authority."""
        try:
            event = read_event(body.encode("utf-8", "surrogatepass"))
        except BadLine:
            return None
        if event.id not in self.forged:
            return event
        nobody = By(kind=IMPORT, name=event.by.name)
        if isinstance(event, Entry):
            return msgspec.structs.replace(event, by=nobody, held="not written here")
        return msgspec.structs.replace(event, by=nobody)

    def _fold(self, ids: list[str]) -> set[int]:
        entries: dict[str, Held] = {}
        numbers: dict[str, int] = {}
        operations: dict[str, list[Seen]] = {}
        for chunk in chunks(ids, _CHUNK):
            marks = ",".join("?" * len(chunk))
            mine = (
                "SELECT e.event, e.id, e.in_tree, e.body, c.source, c.level, c.why, c.successors FROM events AS e"
                f" LEFT JOIN computed AS c ON c.event = e.event WHERE e.id IN ({marks}) AND e.target = ''"
            )
            for number, id_, in_tree, body, *given in self.db.execute(mine, chunk):
                entry = self._read(body)
                if isinstance(entry, Entry):
                    entries[id_] = Held(entry, value_hash(value_of(entry)), bool(in_tree), _given(*given))
                    numbers[id_] = number
            # `target <> ''` lets the partial index be used: without it every write scans all events.
            theirs = (
                f"SELECT target, in_tree, body FROM events WHERE target IN ({marks}) AND target <> ''"
                " AND in_tree + in_journal > 0"
            )
            for target, in_tree, body in self.db.execute(theirs, chunk):
                op = self._read(body)
                if isinstance(op, ops.Operation):
                    operations.setdefault(target, []).append(Seen(op, bool(in_tree)))
        self.ahead(numbers.values())
        for id_, standing in fold(entries, operations, self.rejected).items():
            self._write(numbers[id_], entries[id_], standing)
        return set(numbers.values())

    def _write(self, number: int, held: Held, standing: Standing) -> None:
        entry = held.entry
        at = parse_instant(entry.at)
        last_at = max(_happened(entry, at), standing.confirmed_at)
        line, cost = self.render(entry) if self.render else ("", 0)
        self._forget(number, entry.id)
        row = {
            "entry": number,
            "id": entry.id,
            "backwards": entry.id[::-1],
            "kind": entry.kind,
            "source": held.given.source if held.given else "log",
            "standing": standing.standing,
            "at": at,
            "last_at": last_at,
            "stale_at": self._stale_at(entry, last_at),
            "moved": "",
            "valid_from": parse_instant(entry.valid_from) if entry.valid_from else 0,
            "valid_until": parse_instant(entry.valid_until) if entry.valid_until else None,
            "in_tree": int(held.in_tree),
            "branch": entry.branch,
            "by_kind": entry.by.kind,
            "by_name": entry.by.name,
            "session": entry.by.session,
            "sessions": standing.sessions,
            # Freshness reads history from the oldest commit on that an entry cites; a computed one is judged by age.
            "commit_id": "" if held.given else entry.commit,
            "scope": entry.scope,
            # A mark of people alone, whoever merged the line in.
            "pinned": int(entry.pinned and entry.by.kind == PERSON),
            "outcome": entry.outcome if isinstance(entry, Trial) else "",
            "summary": line,
            "cost": cost,
            "value_key": held.key,
            "case_of": entry.id if entry.kind == "issue" else entry.issue,
            "closed": 0,
            "held": entry.held,
            "superseded_by": _list(standing.superseded_by),
            "contested_with": _list(standing.contested_with),
            "ended_at": standing.ended_at,
            "ended_by": standing.ended_by,
            "reason": standing.reason,
        }
        self.db.execute(_INSERT_ENTRY, row)
        if self.render and not entry.redacted:
            self._cite(number, entry, last_at, "*" if held.given else "")
            if isinstance(entry, Trial):
                failed.write(self.db, number, entry)
            self._document(entry, at)

    def _stale_at(self, entry: Entry, last_at: int) -> int | None:
        decay = entry.decay_days if entry.decay_days is not None else self.decay_days.get(entry.kind, entry.decay)
        age = None if decay is None else last_at + decay * DAY
        revisit = revisit_instant(entry.revisit_when)
        known = [instant for instant in (age, revisit if revisit and revisit > last_at else None) if instant]
        return min(known) if known else None

    def _cite(self, number: int, entry: Entry, last_at: int, stamp: str) -> None:
        rows = {}
        for ref in entry.files:
            place = f"#{ref.symbol}" if ref.symbol else f"{ref.lines[0]}-{ref.lines[1]}" if ref.lines else ""
            rows[(ref.path, place)] = (ref.path, last_at, number, folder_of(ref.path), ref.path, place, stamp)
        self.db.executemany("INSERT OR IGNORE INTO entry_files VALUES (?, ?, ?, ?, ?, ?, ?)", rows.values())
        if entry.by.session:
            self.db.executemany(
                "INSERT INTO session_files VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET last_at = max(last_at, excluded.last_at)",
                ((ref.path, entry.by.session, last_at) for ref in entry.files),
            )

    def _document(self, entry: Entry, at: int) -> None:
        prose = entry.prose()
        title = prose.pop("summary", "")
        paths = [ref.path for ref in entry.files]
        documents.put(self.db, "entry", entry.id, entry.kind, at, title, "\n".join(prose.values()), paths)

    def _close_cases(self, written: set[int], gone: set[int]) -> None:
        """An issue is closed by a live fix of its case."""
        cases: set[str] = set()
        for chunk in chunks(sorted(written), _CHUNK):
            query = (
                f"SELECT DISTINCT case_of FROM entries WHERE case_of <> '' AND entry IN ({','.join('?' * len(chunk))})"
            )
            cases.update(row[0] for row in self.db.execute(query, chunk))
        if gone:
            cases.update(row[0] for row in self.db.execute("SELECT id FROM entries WHERE kind = 'issue'"))
        for case in sorted(case for case in cases if is_id(case)):
            self.ahead([row[0] for row in self.db.execute("SELECT entry FROM entries WHERE id = ?", (case,))])
            # The unary plus keeps the planner on the index of cases: by kind it would read every fix there is.
            self.db.execute(
                "UPDATE entries SET closed = EXISTS (SELECT 1 FROM entries AS f"
                " WHERE f.case_of = ?1 AND f.case_of <> '' AND +f.kind = 'fix'"
                " AND +f.standing IN ('active', 'confirmed', 'contested')"
                " AND (f.in_tree = 1 OR entries.in_tree = 0)) WHERE id = ?1 AND +kind = 'issue'",
                (case,),
            )


_ENTRY_COLUMNS = (
    "entry id backwards kind source standing at last_at stale_at moved valid_from valid_until in_tree branch"
    " by_kind by_name session sessions commit_id scope pinned outcome summary cost value_key case_of"
    " closed held superseded_by contested_with ended_at ended_by reason"
).split()
_INSERT_ENTRY = f"INSERT INTO entries ({','.join(_ENTRY_COLUMNS)}) VALUES ({','.join(':' + c for c in _ENTRY_COLUMNS)})"


def _happened(entry: Entry, at: int) -> int:
    """What capture found is as old as what it saw happen, whenever the transcript was read."""
    seen = parse_instant(entry.valid_from) if entry.by.name == CAPTURE and entry.valid_from else at
    return min(at, seen)


def folder_of(path: str) -> str:
    """The folder of a path, "" at the top."""
    return path.rpartition("/")[0]


def _given(source: str | None, level: str, why: str, successors: str) -> Given | None:
    return Given(source, level, why, tuple(json.loads(successors))) if source else None


def _list(ids: tuple[str, ...]) -> str:
    return msgspec.json.encode(ids).decode() if ids else ""


def closure(db: sqlite3.Connection, ids: Collection[str]) -> set[str]:
    """`ids` and every entry linked with them, directly or not: what must be folded together."""
    todo, seen = set(ids), set(ids)
    while todo:
        found: set[str] = set()
        for chunk in chunks(sorted(todo), _CHUNK):
            marks = ",".join("?" * len(chunk))
            forward = f"SELECT other FROM links JOIN events ON event = one WHERE id IN ({marks})"
            backward = f"SELECT id FROM links JOIN events ON event = one WHERE other IN ({marks})"
            found.update(row[0] for row in db.execute(f"{forward} UNION {backward}", [*chunk, *chunk]))
        todo = found - seen
        seen |= found
    return seen


def chunks(items: list[Any], size: int) -> Iterable[list[Any]]:
    """`items` in lists of at most `size`: a statement takes only so many parameters."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
