"""The memory at another time, on both axes.

`known_at` T: what the log said at T (events recorded later do not exist). `as_of` T: what held at T by today's
knowledge (an entry holds from `valid_from`, or from when it was recorded, until it was ended, superseded or ran out;
what was rejected since never held). Both fold events in memory: all of them, or only what the entries that are asked
for are linked with. They are questions of a person, not of a hook.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from backstory.index.folding import chunks, closure, value_hash, value_of
from backstory.records import operations as ops
from backstory.records.codec import BadLine, read_event
from backstory.records.event import Entry
from backstory.records.fold import Held, Seen, Standing, fold, tombstones
from backstory.records.times import format_instant, parse_instant

LIVE = ("active", "confirmed", "contested")
_CHUNK = 400


class Past(msgspec.Struct, frozen=True):
    """An entry as it stood at an instant."""

    entry: Entry
    standing: str
    state: Standing
    in_tree: bool


def known_at(db: sqlite3.Connection, instant: int, ids: Collection[str] | None = None) -> dict[str, Past]:
    """Of the entries `ids`, or of all: those that the log had at `instant`, with their standing by the log of then."""
    return _asked(_fold(db, format_instant(instant), instant, ids), ids)


def as_of(
    db: sqlite3.Connection, instant: int, known: int | None = None, ids: Collection[str] | None = None
) -> dict[str, Past]:
    """Of the entries `ids`, or of all: those that held at `instant`, by today's knowledge or by that of `known`."""
    today = _fold(db, format_instant(known) if known is not None else "", None, ids)
    starts = {id_: _start(item.entry) for id_, item in today.items()}
    held = {}
    for id_, item in today.items():
        ends = [end for end in (_end(item), *_successions(item, starts)) if end]
        if (
            starts[id_] <= instant
            and all(instant < end for end in ends)
            and item.standing not in ("rejected", "proposed")
        ):
            standing = item.standing if item.standing in LIVE else _stood(item)
            held[id_] = Past(item.entry, standing, item.state, item.in_tree)
    return _asked(held, ids)


def _asked(found: dict[str, Past], ids: Collection[str] | None) -> dict[str, Past]:
    return found if ids is None else {id_: found[id_] for id_ in ids if id_ in found}


def _stood(item: Past) -> str:
    return "confirmed" if item.entry.by.kind == "person" or item.state.confirmed_at else "active"


def _start(entry: Entry) -> int:
    return parse_instant(entry.valid_from or entry.at)


def _end(item: Past) -> int:
    if item.state.standing == "retired" and item.state.ended_at:
        return item.state.ended_at
    return parse_instant(item.entry.valid_until) if item.entry.valid_until else 0


def _successions(item: Past, starts: dict[str, int]) -> list[int]:
    """When what superseded it began to hold."""
    return [starts[id_] for id_ in item.state.superseded_by if id_ in starts]


def _rows(db: sqlite3.Connection, until: str, ids: Collection[str] | None) -> Iterator[tuple[Any, ...]]:
    """The events that are to be folded: with `ids` those of their groups, and every rejection."""
    condition = "SELECT id, target, in_tree, body FROM events WHERE event NOT IN (SELECT event FROM computed)"
    params: tuple[str, ...] = ()
    if until:
        condition, params = f"{condition} AND at <= ?", (until,)
    if ids is None:
        yield from db.execute(condition, params)
        return
    judged = "kind IN ('reject', 'lift')"
    yield from db.execute(f"{condition} AND {judged}", params)
    for chunk in chunks(sorted(closure(db, ids)), _CHUNK):
        marks = ",".join("?" * len(chunk))
        yield from db.execute(f"{condition} AND id IN ({marks})", (*params, *chunk))
        of_them = f"target IN ({marks}) AND target <> '' AND NOT {judged}"
        yield from db.execute(f"{condition} AND {of_them}", (*params, *chunk))


def _fold(db: sqlite3.Connection, until: str, now: int | None, ids: Collection[str] | None = None) -> dict[str, Past]:
    entries: dict[str, Held] = {}
    operations: dict[str, list[Seen]] = {}
    every: list[ops.Operation] = []
    for id_, target, in_tree, body in _rows(db, until, ids):
        try:
            event = read_event(body.encode("utf-8", "surrogatepass"))
        except BadLine:
            continue
        if isinstance(event, Entry):
            entries[id_] = Held(event, value_hash(value_of(event)), bool(in_tree))
        elif isinstance(event, ops.Operation):
            every.append(event)
            operations.setdefault(target, []).append(Seen(event, bool(in_tree)))
    found = {}
    for id_, state in fold(entries, operations, tombstones(every)).items():
        entry = entries[id_].entry
        standing = state.standing
        if now is not None and standing in LIVE and _out_of_time(entry, now):
            standing = "expired"
        found[id_] = Past(entry, standing, state, entries[id_].in_tree)
    return found


def _out_of_time(entry: Entry, now: int) -> bool:
    late = bool(entry.valid_until) and parse_instant(entry.valid_until) <= now
    return late or (bool(entry.valid_from) and parse_instant(entry.valid_from) > now)
